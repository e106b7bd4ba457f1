// Package document writes reports as plain text or as Markdown.
package document

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Writer collects a document. The zero value writes plain text for a terminal.
type Writer struct {
	strings.Builder
	Markdown bool
}

// Heading writes a heading after a blank line, of the third level in Markdown.
func (w *Writer) Heading(text string) {
	if w.Len() > 0 && !strings.HasSuffix(w.String(), "\n\n") {
		w.WriteString("\n")
	}
	if w.Markdown {
		text = "### " + text
	}
	w.WriteString(text + "\n\n")
}

// Line writes a formatted line.
func (w *Writer) Line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// Item writes an item of a list.
func (w *Writer) Item(format string, args ...any) {
	if w.Markdown {
		format = "- " + format
	}
	w.Line(format, args...)
}

// Table writes a header and rows of as many cells. The first column is aligned left,
// the others right.
func (w *Writer) Table(t [][]string) {
	if w.Markdown {
		t = escaped(t)
	}
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for j, c := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(c))
		}
	}
	for i, row := range t {
		cells := make([]string, len(row))
		for j, c := range row {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(c))
			if cells[j] = pad + c; j == 0 {
				cells[j] = c + pad
			}
		}
		if !w.Markdown {
			w.Line("%s", strings.TrimRight(strings.Join(cells, "   "), " "))
			continue
		}
		w.Line("| %s |", strings.Join(cells, " | "))
		if i == 0 {
			for j := range cells {
				if cells[j] = strings.Repeat("-", widths[j]+1) + ":"; j == 0 {
					cells[j] = strings.Repeat("-", widths[j]+2)
				}
			}
			w.Line("|%s|", strings.Join(cells, "|"))
		}
	}
}

// escaped returns a table whose cells do not end at a vertical bar in Markdown.
func escaped(t [][]string) [][]string {
	out := make([][]string, len(t))
	for i, row := range t {
		for _, cell := range row {
			out[i] = append(out[i], strings.ReplaceAll(cell, "|", `\|`))
		}
	}
	return out
}
