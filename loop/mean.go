package loop

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// Mean is a prior mean function of the objective, in the user's units. The zero value is none.
//
// The surrogate model is fitted to the differences from it, and predictions include it. In Go
// it may have any function; package expression compiles a Text such as "3 + 2*log(x)".
type Mean struct {
	// Text names the function in messages and in files.
	Text string
	// At returns the mean at a point. It must be finite at every point of the space, and may be
	// called by several goroutines.
	At func(space.Point) float64
}

// isZero reports whether there is no mean function.
func (m *Mean) isZero() bool { return m.Text == "" && m.At == nil }

// name returns the text, or a name of a function without one.
func (m *Mean) name() string {
	if m.At != nil {
		return cmp.Or(m.Text, "a function without a text")
	}
	return m.Text
}

// meanPoints is the number of points at which the mean function is evaluated first.
const meanPoints = 256

// Check returns an error if the function is missing, or has no finite value at one of 256 points of s. The
// points include the ends of all ranges.
func (m *Mean) Check(s *space.Space) error {
	if m.At == nil {
		return fmt.Errorf("prior mean: %q is text without a function: package expression compiles it", m.Text)
	}
	rng := random.New(0, "mean", 0)
	x := space.Sobol(meanPoints, s.Dim(), rng)
	for i := range 2 { // two opposite corners, where logarithms and quotients have their poles
		for j := range s.Dim() {
			x.Set(i, j, float64(i))
		}
	}
	for i := range meanPoints {
		if u := x.RawRowView(i); s.Feasible(u) {
			p := s.Decode(u)
			if v := m.At(p); !(math.Abs(v) <= MaxValue) {
				return fmt.Errorf("prior mean: %s is %v at %v, want a finite number", m.name(), v, p)
			}
		}
	}
	return nil
}

// meanStep is the step of the differences in the gradient of a mean function.
const meanStep = 1e-6

// meanPath is a mean function in the unit of the targets, of encoded points. It changes along discrete
// parameters in steps, and its gradient there is 0.
type meanPath struct {
	space *space.Space
	mean  Mean
	sign  float64
	sd    float64 // unit of the targets, in the user's units
}

// at returns the mean at an encoded point.
func (m meanPath) at(u []float64) float64 { return m.sign * m.mean.At(m.space.Decode(u)) / m.sd }

// Eval implements surrogate.Path.
func (m meanPath) Eval(value []float64, grad, x *mat.Dense) {
	free := m.space.Free()
	u := make([]float64, m.space.Dim())
	for i := range value {
		copy(u, x.RawRowView(i))
		value[i] = m.at(u)
		if grad == nil {
			continue
		}
		g := grad.RawRowView(i)
		clear(g)
		for j, v := range u {
			if !free[j] {
				continue
			}
			low, high := max(0, v-meanStep), min(1, v+meanStep)
			u[j] = high
			g[j] = m.at(u)
			u[j] = low
			g[j] = (g[j] - m.at(u)) / (high - low)
			u[j] = v
		}
	}
}

// addMean adds factor times the mean function at the complete trials to their values, which are to be minimised.
func (t *task) addMean(values []float64, factor float64) {
	if t.opts.PriorMean.isZero() {
		return
	}
	k := 0
	for i := range t.trials {
		if t.trials[i].State == Complete {
			values[k] += factor * t.opts.sign() * t.opts.PriorMean.At(t.trials[i].Point)
			k++
		}
	}
}

// leastDifference is a share of the standard deviation of the values. Differences from the mean function with a
// smaller standard deviation count as rounding errors.
const leastDifference = 1e-8

// differenceScale returns the standardisation of the differences between the values and the mean function, at all
// points that enter the fit. scale is the standardisation of the values, to be minimised, of the complete trials.
// Differences that are rounding errors have the standard deviation of the values.
func (t *task) differenceScale(values []float64, scale surrogate.Standardization) surrogate.Standardization {
	d := t.dataset(values, scale)
	m := make([]float64, len(d.Y))
	meanPath{t.space, t.opts.PriorMean, t.opts.sign(), scale.SD}.Eval(m, nil, d.X)
	for i := range m {
		m[i] = d.Y[i]/scale.SD - m[i]
	}
	out := surrogate.StandardizeNoisy(m, d.Noise)
	if out.SD < leastDifference {
		out.SD = 1
	}
	return surrogate.Standardization{Mean: scale.SD * out.Mean, SD: scale.SD * out.SD}
}

// centered returns the surrogate model of targets with the given scale: with the noise, if it is known,
// and with the mean function, if there is one. The scale standardises the differences from the mean function.
func (t *task) centered(scale surrogate.Standardization) (surrogate.Model, error) {
	m, err := t.known(t.opts.NoiseSD, t.noisesOf(t.opts.StandardError, scale), scale)
	if err != nil || t.opts.PriorMean.isZero() {
		return m, err
	}
	return surrogate.Scaled{
		Model: m, Inputs: surrogate.Raw, Outputs: surrogate.Raw,
		Mean: meanPath{t.space, t.opts.PriorMean, t.opts.sign(), scale.SD},
	}, nil
}
