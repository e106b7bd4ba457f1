package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/functionspace/bo/loop"
)

// given are the values of an ask that has some.
type given struct {
	text   json.RawMessage // the values as JSON in one form; nil without
	values map[string]any  // the values as package json reads them
}

// given returns the values of an ask in the present space. The error wraps space.ErrPoint, or loop.ErrOptions for a study
// with batches.
func (u *Study) given(ctx context.Context, values map[string]any) (g given, err error) {
	if len(values) == 0 {
		return g, nil
	}
	if err := u.refresh(ctx); err != nil {
		return g, err
	}
	if err := u.mu.lock(ctx); err != nil {
		return g, err
	}
	sp, batch := u.space, u.definition.Batch
	u.mu.unlock()
	if batch > 0 {
		return g, fmt.Errorf("%w: given values: the study has batches of %d, whose trials are chosen together: without batch in its definition, %[2]d trials asked for at once have given values", loop.ErrOptions, batch)
	}
	slice, err := sp.Slice(values)
	if err != nil {
		return g, err
	}
	if g.text, err = json.Marshal(slice.Given()); err != nil {
		return g, err
	}
	return g, json.Unmarshal(g.text, &g.values)
}

// suit reports whether a trial has the given values.
func (g *given) suit(t *Trial) bool {
	if g.text == nil {
		return true
	}
	var params map[string]any
	if json.Unmarshal(t.Params, &params) != nil {
		return false
	}
	for name, v := range g.values {
		if params[name] != v {
			return false
		}
	}
	return true
}
