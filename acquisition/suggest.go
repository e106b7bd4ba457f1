package acquisition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// Candidate is a point chosen by Suggest.
type Candidate struct {
	X        []float64
	Value    float64  // value of the acquisition function at this point, or at the batch if it was chosen together
	Mean, SD float64  // moments of the latent f at X (surrogate.Averaged), not conditioned on pending points
	Warnings []string // reports how the choice of X was degraded; excludes warnings of the posterior
}

// Suggest returns q points of dom to evaluate.
//
// The points of a batch are chosen one after another. For each point the earlier points
// are pending. If a is a Joint with JointBatch and there is one objective, Suggest then chooses all points
// together; that search also starts from the first batch, so its value is no lower. From the second
// point on, the search is brief: it uses a sixteenth of o.Raw points, ascends from the best of them
// and from the best of earlier maxima, and ends ascents early. In a batch LogNEI has its
// closed form with 16 samples, once an evaluated point is feasible, and LogNEHVI has at most 16 samples.
//
// While dom has other points, no suggestion repeats an evaluated point, a pending point
// or another suggestion. If the acquisition function is flat, the suggestion is the point
// farthest from all evaluated and pending points, with a warning.
//
// The result depends only on the arguments and the state of rng. On cancellation the
// error comes from the context, and the result contains the points chosen so far. Other
// errors come from a.Build or wrap ErrProblem.
func Suggest(ctx context.Context, a Acquisition, p Problem, dom Domain, q int, o MaximizeOptions, rng *rand.Rand) ([]Candidate, error) {
	if err := p.checkParts(a, q); err != nil {
		return nil, err
	}
	p.checkDims(dom)
	p.done = ctx.Done()
	known, whole := newKnown(p, dom), p
	p, err := p.compared()
	if err != nil {
		return nil, err
	}
	starts := incumbents(p, random.Split(rng, "incumbents", 0))
	var out []Candidate
	var ends *mat.Dense
	pending := p
	if q > 1 {
		pending.shared = new(shared)
	}
	for i := range q {
		surrogate.Report(ctx, surrogate.Progress{Phase: "acquisition", Done: i, Total: q})
		c, climbed, err := suggestOne(ctx, a, pending, dom, starts, ends, known, o, random.Split(rng, "point", i))
		if err != nil {
			return describe(whole, out), err
		}
		ends = climbed
		out = append(out, c)
		known.add(c.X)
		pending.Pending = stack(pending.Pending, mat.NewDense(1, len(c.X), c.X))
	}
	if j, ok := a.(Joint); ok && q > 1 && j.JointBatch() && len(p.Objectives) == 0 {
		batch, err := suggestJointly(ctx, a, whole, dom, out, o, random.Split(rng, "joint", 0))
		if err != nil {
			return describe(whole, out), err
		}
		out = batch
	}
	return describe(whole, out), nil
}

// checkDims panics if the dimensions of p and dom differ.
func (p Problem) checkDims(dom Domain) {
	d := dom.Dim()
	if got := p.Posterior.Dim(); got != d {
		panic(fmt.Sprintf("acquisition: posterior of %d inputs, domain of %d coordinates", got, d))
	}
	for _, x := range []*mat.Dense{p.Observed, p.Failed, p.Pending, p.Baseline, p.Elsewhere} {
		if rowCount(x) > 0 && x.RawMatrix().Cols != d {
			panic(fmt.Sprintf("acquisition: known points of %d coordinates, domain of %d", x.RawMatrix().Cols, d))
		}
	}
}

// suggestOne returns the next point and the ends of the ascents. It starts some ascents
// from before, the ends for the previous point.
func suggestOne(ctx context.Context, a Acquisition, p Problem, dom Domain, starts, before *mat.Dense, known *known, o MaximizeOptions, rng *rand.Rand) (c Candidate, ends *mat.Dense, err error) {
	f, err := p.Function(ctx, a, 1, rng)
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return c, nil, err
	}
	search, err := newClimb(f, dom, o)
	if err != nil {
		return c, nil, err
	}
	if before != nil {
		search.follow(before)
	}
	reject := known.reject()
	c.X, c.Value, err = search.maximize(ctx, starts, rng, reject)
	switch {
	case errors.Is(err, ErrFlat):
		c.Warnings = append(c.Warnings, "the acquisition function is flat, the point farthest from all trials is suggested: check that the objective varies")
		c.X = known.farthest(dom, reject, rng)
		c.Value = valueAt(f, c.X)
	case err != nil:
		return Candidate{}, nil, err
	}
	if reject(c.X) {
		if x := unknown(dom, c.X, reject, rng); x != nil { // x is nil if all points are pending
			c.Warnings = append(c.Warnings, "the best points are evaluated already, a neighbour or random point is suggested: the search may have converged")
			c.X, c.Value = x, valueAt(f, x)
		}
	}
	if known.exhausted() {
		c.Warnings = append(c.Warnings, "every point of the space has a trial, this point repeats one: the search can end")
	}
	c.X = slices.Clone(c.X)
	return c, search.ends, nil
}

