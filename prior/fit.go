package prior

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
)

// ErrData reports observations that no prior can be fitted to: no observations, or
// numbers that are not finite.
var ErrData = errors.New("invalid observations")

// Fitted is a prior with hyperparameters fitted to data.
type Fitted struct {
	Process
	LogMarginal float64   // log marginal likelihood in nats, hyperpriors excluded
	State       []float64 // log of the learned hyperparameters, the warm start of a later fit
	Hypers      []Hyper   // all hyperparameters, for display
	Warnings    []string  // added jitter, hyperparameters at a bound
}

// Hyper is the value of a named hyperparameter.
type Hyper struct {
	Name  string
	Value float64
	Fixed bool
}

// Fit maximises
//
//	log N(y; μ1, K + σ²I) + Σ log p(θ)
//
// over the hyperparameters θ that s does not fix, by bounded L-BFGS in log θ. After WithNoises entries of the diagonal of
// σ²I are the known variances. The
// hyperpriors are densities of θ, not of log θ; after ByLikelihood they are omitted. A learned mean is the
// generalised-least-squares estimate μ = 1ᵀA⁻¹y / 1ᵀA⁻¹1 with A = K + σ²I. At it the derivative with respect to
// μ vanishes.
//
// x is n×d with n ≥ 1; y has length n. With noiseFree, y is exact: the lower bound of
// the noise variance is 1e-8 instead of 1e-4, and its hyperprior is almost flat. The
// first start is the argument start, the State of an earlier fit, if it has the right
// length. The next start is the modes of the hyperpriors (for the noise of exact data,
// the mean), and the others are draws. Starts run on all processors. The result depends
// only on the arguments and the state of rng. A step costs O(n³).
//
// Let m be 250, or five for each hyperparameter if that is more. From 2m rows on, the starts search on m to
// 2m-1 random rows. The best result continues on twice as many rows until all are used. Each of these searches
// ends at a predicted gain of 0.005 nats. With fewer rows, or a kernel of several parts or with a learned
// period, all starts search on all rows. With more than 2000 rows the search uses 2000 random rows; the mean
// and the log marginal likelihood use all.
//
// A noise variance at its lower bound gives no warning: clean data lead to it. Nor does a lengthscale at
// its lower bound, unless at least half of the observations have a correlation below ½ with all others.
func (s Spec) Fit(ctx context.Context, x *mat.Dense, y []float64, noiseFree bool, start []float64, rng *rand.Rand) (Fitted, error) {
	if err := checkData(x, y); err != nil {
		return Fitted{}, err
	}
	n, dim := x.Dims()
	m, err := s.model(dim, noiseFree)
	if err != nil {
		return Fitted{}, err
	}
	data := s.observations(x, y)
	theta := m.start()
	if len(m.free) > 0 {
		starts := s.Restarts
		switch {
		case starts > 0:
		case manyOptima(m.kernel):
			starts = manyOptimaStarts
		case n >= manyRows:
			starts = manyRowsStarts
		default:
			starts = defaultStarts
		}
		begin := m.starts(starts, start, rng)
		part := data
		if n > maxRows {
			part = data.take(rng.Perm(n)[:maxRows])
		}
		var best []float64
		if n >= 2*m.leastRows() && !manyOptima(m.kernel) {
			best, err = m.searchInStages(ctx, part, begin, len(start) == len(m.free), rng)
		} else {
			var found optimize.Result
			found, err = m.search(ctx, func() *objective { return newObjective(m, part) }, begin, optimize.Settings{MaxIter: 200, GradTol: 1e-3, FuncTol: 1e-8})
			best = found.X
		}
		if err != nil {
			return Fitted{}, err
		}
		m.unpack(theta, best)
	}
	return m.finish(ctx, data, theta)
}

// At returns the prior with the hyperparameters of a State in place of a search. The mean, the log marginal
// likelihood and the warnings are as in Fit for the observations. At costs O(n³).
func (s Spec) At(ctx context.Context, x *mat.Dense, y []float64, noiseFree bool, state []float64) (Fitted, error) {
	if err := checkData(x, y); err != nil {
		return Fitted{}, err
	}
	_, dim := x.Dims()
	m, err := s.model(dim, noiseFree)
	if err != nil {
		return Fitted{}, err
	}
	checkLen("state", len(state), len(m.free))
	theta := m.start()
	m.unpack(theta, state)
	return m.finish(ctx, s.observations(x, y), theta)
}

