package insight

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// SliceOptions configures Slices. The zero value is the default.
type SliceOptions struct {
	// Points is the number of points along a float, or along an int of more values; 2 to
	// 10,000. 0 is 101.
	Points int
	// At is the point that the slices pass through. The zero Point is the incumbent.
	At space.Point
	// Average is the number of points over which predictions are averaged: the slice of a
	// parameter then shows the mean over the other parameters, uniform on the encoded
	// space, by a scrambled Sobol sequence. Points that violate a constraint on parameters are
	// left out. It is at most 1,000, and 0 is a slice through At. An averaged slice has no
	// acquisition function.
	Average int
}

// Slice is the prediction along one parameter.
type Slice struct {
	Axis   Axis         `json:"axis"`
	Points []SlicePoint `json:"points"`
	// At is the value of the parameter at the point that the slice passes through; nil if
	// the parameter is inactive there. Points of a slice that is not averaged are then empty.
	At any `json:"at"`
	// Moved reports that the other parameters change along the slice. Without a change no other value of the
	// parameter is feasible, as in a mixture. The others change as by space.Space.Balance: other components
	// keep their ratios.
	Moved bool `json:"moved,omitempty"`
	// Trials are all trials for which the parameter is active, in order.
	Trials []SliceTrial `json:"trials"`
}

// SlicePoint is the prediction at one value of the parameter.
type SlicePoint struct {
	X any `json:"x"`
	Band
	Acquisition Number `json:"acquisition"`
	// Feasible reports that the point satisfies the constraints on parameters; of an average, that a point
	// with this value does.
	Feasible bool `json:"feasible"`
}

// SliceTrial is a trial projected on the parameter. Trials differ from the slice in the
// other parameters; Distance measures how much.
type SliceTrial struct {
	Trial int        `json:"trial"`
	X     any        `json:"x"`
	State loop.State `json:"state"`
	// Y is the value of a complete trial, null otherwise.
	Y Number `json:"y"`
	// Distance is the Euclidean distance to the slice in encoded coordinates.
	Distance float64 `json:"distance"`
	Feasible bool    `json:"feasible"` // it is complete and meets the requirements
}

// Slices returns the prediction along every parameter that is not fixed. The other parameters have
// their values at the incumbent: the trial with the best posterior mean, or with the best value if
// the objective is noise-free. In a mixture they change along the slice (Slice.Moved).
//
// It costs a prediction and an evaluation of the acquisition function at the points of the
// slices; with Average, O(n² m Average) for m points. The error wraps ErrArgument.
func Slices(v *loop.View, o SliceOptions) ([]Slice, error) {
	if o.Points == 0 {
		o.Points = 101
	}
	if o.Points < 2 || o.Points > 10_000 || o.Average < 0 || o.Average > 1000 {
		return nil, fmt.Errorf("%w: %d points and %d to average over, want 2 to 10000 and 0 to 1000", ErrArgument, o.Points, o.Average)
	}
	if o.At.Space() == nil {
		o.At = v.Trials[incumbent(v)].Point
	}
	var err error
	if o.At, err = own(v, o.At); err != nil {
		return nil, err
	}
	var out []Slice
	for _, p := range free(v.Space) {
		s := Slice{At: o.At.Value(p.Name), Axis: axisOf(p)}
		switch {
		case o.Average > 0:
			s.average(v, newGrid(v.Space, p, o.Points), o.Average)
		case o.At.Active(p.Name):
			s.through(v, newGrid(v.Space, p, o.Points), o.At)
		}
		s.addTrials(v, o.At)
		out = append(out, s)
	}
	return out, nil
}

// through fills the points of the slice through a point.
func (s *Slice) through(v *loop.View, g grid, at space.Point) {
	rows, feasible := make([][]float64, len(g.values)), make([]bool, len(g.values))
	others := 0 // feasible points with another value
	for k, value := range g.values {
		rows[k] = v.Space.Encode(at)
		g.set(rows[k], k)
		v.Space.Project(rows[k])
		if feasible[k] = v.Space.Feasible(rows[k]); feasible[k] && value != s.At {
			others++
		}
	}
	for k, value := range g.values {
		if others > 0 || feasible[k] {
			continue
		}
		if u, ok := balanced(v.Space, v.Space.Encode(at), map[string]any{s.Axis.Name: value}); ok {
			rows[k], feasible[k], s.Moved = u, true, true
		}
	}
	x := matrix(rows)
	mean, variance := predict(v, x)
	acquired := acquisitions(v, x)
	for k, value := range g.values {
		s.Points = append(s.Points, SlicePoint{value, band(v, mean[k], variance[k]), acquired[k], feasible[k]})
	}
}