// suggestJointly ascends from the batch greedy, whose points were chosen one after
// another, and from random batches. It returns greedy if no better batch without repeats
// is found.
func suggestJointly(ctx context.Context, a Acquisition, p Problem, dom Domain, greedy []Candidate, o MaximizeOptions, rng *rand.Rand) ([]Candidate, error) {
	q, d := len(greedy), dom.Dim()
	f, err := p.Function(ctx, a, q, rng)
	if err != nil {
		return nil, err
	}
	first := make([]float64, 0, q*d)
	for _, c := range greedy {
		first = append(first, c.X...)
	}
	repeats := func(batch []float64) bool {
		k := newKnown(p, dom)
		for i := range q {
			x := batch[i*d : (i+1)*d]
			if k.reject()(x) {
				return true
			}
			k.add(x)
		}
		return false
	}
	search, err := newClimb(f, power{dom, q}, o)
	if err != nil {
		return nil, err
	}
	x, value, err := search.maximize(ctx, mat.NewDense(1, q*d, first), rng, repeats)
	if errors.Is(err, ErrFlat) {
		return greedy, nil
	}
	if err != nil {
		return nil, err
	}
	if v := valueAt(f, first); !(value > v) || repeats(x) {
		for i := range greedy {
			greedy[i].Value = v
		}
		return greedy, nil
	}
	out := make([]Candidate, q)
	for i := range out {
		out[i] = Candidate{X: slices.Clone(x[i*d : (i+1)*d]), Value: value}
	}
	return out, nil
}

// valueAt returns f(x).
func valueAt(f Function, x []float64) float64 {
	v := make([]float64, 1)
	f.Eval(v, nil, mat.NewDense(1, len(x), slices.Clone(x)))
	return v[0]
}

// describe sets Mean and SD of the candidates, averaged over hyperparameters.
func describe(p Problem, cs []Candidate) []Candidate {
	if len(cs) == 0 {
		return cs
	}
	x := mat.NewDense(len(cs), len(cs[0].X), nil)
	for i, c := range cs {
		x.SetRow(i, c.X)
	}
	mean, variance := make([]float64, len(cs)), make([]float64, len(cs))
	surrogate.Averaged(p.Posterior).Predict(mean, variance, x)
	for i := range cs {
		cs[i].Mean, cs[i].SD = mean[i], math.Sqrt(max(variance[i], 0))
	}
	return cs
}

const (
	bestKept      = 5 // evaluated points from which ascents may start
	perturbations = 6 // copies of each
)

// incumbents returns the evaluated points of lowest posterior mean, likely feasible points first. It adds
// copies of them with normal noise of standard deviation 0.1, 0.01 and 0.001. With several objectives it
// returns points around the front.
func incumbents(p Problem, rng *rand.Rand) *mat.Dense {
	n := rowCount(p.Observed)
	if n == 0 {
		return nil
	}
	if len(p.Objectives) > 0 {
		return p.aroundFront(rng)
	}
	mean := make([]float64, n)
	if !p.eachObserved(func(x *mat.Dense, lo, hi int) { surrogate.Means(p.Posterior, mean[lo:hi], x) }) {
		return nil
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	likely := make([]float64, n)
	p.Feasibility(likely, p.Observed)
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(btoi(likely[i] < 0.5), btoi(likely[j] < 0.5)), compare(mean[i], mean[j]))
	})
	_, d := p.Observed.Dims()
	var data []float64
	for _, i := range order[:min(n, bestKept)] {
		x := p.Observed.RawRowView(i)
		data = append(data, x...)
		for k := range perturbations {
			sd := math.Pow(10, -float64(1+k%3))
			for _, v := range x {
				data = append(data, min(max(v+sd*rng.NormFloat64(), 0), 1))
			}
		}
	}
	return mat.NewDense(len(data)/d, d, data)
}
