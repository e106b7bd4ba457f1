package studyfile

import (
	"errors"
	"fmt"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
	"github.com/functionspace/bo/study/studyfile/internal/document"
)

// ReadSpace returns the space in a file with the keys parameters and constraints. The name of the file
// and its size have the limits of Read:
//
//	parameters:
//	  - {name: lr, type: float, min: 1e-5, max: 0.1, log: true}
//	  - {name: opt, type: categorical, values: [adam, sgd, lion]}
//	  - {name: momentum, type: float, min: 0, max: 0.99, when: "opt == 'sgd'"}
//	constraints: ["lr * momentum <= 0.05"]
//
// ReadSpace is as strict as space.Parse and reports every fault. An error is one line
// that begins with the path. Errors about the contents wrap space.ErrInvalid and give the
// line and the column of each fault, counted from 1.
func ReadSpace(path string) (*space.Space, error) {
	d, err := document.Read(path)
	if fault, ok := errors.AsType[*document.Fault](err); ok {
		return nil, fmt.Errorf("%s: %w: %w", path, space.ErrInvalid, fault)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s, err := expression.Parse(d.JSON)
	faults, ok := errors.AsType[space.Faults](err)
	if !ok && err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	} else if err == nil {
		return s, nil
	}
	placed := make([]*document.Fault, len(faults))
	for i, fault := range faults {
		placed[i] = place(d, fault)
	}
	document.Sort(placed)
	for i := range faults {
		faults[i] = placed[i]
	}
	return nil, fmt.Errorf("%s: %w: %w", path, space.ErrInvalid, faults)
}

// place adds the place of a parameter's fault.
func place(d *document.Document, err error) *document.Fault {
	fault, ok := errors.AsType[*space.Fault](err)
	if !ok {
		return &document.Fault{Err: err}
	}
	switch {
	case fault.Index < 0 && fault.Key == "constraints" && fault.Item >= 0:
		return d.At(err, fault.Key, fault.Item)
	case fault.Index < 0:
		return d.At(err, fault.Key)
	}
	path := []any{"parameters", fault.Index}
	if fault.Key != "" {
		path = append(path, fault.Key)
	}
	return d.At(err, path...)
}