// average fills the points with the distribution of the mean of the targets over n points.
func (s *Slice) average(v *loop.View, g grid, n int) {
	size := n
	if len(v.Space.Constraints()) > 0 {
		size = 16 * n
	}
	background := space.Sobol(size, v.Space.Dim(), random.New(0, "average", 0))
	for k, value := range g.values {
		x, feasible := averaged(v.Space, g, k, background, n)
		n, _ := x.Dims()
		mean, cov := make([]float64, n), mat.NewSymDense(n, nil)
		surrogate.Averaged(v.Posterior).Joint(mean, cov, x)
		var m, c float64
		for i := range n {
			m += mean[i] / float64(n)
			for j := range n {
				c += cov.At(i, j) / float64(n*n)
			}
		}
		s.Points = append(s.Points, SlicePoint{value, band(v, m, c), Number(math.NaN()), feasible})
	}
}

// balanced returns the encoded point of space.Space.Balance, and whether it is feasible.
func balanced(s *space.Space, u []float64, values map[string]any) ([]float64, bool) {
	p, ok, err := s.Balance(values, u)
	if err != nil {
		panic("insight: a value of a grid: " + err.Error())
	}
	return s.Encode(p), ok
}

// averaged returns the first n feasible points among the rows of background with the k-th value of g. If there
// is none, it returns the feasible ones of space.Space.Balance for the first n rows, or else one point of
// space.Space.Complete. If both fail, it returns the first n rows and false.
func averaged(s *space.Space, g grid, k int, background *mat.Dense, n int) (*mat.Dense, bool) {
	size, _ := background.Dims()
	var feasible, all [][]float64
	for i := 0; i < size && len(feasible) < n; i++ {
		u := slices.Clone(background.RawRowView(i))
		g.set(u, k)
		s.Project(u)
		if len(all) < n {
			all = append(all, u)
		}
		if s.Feasible(u) {
			feasible = append(feasible, u)
		}
	}
	if len(feasible) == 0 {
		for _, u := range all {
			if u, ok := balanced(s, u, map[string]any{g.axis.Name: g.values[k]}); ok {
				feasible = append(feasible, u)
			}
		}
	}
	if len(feasible) > 0 {
		return matrix(feasible), true
	}
	p, err := s.Complete(map[string]any{g.axis.Name: g.values[k]}, background.RawRowView(0), random.New(0, "average", k))
	if err == nil {
		return matrix([][]float64{s.Encode(p)}), true
	}
	return matrix(all), false
}

// addTrials adds the trials for which the parameter is active.
func (s *Slice) addTrials(v *loop.View, at space.Point) {
	first, end := v.Space.Columns(s.Axis.Name)
	u := v.Space.Encode(at)
	s.Trials = []SliceTrial{}
	for i := range v.Trials {
		t := &v.Trials[i]
		if !t.Point.Active(s.Axis.Name) {
			continue
		}
		x := t.Point.Value(s.Axis.Name)
		if s.Moved {
			u, _ = balanced(v.Space, v.Space.Encode(at), map[string]any{s.Axis.Name: x})
		}
		var d2 float64
		for j, x := range v.Space.Encode(t.Point) {
			if j < first || j >= end {
				d2 += (x - u[j]) * (x - u[j])
			}
		}
		s.Trials = append(s.Trials, SliceTrial{t.ID, x, t.State, valueOf(t), math.Sqrt(d2), v.Options.Feasible(t)})
	}
}

// valueOf returns the value of a complete trial, else NaN.
func valueOf(t *loop.Trial) Number {
	if t.State != loop.Complete {
		return Number(math.NaN())
	}
	return Number(t.Value)
}
