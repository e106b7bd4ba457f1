package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// Earlier are evaluations made before the study. A study begins with them as trials; they do not
// count against the budget. The JSON form is a list of Told, or the name of a table.
type Earlier struct {
	// File is a CSV table. A definition with a File is not valid: its reader replaces the
	// File by Trials, as the command bo does.
	File   string
	Trials []Told // complete or failed, without numbers of trials
}

// IsZero reports whether there are no evaluations and no file.
func (e Earlier) IsZero() bool { return e.File == "" && len(e.Trials) == 0 }

// MarshalJSON writes the list, or the name of the file.
func (e Earlier) MarshalJSON() ([]byte, error) {
	if e.File != "" {
		return json.Marshal(e.File)
	}
	return json.Marshal(e.Trials)
}

// UnmarshalJSON reads a list, or the name of a file.
func (e *Earlier) UnmarshalJSON(text []byte) error {
	*e = Earlier{}
	if json.Unmarshal(text, &e.File) == nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(&e.Trials)
}

// outcome returns the state of a told trial, the value of the first objective, and its numbers: nil
// if the value is the only one and no requirement needs it.
func (t *Told) outcome(d *Definition) (state loop.State, value float64, numbers map[string]float64, err error) {
	fault := func(format string, args ...any) (loop.State, float64, map[string]float64, error) {
		return "", 0, nil, fmt.Errorf(format, args...)
	}
	objective := d.Objective().Name
	numbers = t.Numbers
	value, given := numbers[objective]
	if t.Value != nil && d.Several() {
		return fault("it has a value, and the study has several objectives: state numbers")
	}
	if t.Value != nil {
		value, given = *t.Value, true
		if len(t.Numbers) > 0 || len(d.Require) > 0 {
			numbers = maps.Clone(t.Numbers)
			if numbers == nil {
				numbers = map[string]float64{}
			}
			numbers[objective] = value
		}
	}
	if state = loop.State(t.State); state == "" {
		state = loop.Pending
		if given {
			state = loop.Complete
		}
	}
	switch state {
	case loop.Complete:
		if !given {
			return fault("complete without a value or a number named %q", objective)
		}
		if d.Several() || len(d.Require) > 0 {
			err = d.Missing(numbers)
		}
		return state, value, numbers, err
	case loop.Stopped:
		return state, value, numbers, nil
	case loop.Failed, loop.Lost, loop.Pending:
		return state, 0, numbers, nil
	}
	return fault("state is %q, want complete, failed, stopped, lost or pending", t.State)
}

// EarlierTrial is an evaluation of Definition.Earlier.
type EarlierTrial struct {
	// Point is the point of the space; a point without a space lies outside its ranges or lists of values, and is
	// left out of fits.
	Point   space.Point
	Outside bool // as loop.Trial.Outside: Point violates constraints
	Params  map[string]any
	State   loop.State // Complete or Failed
	Numbers map[string]float64
}

// EarlierTrial returns the i-th entry of Earlier.Trials. Values outside the ranges and the
// constraints of the space are no error.
func (d *Definition) EarlierTrial(s *space.Space, i int) (EarlierTrial, error) {
	t := &d.Earlier.Trials[i]
	out := EarlierTrial{Params: t.Params}
	var value float64
	var err error
	switch out.State, value, out.Numbers, err = t.outcome(d); {
	case err != nil:
		return out, err
	case t.Trial != 0:
		return out, errors.New("it has a number: earlier evaluations are numbered from 1")
	case out.State != loop.Complete && out.State != loop.Failed:
		return out, errors.New("it has neither a value nor the state failed")
	}
	if out.Numbers == nil && out.State == loop.Complete {
		out.Numbers = map[string]float64{d.Objective().Name: value}
	}
	for name, v := range out.Numbers {
		if math.IsNaN(v) || math.Abs(v) > loop.MaxValue {
			return out, fmt.Errorf("%s is %v, want a finite number", name, v)
		}
		if v < 0 && slices.Contains(d.StandardErrors(), name) {
			return out, fmt.Errorf("the standard error %s is %v, want a number of at least 0", name, v)
		}
	}
	if out.Point, err = s.PointWith(t.Params, d.Defaults); err == nil {
		return out, nil
	}
	if p, fault := s.Outside(t.Params, d.Defaults); fault == nil {
		out.Point, out.Outside = p, true
		return out, nil
	}
	if d.outside(s, t.Params) {
		return out, nil
	}
	return out, err
}

// outside reports whether params have values of the right types for a point of the space. Only ranges, lists of
// values or conditions then exclude it.
func (d *Definition) outside(s *space.Space, params map[string]any) bool {
	known := 0
	for _, p := range s.Parameters() {
		v, ok := params[p.Name]
		_, other := d.Defaults[p.Name]
		if !ok && p.Kind != space.KindFixed && p.When.Text == "" && !other {
			return false
		}
		if !ok {
			continue
		}
		known++
		switch v := v.(type) {
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		case int:
		case string, bool:
			if p.Kind == space.KindFloat || p.Kind == space.KindInt {
				return false
			}
		default:
			return false
		}
	}
	return known == len(params)
}

// earlierFaults returns the faults of the earlier evaluations.
func (d *Definition) earlierFaults(s *space.Space) (faults []error) {
	if d.Earlier.File != "" {
		return []error{faultAt(fmt.Errorf("earlier: the table %s is not read", d.Earlier.File), "earlier")}
	}
	for i := range d.Earlier.Trials {
		if _, err := d.EarlierTrial(s, i); err != nil {
			faults = append(faults, faultAt(fmt.Errorf("earlier: evaluation %d: %w", i+1, err), "earlier", i))
		}
	}
	return faults
}
