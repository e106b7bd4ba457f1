package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/loop"
)

// A table is a CSV file with a header, cells still text.
type table struct {
	name   string // of the file, for messages
	header []string
	rows   [][]string
	lines  []int // of the file, where each row begins
}

// openTable reads the file at path, or stdin for "-". Every row has as many
// cells as the header; blank lines do not count.
func openTable(path string, stdin io.Reader) (*table, error) {
	if path == "-" {
		return readTable("stdin", stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readTable(path, f)
}

func readTable(name string, r io.Reader) (*table, error) {
	buffered := bufio.NewReader(r)
	if bom, _ := buffered.Peek(3); string(bom) == "\ufeff" {
		_, _ = buffered.Discard(3)
	}
	cr := csv.NewReader(buffered)
	cr.FieldsPerRecord = -1
	t := &table{name: name}
	for {
		record, err := cr.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var e *csv.ParseError
			if errors.As(err, &e) {
				return nil, fmt.Errorf("%s: line %d, character %d: %w", name, e.Line, e.Column, e.Err)
			}
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		line, _ := cr.FieldPos(0)
		switch {
		case len(record) == 1 && record[0] == "" && len(t.header) != 1:
		case t.header == nil:
			t.header = record
		case len(record) != len(t.header):
			return nil, fmt.Errorf("%s: row %d (line %d): %d cells, the header has %d", name, len(t.rows)+1, line, len(record), len(t.header))
		case slices.IndexFunc(record, func(cell string) bool { return cell != "" }) < 0:
			// A row of commas only, as spreadsheets leave at the end.
		default:
			t.rows = append(t.rows, record)
			t.lines = append(t.lines, line)
		}
	}
	return t, t.check()
}

func (t *table) check() error {
	if t.header == nil {
		return fmt.Errorf("%s: the file is empty", t.name)
	}
	if len(t.header) == 1 && strings.ContainsAny(t.header[0], ";\t") {
		return fmt.Errorf("%s: the header %s is one cell: cells end at commas", t.name, brief(t.header[0]))
	}
	for i, h := range t.header {
		if h == "" {
			return fmt.Errorf("%s: column %d has no name", t.name, i+1)
		}
		if slices.Index(t.header, h) < i {
			return fmt.Errorf("%s: two columns are named %q", t.name, h)
		}
	}
	if len(t.rows) == 0 {
		return fmt.Errorf("%s: no rows below the header", t.name)
	}
	return nil
}

// column returns the place of a column by name.
func (t *table) column(name string) (int, error) {
	if j := slices.Index(t.header, name); j >= 0 {
		return j, nil
	}
	return 0, fmt.Errorf("%s: no column %q: did you mean %q?", t.name, name, didyoumean.Name(name, t.header))
}

// number reads the cell in row i of column j.
func (t *table) number(i, j int) (float64, error) {
	cell := t.rows[i][j]
	x, err := strconv.ParseFloat(cell, 64)
	where := fmt.Sprintf("%s: row %d (line %d), column %q", t.name, i+1, t.lines[i], t.header[j])
	switch {
	case cell == "":
		return 0, fmt.Errorf("%s: the cell is empty", where)
	case err != nil && !math.IsInf(x, 0):
		return 0, fmt.Errorf("%s: %s is not a number", where, brief(cell))
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0, fmt.Errorf("%s: %s is not a finite number", where, cell)
	case math.Abs(x) > loop.MaxValue:
		return 0, fmt.Errorf("%s: %s is beyond %g", where, cell, loop.MaxValue)
	}
	return x, nil
}

// numbers reads the columns of the given names, a row of the result each row.
func (t *table) numbers(names []string) (*mat.Dense, error) {
	columns := make([]int, len(names))
	for k, name := range names {
		var err error
		if columns[k], err = t.column(name); err != nil {
			return nil, err
		}
	}
	x := mat.NewDense(len(t.rows), len(names), nil)
	for i := range t.rows {
		row := x.RawRowView(i)
		for k, j := range columns {
			var err error
			if row[k], err = t.number(i, j); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// targets reads one column.
func (t *table) targets(name string) ([]float64, error) {
	x, err := t.numbers([]string{name})
	if err != nil {
		return nil, err
	}
	return x.RawMatrix().Data, nil
}
