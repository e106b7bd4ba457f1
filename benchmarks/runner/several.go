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

// volumes returns a function that evaluates o. It returns the numbers of o and the negative
// hypervolume of all evaluations so far, followed by the same without noise if o has noise.
func volumes(o *benchmarks.Outcomes) func(x []float64) (numbers []float64, values Numbers) {
	var observed, latent [][]float64
	return func(x []float64) ([]float64, Numbers) {
		y := o.Func(x)
		observed = append(observed, y)
		values := Numbers{-o.Volume(observed)}
		if o.Latent != nil {
			latent = append(latent, o.Latent(x))
			values = append(values, -o.Volume(latent))
		}
		return y, values
	}
}

// several is single for several objectives. The recorded value is the negative hypervolume of all
// evaluations so far.
func several(o *benchmarks.Outcomes, rec *Record) func(study *loop.Study, id int, x []float64) error {
	evaluate := volumes(o)
	return func(study *loop.Study, id int, x []float64) error {
		y, values := evaluate(x)
		rec.Values = append(rec.Values, values[0])
		if o.Latent != nil {
			rec.Latent = append(rec.Latent, values[1])
		}
		numbers := map[string]float64{}
		for j, name := range o.Names() {
			numbers[name] = y[j]
		}
		return study.TellOutcome(id, loop.Outcome{Numbers: numbers})
	}
}
