// Package table reads and writes CSV files with a header. Errors name file, row, line and
// column.
package table

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	Dialect

	lines []int // line of the file on which each row begins
}

// Read reads a table in UTF-8; name stands in messages. It skips a byte order mark, blank
// lines and rows of empty cells. The cells are separated by commas, or by the semicolons or tabs of the first line,
// as separator selects. Then numbers may have a decimal comma. Semicolons without any decimal point or comma count as
// the dialect Semicolons. The last columns may be missing in a row if they are optional, and are then empty: Excel leaves
// out the separators of last columns that are empty in 16 rows.
func Read(name string, r io.Reader, optional ...string) (*Table, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if start, _ := buffered.Peek(len(mark)); string(start) == mark {
		_, _ = buffered.Discard(len(mark))
	} else if isUTF16(start) {
		return nil, fmt.Errorf("%s: the file is encoded in UTF-16, want UTF-8: save the file as CSV UTF-8", name)
	}
	start, _ := buffered.Peek(buffered.Size())
	if isWorkbook(start) {
		return nil, fmt.Errorf("%s: the file is a workbook of a spreadsheet program, want a table as text: save the file as CSV UTF-8", name)
	}
	if oldMac(start) {
		return nil, fmt.Errorf("%s: the lines end in CR alone, want LF or CR LF: save the file as CSV UTF-8", name)
	}
	cr := csv.NewReader(buffered)
	cr.FieldsPerRecord = -1
	cr.Comma = separator(start)
	t := &Table{Name: name}
	required := 0 // number of cells of a row
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
		line, _ := cr.FieldPos(0)
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
			if !utf8.ValidString(record[i]) { // a name in another encoding would be another column
				return nil, fmt.Errorf("%s: line %d: %s is not in UTF-8: save the file as CSV UTF-8", name, line, Quote(record[i]))
			}
		}
		for t.Header != nil && len(record) >= required && len(record) < len(t.Header) {
			record = append(record, "")
		}
		if err := t.add(record, line); err != nil {
			return nil, err
		}
		for required = len(t.Header); required > 1 && slices.Contains(optional, t.Header[required-1]); required-- {
		}
	}
	switch {
	case t.Header == nil:
		return nil, fmt.Errorf("%s: the file is empty", name)
	case len(t.Rows) == 0:
		return nil, fmt.Errorf("%s: no rows below the header", name)
	}
	if t.oneCell() {
		return nil, fmt.Errorf("%s: every line is one cell in quotes, with separators inside: a spreadsheet opened the table with another separator; bo trials and bo study export write semicolons with --format csv-semicolons", name)
	}
	t.Dialect = Dialect{cr.Comma, cr.Comma != ',' && t.any(hasDecimalComma) || cr.Comma == ';' && !t.any(hasDecimalPoint)}
	return t, nil
}

// separator returns the separator of the cells of a text. A first line such as "sep=;" states it. Otherwise it is a comma,
// semicolon or tab of the first line. The rules are, in this order:
//
//   - All lines have it as often, outside quotes. A name such as "T, °C" may have another one. Of several it is the one
//     that the first line has most often. It is not the comma if others are as frequent, because all rows may have
//     decimal commas.
//   - If none or only the comma is left, rows may lack their last cells. Then it is the one that the rows have most
//     often, if no row has it more often than the first line.
//   - It is the first one of the line.
func separator(text []byte) rune {
	text = bytes.TrimLeft(text, "\r\n")
	if other, ok := bytes.CutPrefix(text, []byte("sep=")); ok && len(other) > 0 {
		if other[0] == ';' || other[0] == '\t' {
			return rune(other[0])
		}
		return ','
	}
	header, rest := cutLine(text)
	var found []byte
	for _, c := range []byte("\t;,") {
		if bytes.IndexByte(header, c) >= 0 {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return oneColumn(rest)
	}
	count := func(line []byte, c byte) int { return bytes.Count(line, []byte{c}) }
	short, total := slices.Clone(found), map[byte]int{} // separators that no row has more often than the header; number in the rows
	var row []byte
	for len(rest) > 0 {
		if row, rest = cutLine(rest); rest == nil || len(bytes.TrimSpace(row)) == 0 { // the last line may be a part
			continue
		}
		found = slices.DeleteFunc(found, func(c byte) bool { return count(row, c) != count(header, c) })
		short = slices.DeleteFunc(short, func(c byte) bool { return count(row, c) > count(header, c) })
		for _, c := range short {
			total[c] += count(row, c)
		}
	}
	short = slices.DeleteFunc(short, func(c byte) bool { return total[c] == 0 })
	switch {
	case len(short) > 0 && (len(found) == 0 || found[0] == ','): // the comma alone may be the decimal comma of each row
		return rune(slices.MaxFunc(short, func(a, b byte) int { return cmp.Compare(total[a], total[b]) }))
	case len(found) == 0:
		return rune(header[bytes.IndexAny(header, "\t;,")])
	}
	return rune(slices.MaxFunc(found, func(a, b byte) int { return cmp.Compare(count(header, a), count(header, b)) }))
}

// oneColumn returns the separator below a header of one cell: a semicolon if all commas are in numbers such as 0,25.
func oneColumn(rows []byte) rune {
	separator := ','
	for line := range bytes.Lines(rows) {
		switch cell := string(bytes.Trim(line, "\" \t\r\n")); {
		case hasDecimalComma(cell):
			separator = ';'
		case strings.Contains(cell, ","):
			return ','
		}
	}
	return separator
}

// cutLine returns the first line of a text without the parts in quotes, and the text after it.
func cutLine(text []byte) (line, rest []byte) {
	quoted := false
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			return line, text[i+1:]
		default:
			line = append(line, c)
		}
	}
	return line, nil
}

