// Package table reads CSV files with a header. Errors name file, row, line and
// column.
package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/didyoumean"
)

// Table is a CSV file with a header and at least one row. Every row has as many
// cells as the header.
type Table struct {
	Name   string // name of the file, for messages
	Header []string
	Rows   [][]string // trimmed text of the cells
	Limit  float64    // largest magnitude that Number accepts; 0 for every finite number

	lines []int // line of the file on which each row begins
}

// Read reads a table; name stands in messages. It skips a byte order mark, blank
// lines and rows of empty cells.
func Read(name string, r io.Reader) (*Table, error) {
	buffered := bufio.NewReader(r)
	if start, _ := buffered.Peek(3); string(start) == "\ufeff" {
		_, _ = buffered.Discard(3)
	} else if isUTF16(start) {
		return nil, fmt.Errorf("%s: the file is encoded in UTF-16, want UTF-8", name)
	}
	if start, _ := buffered.Peek(buffered.Size()); oldMac(start) {
		return nil, fmt.Errorf("%s: the lines end in CR alone, want LF or CR LF: save the file as CSV UTF-8", name)
	}
	cr := csv.NewReader(buffered)
	cr.FieldsPerRecord = -1
	t := &Table{Name: name}
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
		if err := t.add(record, line); err != nil {
			return nil, err
		}
	}
	switch {
	case t.Header == nil:
		return nil, fmt.Errorf("%s: the file is empty", name)
	case len(t.Rows) == 0:
		return nil, fmt.Errorf("%s: no rows below the header", name)
	}
	return t, nil
}

// isUTF16 reports whether a text starts with a UTF-16 byte order mark or with a
// character of two bytes, one of them 0.
func isUTF16(start []byte) bool {
	return len(start) >= 2 && (start[0] == 0xff && start[1] == 0xfe || start[0] == 0xfe && start[1] == 0xff || (start[0] == 0) != (start[1] == 0))
}

// oldMac reports whether the lines of a text end in CR alone.
func oldMac(start []byte) bool {
	cr := bytes.IndexByte(start, '\r')
	return cr >= 0 && cr < len(start)-1 && bytes.IndexByte(start, '\n') < 0
}

// separators are the names of other separators than commas.
var separators = map[string]string{";": "semicolons", "\t": "tabs", "": "tabs"}

// separator reports whether a record is a first line such as "sep=,", which spreadsheets read.
func (t *Table) separator(record []string) (bool, error) {
	other, ok := strings.CutPrefix(record[0], "sep=")
	if t.Header != nil || !ok {
		return false, nil
	}
	if len(record) == 2 && other == "" && record[1] == "" {
		return true, nil
	}
	if name := separators[other]; name != "" && len(record) == 1 {
		return true, fmt.Errorf("%s: line 1: the cells are separated by %s, want commas (and decimal points in numbers)", t.Name, name)
	}
	return false, nil
}

// add appends the record that begins on a line.
func (t *Table) add(record []string, line int) error {
	if ok, err := t.separator(record); ok {
		return err
	}
	switch {
	case len(record) == 1 && record[0] == "" && len(t.Header) != 1:
	case t.Header == nil:
		t.Header = record
		return t.checkHeader()
	case len(record) != len(t.Header):
		return fmt.Errorf("%s: row %d (line %d): %d cells, the header has %d", t.Name, len(t.Rows)+1, line, len(record), len(t.Header))
	case slices.IndexFunc(record, func(cell string) bool { return cell != "" }) < 0:
		// A row of commas only, which spreadsheets write at the end.
	default:
		t.Rows = append(t.Rows, record)
		t.lines = append(t.lines, line)
	}
	return nil
}

func (t *Table) checkHeader() error {
	if len(t.Header) == 1 {
		for separator, name := range map[string]string{";": "semicolons", "\t": "tabs"} {
			if strings.Contains(t.Header[0], separator) {
				return fmt.Errorf("%s: the cells are separated by %s, want commas (and decimal points in numbers)", t.Name, name)
			}
		}
	}
	for i, h := range t.Header {
		if h == "" {
			return fmt.Errorf("%s: column %d has no name", t.Name, i+1)
		}
		if slices.Index(t.Header, h) < i {
			return fmt.Errorf("%s: two columns are named %q", t.Name, h)
		}
	}
	return nil
}

// Column returns the index of a column by name.
func (t *Table) Column(name string) (int, error) {
	if j := slices.Index(t.Header, name); j >= 0 {
		return j, nil
	}
	return 0, fmt.Errorf("%s: no column %q%s", t.Name, name, didyoumean.Hint(name, t.Header))
}

// Cell names the place of row i of column j in a message.
func (t *Table) Cell(i, j int) string {
	return fmt.Sprintf("%s: row %d (line %d), column %q", t.Name, i+1, t.lines[i], t.Header[j])
}

// Row names the place of row i in a message.
func (t *Table) Row(i int) string {
	return fmt.Sprintf("%s: row %d (line %d)", t.Name, i+1, t.lines[i])
}

// Number returns the finite number in row i of column j.
func (t *Table) Number(i, j int) (float64, error) {
	cell := t.Rows[i][j]
	x, err := strconv.ParseFloat(cell, 64)
	switch {
	case cell == "":
		return 0, fmt.Errorf("%s: the cell is empty", t.Cell(i, j))
	case err != nil && !math.IsInf(x, 0):
		return 0, fmt.Errorf("%s: %s is not a number", t.Cell(i, j), Quote(cell))
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0, fmt.Errorf("%s: %s is not a finite number", t.Cell(i, j), cell)
	case t.Limit > 0 && math.Abs(x) > t.Limit:
		return 0, fmt.Errorf("%s: the magnitude of %s exceeds %g", t.Cell(i, j), cell, t.Limit)
	}
	return x, nil
}

// Numbers returns the columns of the given names as a matrix with a row for each
// row of the table.
func (t *Table) Numbers(names ...string) (*mat.Dense, error) {
	columns := make([]int, len(names))
	for k, name := range names {
		var err error
		if columns[k], err = t.Column(name); err != nil {
			return nil, err
		}
	}
	x := mat.NewDense(len(t.Rows), len(names), nil)
	for i := range t.Rows {
		row := x.RawRowView(i)
		for k, j := range columns {
			var err error
			if row[k], err = t.Number(i, j); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// Quote quotes a text for a message and cuts it if it is long.
func Quote(text string) string {
	const longest = 40
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest-1]) + "…"
	}
	return strconv.Quote(text)
}
