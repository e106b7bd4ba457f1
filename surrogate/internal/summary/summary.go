// Package summary holds the hyperparameters, states and warnings of a fit.
package summary

import (
	"slices"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Summary implements the methods of a posterior that describe its fit.
type Summary struct {
	NoiseVariance float64
	Parameters    []surrogate.Hyper
	Learned       surrogate.State // start of a later fit
	Notes         []string        // warnings
	selection     *surrogate.Selection
}

// Amendable is a posterior with a Summary, which a model that selects it amends before it is
// returned.
type Amendable interface {
	Amend(learned surrogate.State, s surrogate.Selection)
}

// Amend replaces the state and sets the selection.
func (s *Summary) Amend(learned surrogate.State, of surrogate.Selection) {
	s.Learned, s.selection = learned, &of
}

// Selection implements surrogate.Selected.
func (s *Summary) Selection() *surrogate.Selection { return s.selection }

func (s *Summary) Noise() float64            { return s.NoiseVariance }
func (s *Summary) Warnings() []string        { return slices.Clone(s.Notes) }
func (s *Summary) State() surrogate.State    { return slices.Clone(s.Learned) }
func (s *Summary) Hypers() []surrogate.Hyper { return slices.Clone(s.Parameters) }

// EncodeState returns the state of a fit: the number of the prior's parameters, these
// parameters, and the other learned numbers.
func EncodeState(ofPrior, rest []float64) surrogate.State {
	return slices.Concat(surrogate.State{float64(len(ofPrior))}, ofPrior, rest)
}

// DecodeState splits a state into the two parts of EncodeState. Both are nil if the second
// does not have n entries.
func DecodeState(s surrogate.State, n int) (ofPrior, rest []float64) {
	if len(s) == 0 {
		return nil, nil
	}
	k := int(s[0])
	if k < 0 || len(s) != 1+k+n {
		return nil, nil
	}
	return s[1 : 1+k], s[1+k:]
}

// KernelHypers lists the hyperparameters of a kernel.
func KernelHypers(k prior.Kernel) []surrogate.Hyper {
	var out []surrogate.Hyper
	for _, h := range k.Params() {
		out = append(out, surrogate.Hyper{Name: h.Name, Value: h.Value})
	}
	return out
}
