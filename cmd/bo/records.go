package main

import (
	insightreport "github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/loop"
)

// unfitted returns records as a view without a fit, of one objective; name is "" if it is the
// only one.
func unfitted(r *insightreport.Records, name string) *loop.View {
	v := &loop.View{Space: r.Space, Options: r.Options, Trials: r.Trials, Objective: name}
	for _, g := range r.Options.Objectives {
		if g.Name != name {
			continue
		}
		v.Options.Objectives, v.Options.Maximize, v.Options.NoiseFree = nil, g.Maximize, g.NoiseFree
		v.Options.NoiseSD, v.Options.StandardError = g.NoiseSD, g.StandardError
		v.Trials = make([]loop.Trial, len(r.Trials))
		for i, t := range r.Trials {
			t.Prediction = nil // of the first objective
			if t.State == loop.Complete {
				t.Value = t.Numbers[name]
			}
			v.Trials[i] = t
		}
	}
	return v
}
