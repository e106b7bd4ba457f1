// Package studyfile reads study definitions and search spaces from YAML and JSON files. A
// study file has the keys of the JSON form of package study:
//
//	name: resnet-lr
//	parameters:
//	  - {name: lr, type: float, min: 1e-5, max: 0.1, log: true}
//	  - {name: opt, type: categorical, values: [adam, sgd]}
//	objectives: [{name: loss, goal: minimize}]
//	command: python train.py --lr {lr} --opt {opt}
//	budget: 60
//
// Only parameters are required, so a file with a search space is a study file. A check of the
// caller may supply the parameters of a built-in objective.
package studyfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/study/studyfile/internal/document"
)

// Fault is a fault of a study file. Its Line and Column count from 1; they are 0 if they
// are not known.
type Fault = document.Fault

// Error lists the faults of a study file in the order of their places. It wraps
// study.ErrInvalid.
type Error struct {
	Path   string
	Faults []*Fault
}

// Error returns one line that begins with the path.
func (e *Error) Error() string {
	text := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		text[i] = f.Error()
	}
	return fmt.Sprintf("%s: %v: %s", e.Path, study.ErrInvalid, strings.Join(text, "; "))
}

// Unwrap returns study.ErrInvalid and the faults.
func (e *Error) Unwrap() []error {
	all := []error{study.ErrInvalid}
	for _, f := range e.Faults {
		all = append(all, f)
	}
	return all
}

// Read returns the definition in a file whose name ends in .json, .yaml or .yml. It is as
// strict as study.Parse, with the same checks, and reports every fault with its line and
// column in an *Error. Other errors, such as a file that does not exist, begin with the path.
//
// YAML anchors, aliases and merge keys are allowed. A file has at most 1 MiB, and a YAML
// file at most 10 000 keys and values with all aliases expanded.
func Read(path string, checks ...study.Check) (*study.Definition, error) {
	doc, err := document.Read(path)
	if fault, ok := errors.AsType[*Fault](err); ok {
		return nil, &Error{path, []*Fault{fault}}
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d, err := study.Parse(doc.JSON, checks...)
	if err == nil {
		return d, nil
	}
	list, ok := errors.AsType[space.Faults](err)
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := &Error{Path: path}
	for _, err := range list {
		var at []any
		if f, ok := errors.AsType[*study.Fault](err); ok {
			at = f.Path
		}
		out.Faults = append(out.Faults, doc.At(err, at...))
	}
	document.Sort(out.Faults)
	return nil, out
}
