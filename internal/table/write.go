package table

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Dialect is the form of a table as text.
type Dialect struct {
	Separator    rune // of the cells
	DecimalComma bool
}

// The dialects in which spreadsheets open a table by double click: with English settings, and with the settings of
// languages with decimal commas, such as German and French.
var (
	Commas     = Dialect{Separator: ','}
	Semicolons = Dialect{Separator: ';', DecimalComma: true}
)

// Number writes x so that it reads back exactly. With decimal commas it writes an exponent only outside [1e-15, 1e15):
// spreadsheets show and save 1,2345e-07 with two decimals, and 0,00000012345 with all.
func (d Dialect) Number(x float64) string {
	if !d.DecimalComma {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	format := byte('g')
	if a := math.Abs(x); a >= 1e-15 && a < 1e15 {
		format = 'f'
	}
	return strings.Replace(strconv.FormatFloat(x, format, -1, 64), ".", ",", 1)
}

// Write writes a table of a dialect in UTF-8. A table with characters other than ASCII begins with a byte order mark:
// without it Excel reads another encoding, and "°" becomes "Â°". Other tables have none, because many programs take the
// mark for a part of the first name.
func Write(w io.Writer, d Dialect, records func(*csv.Writer) error) error {
	var b bytes.Buffer
	cw := csv.NewWriter(&b)
	cw.Comma = d.Separator
	if err := records(cw); err != nil {
		return err
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return err
	}
	if slices.ContainsFunc(b.Bytes(), func(c byte) bool { return c >= utf8.RuneSelf }) {
		if _, err := io.WriteString(w, mark); err != nil {
			return err
		}
	}
	_, err := b.WriteTo(w)
	return err
}

// mark is the byte order mark of UTF-8.
const mark = "\ufeff"

// Records returns the cells of a text that Write wrote in the dialect Commas.
func Records(text []byte) ([][]string, error) {
	return csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte(mark)))).ReadAll()
}