// manyOptima reports whether k has several parts or a learned period. The method Unwrap of a kernel written
// in another package returns the kernel of which it maps the inputs.
func manyOptima(k Kernel) bool {
	switch k := k.(type) {
	case sum, product:
		return true
	case scaled:
		return manyOptima(k.inner)
	case interface{ Unwrap() Kernel }:
		return manyOptima(k.Unwrap())
	}
	for _, p := range k.Params() {
		if baseName(p.Name) == "period" && !p.Fixed {
			return true
		}
	}
	return false
}

func checkData(x *mat.Dense, y []float64) error {
	if x == nil || x.IsEmpty() {
		return fmt.Errorf("%w: none", ErrData)
	}
	n, _ := x.Dims()
	checkLen("y", len(y), n)
	for i, v := range y {
		if !finite(v) {
			return fmt.Errorf("%w: target %d is %v", ErrData, i+1, v)
		}
		for j, v := range x.RawRowView(i) {
			if !finite(v) {
				return fmt.Errorf("%w: input %d of row %d is %v", ErrData, j+1, i+1, v)
			}
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// starts returns k starting points in the space of the free log hyperparameters.
func (m model) starts(k int, warm []float64, rng *rand.Rand) [][]float64 {
	var out [][]float64
	if len(warm) == len(m.free) && !floats.HasNaN(warm) {
		out = append(out, append([]float64(nil), warm...))
	}
	mode := make([]float64, len(m.free))
	for i, at := range m.free {
		mode[i] = math.Log(m.params[at].Value)
	}
	out = append(out, mode)
	for len(out) < k {
		draw := make([]float64, len(m.free))
		for i, at := range m.free {
			p := m.params[at]
			if p.Prior == nil {
				draw[i] = math.Log(p.Lo) + rng.Float64()*math.Log(p.Hi/p.Lo)
			} else {
				draw[i] = math.Log(p.Prior.Sample(rng))
			}
		}
		out = append(out, draw)
	}
	out = out[:k]
	lo, hi := m.bounds()
	for _, t := range out {
		for i := range t {
			t[i] = min(max(t[i], lo[i]), hi[i])
		}
	}
	return out
}

func (m model) bounds() (lo, hi []float64) {
	for _, at := range m.free {
		lo, hi = append(lo, math.Log(m.params[at].Lo)), append(hi, math.Log(m.params[at].Hi))
	}
	return lo, hi
}

// unpack writes exp(free) to the free entries of the hyperparameters theta.
func (m model) unpack(theta, free []float64) {
	for i, at := range m.free {
		theta[at] = math.Exp(free[i])
	}
}

// searchInStages searches from all starts on few random rows, and continues from the best result on
// twice as many rows until it uses all. The likelihood of few rows has its maximum near the maximum
// of all rows, so that most steps are cheap. Its Hessian is about proportional to the number of rows. Each
// stage therefore begins with the scaled model of the Hessian of the stage before (docs/adr/0038). A stage ends
// when the model predicts a gain of at most stageGain. If the first start is an earlier fit, it is close, and
// the stages between the first and the last are left out.
//
// Few rows do not show ripples. The last stage has several candidates for its start: the result so far, this
// result with one lengthscale divided by ripple, and the first start. The better half of them by the likelihood
// of half of the rows is compared on all rows. The stage begins at the best.
//
// Few rows hardly tell noise from short lengthscales, and the hyperprior then prefers little noise. So a noisy search passes
// through the stages before the last. The last stage begins at its result if the posterior density of all rows is
// larger there (docs/adr/0049).
func (m model) searchInStages(ctx context.Context, data observations, starts [][]float64, warm bool, rng *rand.Rand) ([]float64, error) {
	n := len(data.y)
	order, rows := rng.Perm(n), n
	for rows >= 2*m.leastRows() {
		rows = (rows + 1) / 2
	}
	from, set := starts, optimize.Settings{MaxIter: 200, GradTol: 1e-2, FuncTol: 1e-6, Gain: stageGain}
	noisy := m.noisySearch(data.y, set)
	for {
		of := func(m model, rows int) *objective {
			return newObjective(m, data.take(order[:rows]))
		}
		given := func(rows int) *objective { return of(m, rows) }
		evaluate := func() *objective { return given(rows) }
		if rows == n {
			all := given(rows)
			evaluate = func() *objective { return all } // for one start
			from = append(m.rippled(from[0]), starts[0])
			from = given(rows/2).likeliest(ctx, from, (len(from)+1)/2)
			from = all.likeliest(ctx, append(from, noisy.results()...), 1)
		}
		best, err := m.search(ctx, evaluate, from, set)
		if err != nil || rows == n {
			return best.X, err
		}
		next := min(2*rows, n)
		if warm {
			next = n
		}
		growth := float64(next) / float64(rows)
		if err := noisy.stage(ctx, best.X, func() *objective { return of(noisy.model, rows) }, growth); err != nil {
			return nil, err
		}
		from, set.Curvature = [][]float64{best.X}, best.Curvature.Times(growth)
		rows = next
	}
}

// noisySearch is a search in stages with half of the variance of the targets as a fixed noise variance. It ends if the other
// search finds more than a part of this noise.
type noisySearch struct {
	model
	noise float64     // logarithm
	from  [][]float64 // start of the next stage without the noise, nil after the end
	set   optimize.Settings
}

// noisySearch returns the search before its first stage. If the noise is fixed or the only free hyperparameter, or if the
// values are declared exact, it has ended.
func (m model) noisySearch(y []float64, set optimize.Settings) *noisySearch {
	last := len(m.params) - 1
	if p := m.params[last]; p.Fixed || p.Lo < noiseFloor || len(m.free) == 1 {
		return &noisySearch{}
	}
	s := &noisySearch{model: m, noise: math.Log(stat.Variance(y, nil) / 2), set: set}
	s.params = slices.Clone(m.params)
	s.params[last].Value, s.params[last].Fixed = math.Exp(s.noise), true
	s.free = m.free[:len(m.free)-1]
	s.from = s.starts(1, nil, nil)
	return s
}

// stage searches unless the search has ended. best is the result of the other search in this stage, and growth the factor of
// the number of rows to the next. The error is the context's.
func (s *noisySearch) stage(ctx context.Context, best []float64, evaluate func() *objective, growth float64) error {
	if s.from == nil || best[len(best)-1] > s.noise-math.Log(littleNoise) {
		s.from = nil
		return nil
	}
	found, err := s.search(ctx, evaluate, s.from, s.set)
	if err != nil {
		s.from = nil
		return ctx.Err()
	}
	s.from, s.set.Curvature = [][]float64{found.X}, found.Curvature.Times(growth)
	return nil
}

// results returns the result of the last stage with the noise, or nothing after the end.
func (s *noisySearch) results() [][]float64 {
	if s.from == nil {
		return nil
	}
	return [][]float64{append(slices.Clone(s.from[0]), s.noise)}
}

// leastRows returns the smallest number of rows of a stage. With fewer rows for each hyperparameter, the
// posterior density is often largest at lengthscales so short that the values are independent. Later stages do
// not leave this mode (docs/adr/0031).
func (m model) leastRows() int { return max(leastRows, rowsPerHyper*len(m.free)) }

// likeliest returns the k candidates of largest posterior density, the best first; ties go to the
// earlier one.
func (e *objective) likeliest(ctx context.Context, candidates [][]float64, k int) [][]float64 {
	density := make([]float64, len(candidates))
	for i, c := range candidates {
		density[i] = -e.loss(ctx, c, nil)
	}
	order := subset.All(len(candidates))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(density[j], density[i]) }) // NaN last
	best := make([][]float64, k)
	for i := range best {
		best[i] = candidates[order[i]]
	}
	return best
}

// rippled returns the free log hyperparameters, and copies of them with one lengthscale divided by
// ripple.
func (m model) rippled(free []float64) [][]float64 {
	out := [][]float64{free}
	for i, at := range m.free {
		if baseName(m.params[at].Name) == "lengthscale" {
			short := append([]float64(nil), free...)
			short[i] -= math.Log(ripple)
			out = append(out, short)
		}
	}
	return out
}

// search returns the best result of the given starts; ties go to the earlier start. Each start calls
// evaluate once.
func (m model) search(ctx context.Context, evaluate func() *objective, starts [][]float64, set optimize.Settings) (optimize.Result, error) {
	lo, hi := m.bounds()
	loss := func() func(free, grad []float64) float64 {
		e := evaluate()
		return func(free, grad []float64) float64 { return e.loss(ctx, free, grad) }
	}
	best, err := optimize.Multistart(ctx, loss, starts, lo, hi, set)
	if err != nil {
		return best, err
	}
	if math.IsInf(best.F, 1) {
		return best, fmt.Errorf("prior: no start of the fit has a finite likelihood: %w", linalg.ErrNotPositiveDefinite)
	}
	return best, nil
}

// finish returns the fit at the hyperparameters theta.
func (m model) finish(ctx context.Context, data observations, theta []float64) (Fitted, error) {
	f := Fitted{Process: m.process(theta)}
	e := newEvidence(m, data)
	f.Kernel.Gram(e.gram, data.x)
	data.addNoise(e.gram, f.Noise)
	if err := e.factorize(ctx); err != nil {
		return Fitted{}, fmt.Errorf("prior: %w", err)
	}
	f.Mean, f.LogMarginal = e.mean, e.logMarginal
	if e.chol.Jitter() > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("the covariance is nearly singular, jitter %.1g makes predictions less accurate: set noise higher", e.chol.Jitter()))
	}
	for i, p := range m.params {
		f.Hypers = append(f.Hypers, Hyper{p.Name, theta[i], p.Fixed})
		if p.Fixed {
			continue
		}
		f.State = append(f.State, math.Log(theta[i]))
		if p.onBound(theta[i]) && (baseName(p.Name) != "lengthscale" || uncorrelated(e.gram, data, f.Noise)) {
			name, remedy, higher := p.Name, "scale inputs and targets", ", or set noise higher"
			if input := m.inputOf(p.Name); input != "" {
				name += " of " + input
			}
			if len(m.inputs) > 0 && baseName(p.Name) == "lengthscale" { // a study has scaled the inputs
				remedy, higher = "neighbouring values look unrelated, by noise or by fast ripples", "; set noise higher if it is noise"
			}
			if m.params[len(m.params)-1].Fixed {
				remedy += higher
			}
			f.Warnings = append(f.Warnings, fmt.Sprintf("%s is at its bound %.3g, the fit may be poor: %s", name, theta[i], remedy))
		}
	}
	f.Hypers = append(f.Hypers, Hyper{"mean", f.Mean, !m.mean})
	return f, nil
}

