package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/functionspace/bo/internal/flatjson"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// takeNumbers returns the finished trials that get a value of a parameter of d from a number, as Edit
// describes it. It changes their parameters alone.
func takeNumbers(tx Tx, row *Row, old, d *study.Definition) ([]Trial, error) {
	s, err := d.Space()
	if err != nil {
		return nil, err
	}
	var edited []space.Parameter // edited parameters that have defaults
	for _, p := range s.Parameters() {
		if _, ok := d.Defaults[p.Name]; ok && !slices.ContainsFunc(old.Parameters, func(q space.Parameter) bool { return equal(p, q) }) {
			edited = append(edited, p)
		}
	}
	if edited == nil {
		return nil, nil
	}
	trials, err := tx.Trials(row.ID, Query{})
	if err != nil {
		return nil, err
	}
	var changed []Trial
	for i := range trials {
		t, took := &trials[i], false
		for _, p := range edited {
			x, ok := t.Numbers[p.Name]
			if !ok || t.State == Pending || p.Check(x) != nil {
				continue
			}
			now, err := t.take(s, d, p, x)
			if err != nil {
				return nil, err
			}
			took = took || now
		}
		if took {
			changed = append(changed, *t)
		}
	}
	return changed, nil
}

// take gives the trial the value x of parameter p, and reports true, unless it has a value or the parameter
// is inactive.
func (t *Trial) take(s *space.Space, d *study.Definition, p space.Parameter, x float64) (bool, error) {
	values := map[string]any{}
	if err := flatjson.Values(t.Params, values); err != nil {
		return false, fmt.Errorf("trial %d: params: %w", t.Number, err)
	}
	if _, ok := values[p.Name]; ok {
		return false, nil
	}
	if p.When.Text != "" {
		known := map[string]any{p.Name: x}
		for _, q := range s.Parameters() {
			if v, ok := values[q.Name]; ok {
				known[q.Name] = v
			}
		}
		if _, err := s.PointWith(known, d.Defaults); err != nil {
			return false, nil
		}
	}
	member, err := json.Marshal(map[string]float64{p.Name: x})
	if err != nil {
		return false, err
	}
	if len(values) == 0 {
		t.Params = member
		return true, nil
	}
	text := bytes.TrimSuffix(bytes.TrimSpace(t.Params), []byte("}"))
	t.Params = slices.Concat(text, []byte(","), member[1:])
	return true, nil
}

// equal reports whether two parameters have the same declaration.
func equal(a, b space.Parameter) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
