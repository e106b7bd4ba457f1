package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/study/studyfile"
)

type validateCmd struct {
	File string `arg:"" placeholder:"FILE" help:"The study file: FILE.yaml, FILE.yml or FILE.json."`
	JSON bool   `group:"result" name:"json" help:"Print one JSON object with the definition or the faults."`
}

func (validateCmd) Help() string {
	return `Reads a study file, or a file with parameters only, and reports every fault with its line and column, one per line. Nothing is run and no store is opened. The exit code is 2 if there are faults. A hint names a valid setting that may be a mistake.

Example:

    bo validate study.yaml`
}

// errPrinted ends a command that has printed its faults.
var errPrinted = usageError{errors.New("the faults are printed")}

// validation is the object of bo validate --json.
type validation struct {
	File       string            `json:"file"`
	Valid      bool              `json:"valid"`
	Definition *study.Definition `json:"definition,omitempty"`
	Hints      []string          `json:"hints,omitempty"`
	Notes      []string          `json:"notes,omitempty"`
	Faults     []faultJSON       `json:"faults,omitempty"`
}

type faultJSON struct {
	*studyfile.Fault
	Message string `json:"message"`
}

func (c *validateCmd) Run(e *env) error {
	d, notes, err := readStudy(c.File)
	wrong, ok := errors.AsType[*studyfile.Error](err)
	if err != nil && !ok {
		return err
	}
	if c.JSON {
		out := validation{File: c.File, Valid: err == nil, Definition: d}
		if !out.Valid {
			for _, f := range wrong.Faults {
				out.Faults = append(out.Faults, faultJSON{f, f.Err.Error()})
			}
			err = errPrinted
		} else {
			out.Hints, out.Notes = d.Hints(), notes
		}
		return errors.Join(printJSON(e.stdout, out), err)
	}
	if err == nil {
		e.printNotes(notes)
		e.printHints(d)
		_, err := fmt.Fprintf(e.stdout, "%s: valid: %s\n", c.File, summary(d))
		return err
	}
	for _, f := range wrong.Faults {
		fmt.Fprintf(e.stderr, "%s: %s\n", c.File, oneLine(f.Error()))
	}
	return errPrinted
}

// printNotes prints the notes of readStudy.
func (e *env) printNotes(notes []string) {
	for _, note := range notes {
		fmt.Fprintf(e.stderr, "bo: %s\n", note)
	}
}

// printHints prints the hints of a definition that was not stored before.
func (e *env) printHints(d *study.Definition) {
	for _, hint := range d.Hints() {
		fmt.Fprintf(e.stderr, "bo: hint: %s\n", hint)
	}
}

// summary describes the size and the method of a valid study.
func summary(d *study.Definition) string {
	parts := []string{count(len(d.Parameters), "parameter")}
	fixed := 0
	for _, p := range d.Parameters {
		if p.Kind == space.KindFixed {
			fixed++
		}
	}
	if fixed > 0 {
		parts[0] += fmt.Sprintf(" (%d fixed)", fixed)
	}
	for _, o := range d.Goals() {
		parts = append(parts, o.Goal+" "+o.Name)
	}
	parts = append(parts, fmt.Sprintf("budget %d", cmp.Or(d.Budget, loop.DefaultBudget)))
	if d.Workers > 1 {
		parts = append(parts, fmt.Sprintf("%d workers", d.Workers))
	}
	if d.Batch > 0 {
		parts = append(parts, fmt.Sprintf("batches of %d", d.Batch))
	}
	if d.Surrogate.Name != "" {
		parts = append(parts, "surrogate "+d.Surrogate.Name)
	}
	switch {
	case d.Builtin != "":
		parts = append(parts, "builtin "+d.Builtin)
	case d.Command == "":
		parts = append(parts, "no command")
	}
	return strings.Join(parts, ", ")
}

// count writes a number with its noun.
func count(n int, what string) string {
	return fmt.Sprintf("%d %s", n, agree(n, what, what+"s"))
}

// agree returns one if n is 1, else more.
func agree(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
