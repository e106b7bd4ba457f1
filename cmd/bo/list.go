package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/catalog"
	"github.com/functionspace/bo/prior"
)

type listCmd struct {
	What string `arg:"" enum:"objectives,surrogates,acquisitions,kernels" help:"objectives, surrogates, acquisitions or kernels."`
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
	return columns(e.stdout, func(row func(cells ...any)) {
		for _, e := range entries {
			row(e.Name, e.Summary)
		}
	})
}

func listObjectives(w io.Writer) error {
	return columns(w, func(row func(cells ...any)) {
		for _, name := range benchmarks.Names() {
			o, err := benchmarks.Lookup(name)
			if err != nil {
				panic(err)
			}
			inputs := fmt.Sprintf("%d inputs", o.Dim())
			if _, err := benchmarks.Lookup(name + "7"); err == nil { // a family of any dimension
				name, inputs = name+"N", "N inputs"
			}
			row(name, inputs, o.Summary)
		}
	})
}

// columns writes rows of cells, aligned.
func columns(w io.Writer, rows func(row func(cells ...any))) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	rows(func(cells ...any) {
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(tw, "\t")
			}
			fmt.Fprint(tw, c)
		}
		fmt.Fprintln(tw)
	})
	return tw.Flush()
}