// inputOf returns the name of the input that has the column of a hyperparameter such as lengthscale[2], or "" if it
// has no name.
func (m model) inputOf(hyper string) string {
	if j, ok := inputIndex(hyper); ok {
		for _, in := range m.inputs {
			if in.First <= j && j < in.First+in.Columns {
				return in.Name
			}
		}
	}
	return ""
}

// uncorrelated reports whether at least half of the observations have a prior correlation below ½ with every
// other one. A short lengthscale then overfits. If the observations are dense, as near the optimum of a search
// that has converged, the data determine it. The covariance gram includes the noise, which the correlations do
// not.
func uncorrelated(gram *mat.SymDense, data observations, noise float64) bool {
	n := gram.SymmetricDim()
	variance := make([]float64, n) // of f
	for i := range variance {
		variance[i] = gram.At(i, i) - data.noise(i, noise)
	}
	alone := 0
	for i := range n {
		isolated := true
		for j := 0; j < n && isolated; j++ {
			isolated = j == i || gram.At(i, j) < 0.5*math.Sqrt(variance[i]*variance[j])
		}
		if isolated {
			alone++
		}
	}
	return 2*alone >= n
}

// onBound reports whether a fitted value is on a bound that makes the fit doubtful. It
// excludes the lower bound of the noise (the data are exact) and the upper bound of a
// lengthscale (the input has no effect). Rounding of the logarithm is allowed for.
func (p Param) onBound(value float64) bool {
	low, high := value <= p.Lo*(1+1e-9), value >= p.Hi*(1-1e-9)
	return low && p.Name != "noise" || high && !strings.Contains(p.Name, "lengthscale")
}