// decimal matches a number with a decimal comma or point.
var decimal = regexp.MustCompile(`^[+-]?[0-9]*[,.][0-9]+([eE][+-]?[0-9]+)?$`)

// hasDecimalComma reports whether a cell is a number with a decimal comma.
func hasDecimalComma(cell string) bool {
	return strings.Contains(cell, ",") && decimal.MatchString(cell)
}

// hasDecimalPoint reports whether a cell is a number with a decimal point.
func hasDecimalPoint(cell string) bool {
	return strings.Contains(cell, ".") && decimal.MatchString(cell)
}

// any reports whether a cell has a property.
func (t *Table) any(property func(cell string) bool) bool {
	return slices.ContainsFunc(t.Rows, func(row []string) bool { return slices.ContainsFunc(row, property) })
}

// Decimal returns the text in row i of column j, with a decimal point if it is a number with a decimal comma.
func (t *Table) Decimal(i, j int) string {
	cell := t.Rows[i][j]
	if t.DecimalComma && hasDecimalComma(cell) {
		return strings.Replace(cell, ",", ".", 1)
	}
	return cell
}

// CheckDecimal returns an error if the number in row i of column j has a decimal point and others a decimal comma: the
// point may separate thousands, as in 1.234.
func (t *Table) CheckDecimal(i, j int) error {
	if cell := t.Rows[i][j]; t.DecimalComma && hasDecimalPoint(cell) {
		return fmt.Errorf("%s: %s has a point, and other numbers have a decimal comma: write %s or %s", t.Cell(i, j), cell, strings.Replace(cell, ".", ",", 1), strings.Replace(cell, ".", "", 1))
	}
	return nil
}

// isUTF16 reports whether a text starts with a UTF-16 byte order mark or with a
// character of two bytes, one of them 0.
func isUTF16(start []byte) bool {
	return len(start) >= 2 && (start[0] == 0xff && start[1] == 0xfe || start[0] == 0xfe && start[1] == 0xff || (start[0] == 0) != (start[1] == 0))
}

// isWorkbook reports whether a file begins as an archive, as .xlsx and .ods do, or as an .xls file.
func isWorkbook(start []byte) bool {
	return bytes.HasPrefix(start, []byte("PK\x03\x04")) || bytes.HasPrefix(start, []byte("\xd0\xcf\x11\xe0"))
}

// oldMac reports whether the lines of a text end in CR alone.
func oldMac(start []byte) bool {
	cr := bytes.IndexByte(start, '\r')
	return cr >= 0 && cr < len(start)-1 && bytes.IndexByte(start, '\n') < 0
}

// separated reports whether a record is a first line such as "sep=;", which spreadsheets read.
func (t *Table) separated(record []string) bool {
	return t.Header == nil && len(record) <= 2 && record[0] == "sep=" && (len(record) == 1 || record[1] == "")
}

// add appends the record that begins on a line.
func (t *Table) add(record []string, line int) error {
	for n := len(record); n > max(1, len(t.Header)) && record[n-1] == ""; n-- { // empty columns at the end, which spreadsheets write
		record = record[:n-1]
	}
	switch {
	case t.separated(record):
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

// oneCell reports whether the header and all rows are one cell of three or more parts.
func (t *Table) oneCell() bool {
	return len(t.Header) == 1 && slices.ContainsFunc([]string{",", ";", "\t"}, func(separator string) bool {
		n := strings.Count(t.Header[0], separator)
		return n > 1 && !slices.ContainsFunc(t.Rows, func(row []string) bool { return strings.Count(row[0], separator) < n })
	})
}

func (t *Table) checkHeader() error {
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
	x, err := strconv.ParseFloat(t.Decimal(i, j), 64)
	switch {
	case cell == "":
		return 0, fmt.Errorf("%s: the cell is empty", t.Cell(i, j))
	case t.CheckDecimal(i, j) != nil:
		return 0, t.CheckDecimal(i, j)
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
