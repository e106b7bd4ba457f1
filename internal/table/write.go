package table

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"unicode/utf8"
)

// Write writes a table in UTF-8. A table with characters other than ASCII begins with a byte order mark: without it
// Excel reads another encoding, and "°" becomes "Â°". Other tables have none, because many programs take the mark
// for a part of the first name.
func Write(w io.Writer, records func(*csv.Writer) error) error {
	var b bytes.Buffer
	cw := csv.NewWriter(&b)
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
