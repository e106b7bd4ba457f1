package runner

import (
	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/loop"
)

// goals returns the objectives f1, f2, … with their reference points, and the requirements on
// c1, c2, ….
func goals(o *benchmarks.Outcomes, noiseFree bool) ([]loop.Goal, []loop.Requirement) {
	var objectives []loop.Goal
	var require []loop.Requirement
	names, m := o.Names(), len(o.Reference)
	for j := range o.Reference {
		objectives = append(objectives, loop.Goal{Name: names[j], NoiseFree: noiseFree, Reference: &o.Reference[j]})
	}
	for c, b := range o.Bounds {
		require = append(require, loop.Requirement{Name: names[m+c], Bound: b})
	}
	return objectives, require
}

// several is single for several objectives. The recorded value is the negative hypervolume of all
// evaluations so far.
func several(o *benchmarks.Outcomes, rec *Record) func(study *loop.Study, id int, x []float64) error {
	var observed, latent [][]float64
	return func(study *loop.Study, id int, x []float64) error {
		y := o.Func(x)
		observed = append(observed, y)
		rec.Values = append(rec.Values, -o.Volume(observed))
		if o.Latent != nil {
			latent = append(latent, o.Latent(x))
			rec.Latent = append(rec.Latent, -o.Volume(latent))
		}
		numbers := map[string]float64{}
		for j, name := range o.Names() {
			numbers[name] = y[j]
		}
		return study.TellOutcome(id, loop.Outcome{Numbers: numbers})
	}
}
