package loop

import (
	"math"

	"github.com/functionspace/bo/internal/pareto"
)

// Pareto describes the feasible complete trials of a study with several objectives.
type Pareto struct {
	// Front are the trials that no other trial dominates, by ascending ID.
	Front []Trial
	// Reference is the reference point in the user's units; nil if no trial is complete. A
	// coordinate is Goal.Reference or inferred: beyond the worst value on the front by a
	// tenth of the range of the feasible trials.
	Reference []float64
	// Hypervolume has a number for each finished trial, in the order of IDs: the volume between the reference
	// point and the front of the trials up to it. It is nil if there are more than MaxHypervolume objectives,
	// no trial is feasible or the volume overflows.
	Hypervolume []float64
}

// MaxHypervolume is the largest number of objectives of which ParetoOf computes hypervolumes.
const MaxHypervolume = 4

// ParetoOf returns the Pareto front of trials in ascending order of ID.
func (o *Options) ParetoOf(trials []Trial) Pareto {
	var p Pareto
	reference := o.reference(trials)
	for j, v := range reference {
		p.Reference = append(p.Reference, o.Objectives[j].sign()*v)
	}
	indices, y := o.feasible(trials)
	for _, k := range pareto.Front(y) {
		p.Front = append(p.Front, trials[indices[k]].clone())
	}
	if len(p.Front) == 0 || len(o.Objectives) > MaxHypervolume {
		return p
	}
	volume, next := 0.0, 0
	for i := range trials {
		if next < len(indices) && indices[next] == i {
			volume += pareto.Improvement(y[next], y[:next], reference)
			next++
		}
		if finished(trials[i].State) {
			p.Hypervolume = append(p.Hypervolume, volume)
		}
	}
	if math.IsInf(volume, 1) || math.IsNaN(volume) {
		p.Hypervolume = nil
	}
	return p
}

// Pareto is Options.ParetoOf for the study's trials.
func (s *Study) Pareto() Pareto {
	s.mu.Lock()
	h := s.history()
	s.mu.Unlock()
	return s.opts.ParetoOf(h.Trials)
}

// losses returns the objectives of a trial, to be minimised.
func (o *Options) losses(t *Trial) []float64 {
	y := make([]float64, len(o.Objectives))
	for j, g := range o.Objectives {
		y[j] = g.sign() * t.Numbers[g.Name]
	}
	return y
}

// feasible returns the indices of the feasible trials and their losses.
func (o *Options) feasible(trials []Trial) (indices []int, y [][]float64) {
	for i := range trials {
		if o.Feasible(&trials[i]) {
			indices, y = append(indices, i), append(y, o.losses(&trials[i]))
		}
	}
	return indices, y
}

// reference returns the reference point, of values to be minimised; nil if no trial is complete.
// If no trial is feasible, it is inferred from all complete trials, and from those outside the constraints of the space if all
// are.
func (o *Options) reference(trials []Trial) []float64 {
	_, y := o.feasible(trials)
	if len(y) == 0 {
		_, y = (&Options{Objectives: o.Objectives}).feasible(trials)
	}
	if len(y) == 0 {
		for i := range trials {
			if trials[i].State == Complete {
				y = append(y, o.losses(&trials[i]))
			}
		}
	}
	point := pareto.Reference(y)
	for j := range point {
		if r := o.Objectives[j].Reference; r != nil {
			point[j] = o.Objectives[j].sign() * *r
		}
	}
	return point
}
