package main

import (
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/surrogate"
)

// lastSuggested returns the last suggested trial, nil if there is none.
func lastSuggested(v *store.View) *store.Trial {
	for i := len(v.Trials) - 1; i >= 0; i-- {
		if v.Trials[i].Source == loop.Suggested {
			return &v.Trials[i]
		}
	}
	return nil
}

// selectionOf returns the selection behind the suggestion t; nil if its surrogate model does not select.
func selectionOf(t *store.Trial) *surrogate.Selection {
	if t == nil || t.Prediction == nil {
		return nil
	}
	return t.Prediction.Selection
}
