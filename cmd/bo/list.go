package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/prior"
)

type listCmd struct {
	What string `arg:"" enum:"objectives,surrogates,acquisitions,kernels" help:"One of objectives, surrogates, acquisitions or kernels."`
}

func (c listCmd) Run(e *env) error {
	var entries []catalog.Entry
	switch c.What {
	case "objectives":
		return listObjectives(e.stdout)
	case "surrogates":
		entries = catalog.Surrogates()
	case "acquisitions":
		entries = catalog.Acquisitions()
	case "kernels":
		for _, name := range prior.Names() {
			formula, _, err := prior.Describe(name)
			if err != nil {
				return err
			}
			entries = append(entries, catalog.Entry{Name: name, Summary: formula})
		}
	}
	return columns(e.stdout, func(row func(cells ...string)) {
		for _, e := range entries {
			row(e.Name, e.Summary)
		}
	})
}

func listObjectives(w io.Writer) error {
	return columns(w, func(row func(cells ...string)) {
		for _, name := range benchmarks.Names() {
			o, err := benchmarks.Lookup(name)
			if err != nil {
				panic(err)
			}
			inputs, form := fmt.Sprintf("%d inputs", o.Dim()), benchmarks.Form(name, "N")
			if form != name {
				inputs = "N inputs"
			}
			row(form, inputs, o.Summary)
		}
	})
}

// tableWidth is the width in runes at which the last column of a table is wrapped.
const tableWidth = 80

// columns writes rows of cells, aligned, the last cell wrapped.
func columns(w io.Writer, rows func(row func(cells ...string))) error {
	var all [][]string
	var widths []int
	rows(func(cells ...string) {
		all = append(all, cells)
		for i, c := range cells[:len(cells)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c)+3)
		}
	})
	var b strings.Builder
	for _, cells := range all {
		used := 0
		last := len(cells) - 1
		for i, c := range cells[:last] {
			fmt.Fprintf(&b, "%-*s", widths[i], c)
			used += widths[i]
		}
		for i, line := range wrap(cells[last], tableWidth-used) {
			if i > 0 {
				fmt.Fprintf(&b, "%*s", used, "")
			}
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap cuts text at blanks into lines of at most width runes, longer words aside.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		line := &lines[len(lines)-1]
		switch {
		case *line == "":
			*line = word
		case utf8.RuneCountInString(*line)+1+utf8.RuneCountInString(word) <= width:
			*line += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
