package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/study/studyfile"
)

type describeCmd struct {
	What string `arg:"" enum:"surrogate,acquisition,objective,kernel" help:"One of surrogate, acquisition, objective or kernel."`
	Name string `arg:"" complete:"described" help:"Name from bo list. A kernel may be an expression."`

	Space string `placeholder:"FILE" help:"Study file with the parameters that a kernel may name."`
}

func (describeCmd) Help() string {
	return `Examples:

    bo describe surrogate gp
    bo describe acquisition lcb
    bo describe objective branin
    bo describe kernel 'rbf*periodic+linear'
    bo describe kernel 'periodic[hour](period=24) + linear[year]' --space study.yaml`
}

func (c describeCmd) Run(e *env) error {
	switch c.What {
	case "surrogate":
		m, err := newMethod(c.Name, nil, nil)
		if err != nil {
			return err
		}
		return describeSettings(e.stdout, c.Name, catalog.Surrogates(), m.Settings())
	case "acquisition":
		m, err := newMethod(catalog.Surrogates()[0].Name, &c.Name, nil)
		if err != nil {
			return err
		}
		list := slices.DeleteFunc(m.Settings(), func(s catalog.Setting) bool { return !strings.Contains(s.Key, ".") })
		return describeSettings(e.stdout, c.Name, catalog.Acquisitions(), list)
	case "objective":
		o, err := benchmarks.Lookup(c.Name)
		if err != nil {
			return usageError{err}
		}
		return describeObjective(e.stdout, o)
	}
	if c.Space != "" {
		return describeNamed(e.stdout, c.Name, c.Space)
	}
	return describeKernel(e.stdout, c.Name)
}

func describeSettings(w io.Writer, name string, entries []catalog.Entry, list []catalog.Setting) error {
	i := slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.Name == name })
	fmt.Fprintf(w, "%s\n\n", strings.Join(wrap(name+": "+entries[i].Summary, tableWidth), "\n"))
	return columns(w, func(row func(cells ...string)) {
		row("SETTING", "DEFAULT", "MEANING [VALUES]")
		for _, s := range list {
			row(s.Key, s.Default, fmt.Sprintf("%s [%s]", s.Help, accepted(s)))
		}
	})
}

// accepted returns the values of a setting in words.
func accepted(s catalog.Setting) string {
	switch {
	case s.Values != nil:
		return strings.Join(s.Values, ", ")
	case s.Range != "":
		return s.Type + ", " + s.Range
	}
	return s.Type
}

func describeObjective(w io.Writer, o benchmarks.Objective) error {
	fmt.Fprintf(w, "%s: %s\n\n", o.Name, o.Summary)
	return columns(w, func(row func(cells ...string)) {
		for _, p := range o.Space.Parameters() {
			row(p.Name, fmt.Sprintf("%s from %g to %g", p.Kind, p.Min, p.Max))
		}
		if o.Outcomes != nil {
			describeOutcomes(row, o.Outcomes)
			return
		}
		if math.IsNaN(o.Minimum) {
			row("minimum", "not known")
			return
		}
		row("minimum", short(o.Minimum))
		for _, x := range o.Minimizers {
			var parts []string
			for _, v := range x {
				parts = append(parts, short(v))
			}
			row("at", strings.Join(parts, ", "))
		}
	})
}

// describeOutcomes writes the objectives and requirements of a problem of several.
func describeOutcomes(row func(cells ...string), o *benchmarks.Outcomes) {
	for j, name := range o.Names() {
		if m := len(o.Reference); j < m {
			row(name, "objective to minimize, reference "+short(o.Reference[j]))
		} else {
			row(name, "at most "+short(o.Bounds[j-m]))
		}
	}
	row("hypervolume", short(o.Hypervolume)+" at most")
}

// describeKernel shows an expression as a kernel of two inputs, or of three if it
// takes so many.
func describeKernel(w io.Writer, expr string) error {
	dim := 2
	k, err := prior.Parse(expr, dim)
	if err != nil {
		dim = 3
		var failed error
		if k, failed = prior.Parse(expr, dim); failed != nil {
			return usageError{err}
		}
	}
	if formula, arguments, err := prior.Describe(expr); err == nil {
		fmt.Fprintf(w, "%s: %s\n", expr, formula)
		if len(arguments) > 0 {
			fmt.Fprintf(w, "arguments, as in %s(%s=…): %s\n", expr, arguments[0], strings.Join(arguments, ", "))
		}
	} else {
		fmt.Fprintf(w, "%s\n", k)
	}
	fmt.Fprintf(w, "\nHyperparameters for %d inputs in the unit cube:\n\n", dim)
	return describeParams(w, k)
}

// describeNamed shows an expression as a kernel of the parameters in a file.
func describeNamed(w io.Writer, expr, path string) error {
	d, err := studyfile.Read(path)
	if err != nil {
		return usageError{err}
	}
	s, err := d.Space()
	if err != nil {
		return usageError{err}
	}
	k, err := prior.ParseNamed(expr, s.Dim(), loop.Inputs(s))
	if err != nil {
		return usageError{err}
	}
	fmt.Fprintf(w, "%s\n\nHyperparameters, with the units of named parameters and in the unit cube for others:\n\n", k)
	return describeParams(w, k)
}

func describeParams(w io.Writer, k prior.Kernel) error {
	return columns(w, func(row func(cells ...string)) {
		row("NAME", "START", "RANGE", "PRIOR")
		for _, p := range k.Params() {
			if p.Fixed {
				row(p.Name, short(p.Value), "fixed", "")
				continue
			}
			row(p.Name, short(p.Value), fmt.Sprintf("%s to %s", short(p.Lo), short(p.Hi)), describePrior(p.Prior))
		}
	})
}

func describePrior(d prior.Density) string {
	switch d := d.(type) {
	case nil:
		return "flat in the logarithm"
	case prior.LogNormal:
		return fmt.Sprintf("LogNormal(%.3g, %.3g)", d.Mu, d.Sigma)
	}
	return fmt.Sprintf("%T", d)
}
