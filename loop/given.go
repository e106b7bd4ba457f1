package loop

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/pareto"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// slice returns the part of the space with given values, or the space without any.
func slice(s *space.Space, given map[string]any) (*space.Space, error) {
	if len(given) == 0 {
		return s, nil
	}
	return s.Slice(given)
}

// sliced reports whether the proposals have given values.
func (t *task) sliced() bool { return t.domain != t.space }

// restrict makes p, the problem of the whole space, the problem of the slice of points with the given values c. A point of the
// space has the values (x, c) of parameters that are not given and that are.
//
// The improvement by a trial at (x, c) is not an improvement on the best value of all contexts: if the context raises all
// values, nothing improves on that value, and the point of the largest variance would be suggested. It is the
// improvement on the least value that the model predicts in this context for the parameters tried so far. Their points
// (x_i, c), for the trials i of all contexts, are the baseline. They need no evaluation. LogEI, EI and PI improve on
//
//	τ(c) = min_i E[f(x_i, c) | D]
//
// over baseline points that are feasible with a probability of at least ½. With Auto the acquisition function is the
// logarithm of
//
//	α(x) = E[ (τ(c) - f(x, c))₊ | D ],
//
// which is the profile expected improvement of Ginsbourger et al. (2014) with a minimum over the baseline in place of the
// profile. A term b(c) of the mean adds to τ(c) and to f and cancels. The improvement at the best baseline point is positive,
// as it has not been evaluated at c. LogNEI has the expectation over the joint posterior instead,
//
//	E[ (min_i f(x_i, c) - f(x, c))₊ | D ],
//
// which is 0 at all baseline points, so the best settings of other contexts are not tried in this one. With
// several objectives the improvement is of the front of the baseline, as in LogNEI. A reference point that is
// not stated is inferred from the posterior means there.
//
// Points of trials with other values may be suggested, with the given ones. Pending trials with other values reduce the
// variance in the slice, but f is not compared with their values.
func (t *task) restrict(p *acquisition.Problem, f *fitted) {
	p.Baseline = t.baseline(p.Observed)
	p.Observed, _ = t.split(p.Observed)
	p.Failed, _ = t.split(p.Failed)
	p.Pending, p.Elsewhere = t.split(p.Pending)
	n, _ := p.Baseline.Dims()
	likely, outputs := make([]float64, n), p.Objectives
	p.Feasibility(likely, p.Baseline)
	if outputs == nil {
		outputs = append(outputs, p.Posterior)
	}
	y := make([][]float64, n)
	mean, variance := make([]float64, n), make([]float64, n)
	for _, o := range outputs {
		o.Predict(mean, variance, p.Baseline)
		for i, m := range mean {
			y[i] = append(y[i], m)
		}
	}
	var feasible [][]float64
	p.Best = math.Inf(1)
	for i, probability := range likely {
		if probability >= 0.5 {
			feasible = append(feasible, y[i])
			p.Best = min(p.Best, y[i][0])
		}
	}
	if !t.opts.Several() {
		return
	}
	if feasible == nil {
		feasible = y
	}
	p.Reference = pareto.Reference(feasible)
	for j, g := range t.opts.Objectives {
		if g.Reference != nil {
			p.Reference[j] = (g.sign()**g.Reference - f.scales[j].Mean) / f.scales[j].SD
		}
	}
}

// baseline returns the rows of x with the given values, each once: those that are then feasible. If none is, it returns
// points of the slice drawn at random.
func (t *task) baseline(x *mat.Dense) *mat.Dense {
	var rows []float64
	seen := map[string]bool{}
	n, d := x.Dims()
	for i := range n {
		u := slices.Clone(x.RawRowView(i))
		t.domain.Project(u)
		if key := t.domain.Decode(u).Key(); t.domain.Feasible(u) && !seen[key] {
			seen[key] = true
			rows = append(rows, u...)
		}
	}
	if rows == nil {
		return t.domain.Sample(t.opts.Initial, random.New(t.opts.Seed, "baseline", t.next()))
	}
	return mat.NewDense(len(rows)/d, d, rows)
}

// split returns the rows of x in the slice and the others; nil for none.
func (t *task) split(x *mat.Dense) (in, out *mat.Dense) {
	if x == nil {
		return nil, nil
	}
	var rows [2][]float64
	lo, hi := t.domain.Bounds()
	n, d := x.Dims()
	for i := range n {
		row, k := x.RawRowView(i), 0
		for j, v := range row {
			if !(lo[j] <= v && v <= hi[j]) {
				k = 1
			}
		}
		if !t.domain.Feasible(row) { // an inactive parameter may have the encoding of a given value
			k = 1
		}
		rows[k] = append(rows[k], row...)
	}
	dense := func(data []float64) *mat.Dense {
		if data == nil {
			return nil
		}
		return mat.NewDense(len(data)/d, d, data)
	}
	return dense(rows[0]), dense(rows[1])
}

// inSlice returns the trials that have the given values.
func (t *task) inSlice(trials []Trial) []Trial {
	if !t.sliced() {
		return trials
	}
	return slices.DeleteFunc(slices.Clone(trials), func(trial Trial) bool { return !t.domain.Contains(trial.Point) })
}
