package fsplaplace

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/autodiff"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/plain"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

// transcript is FSP-Laplace as the paper prints it, with the settings of its experiments on
// optimisation: explicit loops, and gonum for decompositions. Only random numbers and initial
// weights are given.
type transcript struct {
	net    plain.Network
	x      [][]float64 // training inputs
	y      []float64
	scaled func(x []float64) []float64 // to the network's inputs
	lo, hi []float64                   // box of the context points
	weight float64                     // number of observations that x stands for; 0 is their own

	lengthscale, variance, rate float64

	theta []float64 // w, then ρ
	adam  plain.Adam
}

func newTranscript(d surrogate.Dataset, m Model, w []float64) *transcript {
	n, dim := d.Dims()
	s := &transcript{y: d.Y, lengthscale: m.Lengthscale[0], variance: *m.Variance, rate: 0.005, lo: make([]float64, dim), hi: make([]float64, dim)}
	s.net = append(plain.Network{dim}, m.Hidden...)
	for i := range n {
		s.x = append(s.x, mat.Row(nil, i, d.X))
	}
	_, s.scaled = plain.ZScore(s.x)
	for j := range dim {
		low, high := s.x[0][j], s.x[0][j]
		for _, x := range s.x {
			low, high = min(low, x[j]), max(high, x[j])
		}
		s.lo[j], s.hi[j] = low-0.5*(high-low), high+0.5*(high-low)
	}
	s.theta = append(append([]float64(nil), w...), plain.Inverse(0.3))
	return s
}

func (s *transcript) kernel(a, b []float64) float64 {
	return plain.Matern52(a, b, s.lengthscale, s.variance)
}

// gram returns K with the authors' jitter.
func (s *transcript) gram(c [][]float64) *mat.SymDense {
	k := mat.NewSymDense(len(c), nil)
	for i := range c {
		for j := i; j < len(c); j++ {
			k.SetSym(i, j, s.kernel(c[i], c[j]))
		}
		k.SetSym(i, i, k.At(i, i)+1e-10)
	}
	return k
}

// uniform draws context points.
func (s *transcript) uniform(n int, rng *rand.Rand) [][]float64 {
	c := make([][]float64, n)
	for i := range c {
		c[i] = make([]float64, len(s.lo))
		for j := range c[i] {
			c[i][j] = s.lo[j] + (s.hi[j]-s.lo[j])*rng.Float64()
		}
	}
	return c
}

// objective returns lines 1 and 3 of Algorithm 1 for a batch of the observations, and the gradient.
func (s *transcript) objective(c [][]float64, batch []int) (float64, []float64) {
	scale := float64(len(s.x)) / float64(len(batch))
	if s.weight > 0 {
		scale = s.weight / float64(len(batch))
	}
	last := len(s.theta) - 1
	w, rho, grad := s.theta[:last], s.theta[last], make([]float64, last+1)
	sd := plain.Softplus(rho)
	value := 0.0
	for _, i := range batch {
		f, row := s.net.Row(w, s.scaled(s.x[i]))
		e := s.y[i] - f
		value += scale * (0.5*math.Log(2*math.Pi) + math.Log(sd) + e*e/(2*sd*sd))
		for k, v := range row {
			grad[k] -= scale * e / (sd * sd) * v
		}
		grad[last] += scale * (1/sd - e*e/(sd*sd*sd)) * plain.Logistic(rho)
	}
	f, rows := mat.NewVecDense(len(c), nil), make([][]float64, len(c))
	for i := range c {
		var v float64
		v, rows[i] = s.net.Row(w, s.scaled(c[i]))
		f.SetVec(i, v)
	}
	var chol mat.Cholesky
	chol.Factorize(s.gram(c))
	solved := new(mat.VecDense)
	if err := chol.SolveVecTo(solved, f); err != nil {
		panic(err)
	}
	value += 0.5 * mat.Dot(f, solved)
	for i, row := range rows {
		for k, v := range row {
			grad[k] += solved.AtVec(i) * v
		}
	}
	return value, grad
}

// train runs Algorithm 1 with the authors' stopping rule, and returns θ with the smallest
// objective.
func (s *transcript) train(steps, context int, rng *rand.Rand) []float64 {
	best, least, stale := []float64(nil), math.Inf(1), 0
	for step := 0; step < steps && stale < 5; step++ {
		c := s.uniform(context, rng)
		value, grad := s.objective(c, subset.All(len(s.x)))
		if step%10 == 0 {
			if stale++; value < least {
				best, least, stale = append([]float64(nil), s.theta...), value, 0
			}
		}
		s.adam.Step(s.rate, s.theta, grad)
	}
	return best
}

// lanczos is line 2 of Algorithm 2: Lanczos iteration with full reorthogonalisation and the
// factor L_T D L_Tᵀ of the tridiagonal matrix T = QᵀKQ (Golub and Van Loan, sections 10.1 and
// 11.3.5). The columns of L = Q L_T⁻ᵀ D^(-1/2) are K-orthonormal. It ends at 500 columns, or at the
// authors' residual of the system K x = v.
func lanczosByRecurrence(k *mat.SymDense, v []float64) [][]float64 {
	n := len(v)
	norm := math.Sqrt(dot(v, v))
	q := make([]float64, n)
	for i := range q {
		q[i] = v[i] / norm
	}
	var basis, columns [][]float64
	var c []float64
	beta, d, product := 0.0, 0.0, 1.0
	for len(basis) < min(n, 500) {
		basis = append(basis, q)
		r := make([]float64, n)
		for i := range r {
			for j := range q {
				r[i] += k.At(i, j) * q[j]
			}
		}
		alpha := dot(q, r)
		if c == nil {
			c, d = append([]float64(nil), q...), alpha
		} else {
			l := beta / d
			next := make([]float64, n)
			for i := range next {
				next[i] = q[i] - l*c[i]
			}
			c, d, product = next, alpha-beta*l, product*l
		}
		column := make([]float64, n)
		for i := range column {
			column[i] = c[i] / math.Sqrt(d)
		}
		columns = append(columns, column)
		for range 2 {
			for _, b := range basis {
				along := dot(b, r)
				for i := range r {
					r[i] -= along * b[i]
				}
			}
		}
		beta = math.Sqrt(dot(r, r))
		if beta*product/d <= math.Sqrt(0x1p-52) {
			break
		}
		q = make([]float64, n)
		for i := range q {
			q[i] = r[i] / beta
		}
	}
	return columns
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// covariance is Algorithm 2. It returns S, and its number of columns before the truncation.
func (s *transcript) covariance(w []float64, sd float64, c [][]float64) (root *mat.Dense, rank int) {
	p := len(w)
	jc := mat.NewDense(len(c), p, nil)
	v := make([]float64, len(c))
	for i := range c {
		_, row := s.net.Row(w, s.scaled(c[i]))
		jc.SetRow(i, row)
		for _, e := range row {
			v[i] += e
		}
	}
	columns := lanczosByRecurrence(s.gram(c), v)
	m := mat.NewDense(p, len(columns), nil)
	for r, column := range columns {
		var product mat.VecDense
		product.MulVec(jc.T(), mat.NewVecDense(len(c), column))
		m.SetCol(r, product.RawVector().Data)
	}
	var svd mat.SVD
	svd.Factorize(m, mat.SVDThin)
	var u mat.Dense
	svd.UTo(&u)
	values := svd.Values(nil)
	for rank < len(values) && values[rank] > math.Sqrt(0x1p-52) { // as in the authors' code
		rank++
	}
	u = *u.Slice(0, p, 0, rank).(*mat.Dense)
	a := mat.NewSymDense(rank, nil)
	for i := range rank {
		a.SetSym(i, i, values[i]*values[i])
	}
	for _, x := range s.x {
		_, row := s.net.Row(w, s.scaled(x))
		var ju mat.VecDense
		ju.MulVec(u.T(), mat.NewVecDense(p, row))
		a.SymRankOne(a, 1/(sd*sd), &ju)
	}
	var eigen mat.EigenSym
	eigen.Factorize(a, true)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	sums := make([]float64, len(c))
	out := mat.NewDense(p, rank, nil)
	values = eigen.Values(nil)
	kept := 0
	for k := rank - 1; k >= 0 && values[k] > 0; k-- {
		var column, at mat.VecDense
		column.MulVec(&u, vectors.ColView(k))
		column.ScaleVec(1/math.Sqrt(values[k]), &column)
		at.MulVec(jc, &column)
		for i := range c {
			if sums[i] += at.AtVec(i) * at.AtVec(i); sums[i] > s.kernel(c[i], c[i]) {
				return out.Slice(0, p, 0, kept).(*mat.Dense), rank
			}
		}
		out.SetCol(kept, column.RawVector().Data)
		kept++
	}
	return out.Slice(0, p, 0, kept).(*mat.Dense), rank
}

// publishedProblem returns noisy observations of two inputs and the published preset of a size for
// tests.
func publishedProblem(n int, lengthscale float64, hidden ...int) (surrogate.Dataset, Model) {
	rng := random.New(1, "data", 0)
	d := surrogate.Dataset{X: mat.NewDense(n, 2, nil), Y: make([]float64, n), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	for i := range n {
		a, b := rng.Float64(), rng.Float64()
		d.X.SetRow(i, []float64{a, b})
		d.Y[i] = math.Sin(6*a)*math.Cos(3*b) + 0.1*rng.NormFloat64()
	}
	return d, Model{
		Preset: surrogate.Published, Spec: prior.Spec{Lengthscale: []float64{lengthscale}, Variance: new(1.0)},
		Network: surrogate.Network{Hidden: hidden}, Context: 15, CovarianceContext: 40,
	}
}

// Each step of the published training is a step of Algorithm 1, with all observations or with a batch
// drawn at each step. The objective that ends training early has all of them.
func TestPublishedTrainingIsAlgorithm1(t *testing.T) {
	for name, batch := range map[string]int{"all": 25, "batch": 7} {
		t.Run(name, func(t *testing.T) { testPublishedTraining(t, batch) })
	}
}

func testPublishedTraining(t *testing.T, size int) {
	d, m := publishedProblem(25, 0.4, 6, 5)
	m, err := m.resolve(1)
	require.NoError(t, err)
	net, err := domain.Network(m.Network, d)
	require.NoError(t, err)
	fitted, err := m.Spec.Fit(t.Context(), d.X, d.Y, false, nil, random.New(1, "prior", 0))
	require.NoError(t, err)
	p := newProblem(m, net, d, fitted.Process)
	w := net.InitBiased(*m.Bias, 1, p.process.Mean, random.New(1, "weights", 0))

	training, want := p.newAdam(w), newTranscript(d, m, w)
	training.drawn = make([]int, size)
	ours, theirs := random.New(1, "context", 0), random.New(1, "context", 0)
	for step := range 200 {
		before := slices.Clone(training.theta)
		require.NoError(t, training.step(step%10 == 0, ours))
		c, all := want.uniform(15, theirs), subset.All(25)
		if step == 0 {
			value, _ := want.objective(c, all)
			require.InEpsilon(t, value, training.Least, 1e-9, "objective of all observations")
		}
		batch := all
		if size < 25 {
			batch = make([]int, size)
			for i := range batch {
				batch[i] = theirs.IntN(25)
			}
		}
		value, grad := want.objective(c, batch)
		require.InEpsilon(t, value, training.eval(before, nil), 1e-9, "objective")
		want.adam.Step(want.rate, want.theta, grad)
		closeTo(t, want.theta, training.theta, 1e-8)
	}
}

// With held-out observations the objective that ends training has them in place of the others, with the same weight, and
// the result has its minimum.
func TestPublishedTrainingHoldsOut(t *testing.T) {
	all, m := publishedProblem(30, 0.4, 6, 5)
	m.HeldOut = 0.2
	m, err := m.resolve(1)
	require.NoError(t, err)
	d, held := domain.HoldOut(all, m.HeldOut, random.New(1, "held out", 0))
	require.Len(t, held.Y, 6)
	net, err := domain.Network(m.Network, d)
	require.NoError(t, err)
	fitted, err := m.Spec.Fit(t.Context(), d.X, d.Y, false, nil, random.New(1, "prior", 0))
	require.NoError(t, err)
	p := newProblem(m, net, d, fitted.Process)
	p.held = held
	w := net.InitBiased(*m.Bias, 1, p.process.Mean, random.New(1, "weights", 0))

	training, want := p.newAdam(w), newTranscript(d, m, w)
	require.Equal(t, 100, training.Patience)
	validation := *want
	validation.x, validation.y, validation.weight = autodiff.Rows(held.X), held.Y, 24
	ours, theirs := random.New(1, "context", 0), random.New(1, "context", 0)
	least, best := math.Inf(1), []float64(nil)
	for step := range 600 {
		require.NoError(t, training.step(step%10 == 0, ours))
		c := want.uniform(15, theirs)
		if step%10 == 0 {
			validation.theta = want.theta
			if value, _ := validation.objective(c, subset.All(6)); value < least {
				least, best = value, slices.Clone(want.theta)
			}
			require.InEpsilon(t, least, training.Least, 1e-6)
		}
		_, grad := want.objective(c, subset.All(24))
		want.adam.Step(want.rate, want.theta, grad)
	}
	closeTo(t, best, training.Best, 1e-6)

	post, err := m.Fit(t.Context(), all, random.New(1, "fit", 0))
	require.NoError(t, err)
	rows, _ := post.(*posterior).x.Dims()
	require.Equal(t, 24, rows, "the posterior has the training observations")
	_, err = Model{HeldOut: 0.1}.Fit(t.Context(), all, random.New(1, "fit", 0))
	require.ErrorIs(t, err, settings.ErrValue)
	require.EqualError(t, err, "fsp-laplace: held-out is 0.1, which needs trainer=adam, as in preset=published")
	require.Equal(t, err, surrogate.Check(Model{HeldOut: 0.1}, 2))
	labels := surrogate.Labels{X: all.X, Y: make([]int, 30), Classes: 2}
	_, err = m.FitLabels(t.Context(), labels, random.New(1, "fit", 0))
	require.EqualError(t, err, "fsp-laplace: held-out is 0.2, but labels are not held out")
}

// closeTo requires that the distance of two vectors is small relative to their length.
func closeTo(t *testing.T, want, got []float64, tol float64) {
	t.Helper()
	require.Len(t, got, len(want))
	var far, size float64
	for i, v := range want {
		far += (v - got[i]) * (v - got[i])
		size += v * v
	}
	require.LessOrEqual(t, math.Sqrt(far/size), tol)
}

// A published fit has the mean, the covariance and the noise of Algorithms 1 and 2.
func TestPublishedFitIsThePapers(t *testing.T) {
	for name, c := range map[string]struct {
		n           int
		lengthscale float64
		hidden      []int
	}{
		"smooth":      {30, 0.6, []int{8, 8}},
		"rough":       {12, 0.15, []int{10, 10}},
		"few weights": {30, 0.4, []int{5}},
	} {
		t.Run(name, func(t *testing.T) {
			d, m := publishedProblem(c.n, c.lengthscale, c.hidden...)
			m.Steps = 400
			post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			resolved, err := m.resolve(1)
			require.NoError(t, err)

			rng := random.New(1, "fit", 0)
			random.Split(rng, "prior", 0)
			net, err := domain.Network(resolved.Network, d)
			require.NoError(t, err)
			w := net.InitBiased(0, 1, 0, random.Split(rng, "weights", 0))
			rng = random.Split(rng, "context", 0)
			p := newProblem(resolved, net, d, post.(*posterior).process)
			design, _ := p.contextPoints(40, rng)

			s := newTranscript(d, resolved, w)
			best := s.train(400, 15, rng)
			w, sd := best[:len(w)], plain.Softplus(best[len(w)])
			require.InEpsilon(t, sd*sd, post.Noise(), 1e-7)
			context := make([][]float64, 40)
			for i := range context {
				context[i] = mat.Row(nil, i, design)
			}
			root, rank := s.covariance(w, sd, context)
			_, kept := root.Dims()
			t.Logf("kept %d of %d columns", kept, rank)
			require.Equal(t, kept, post.(*posterior).factor.rank())

			at := p.box.Uniform(7, random.New(2, "at", 0))
			mean, cov := make([]float64, 7), mat.NewSymDense(7, nil)
			post.Joint(mean, cov, at)
			wantMean, wantCov := make([]float64, 7), mat.NewDense(7, kept, nil)
			for i := range 7 {
				var row []float64
				wantMean[i], row = s.net.Row(w, s.scaled(mat.Row(nil, i, at)))
				var js mat.VecDense
				js.MulVec(root.T(), mat.NewVecDense(len(row), row))
				wantCov.SetRow(i, js.RawVector().Data)
			}
			closeTo(t, wantMean, mean, 1e-8)
			var full mat.Dense
			full.Mul(wantCov, wantCov.T())
			closeTo(t, full.RawMatrix().Data, mat.DenseCopyOf(cov).RawMatrix().Data, 1e-6)
		})
	}
}

// The numbers of the paper's appendix B.2 and of the authors' code (docs/methods/fsp-laplace.md).
func TestPublishedNumbers(t *testing.T) {
	m, err := Model{Preset: surrogate.Published}.resolve(2)
	require.NoError(t, err)
	require.Equal(t, []int{50, 50}, m.Hidden)
	require.Equal(t, []any{"matern52", true, prior.MeanZero, "tanh", 0.}, []any{m.Kernel, *m.Isotropic, m.Mean, m.Activation, *m.Bias})
	require.Equal(t, []any{400, 10_000, 10_000, 0.005, 0.3}, []any{m.Context, m.CovarianceContext, m.Steps, m.Rate, m.NoiseStart})
	require.Equal(t, 500, adamBatch)
	require.Equal(t, 500, lanczosRank)
	require.Equal(t, math.Sqrt(0x1p-52), lanczosTolerance)
	require.Equal(t, math.Sqrt(0x1p-52), singularTolerance)
	require.Equal(t, 1e-10, contextJitter)
}

// The context points of the covariance are a Latin hypercube: in each input every n-th part of the
// box has one of n points.
func TestPublishedContextIsALatinHypercube(t *testing.T) {
	const n = 101
	d, m := publishedProblem(9, 0.4, 5)
	m, err := m.resolve(2)
	require.NoError(t, err)
	net, err := domain.Network(m.Network, d)
	require.NoError(t, err)
	p := newProblem(m, net, d, prior.Process{Kernel: prior.Matern52(2)})
	x, _ := p.contextPoints(n, random.New(1, "context", 0))
	for j := range 2 {
		column := mat.Col(nil, j, d.X)
		lo, hi := slices.Min(column), slices.Max(column)
		lo, hi = lo-0.5*(hi-lo), hi+0.5*(hi-lo)
		strata := map[int]bool{}
		for i := range n {
			strata[int(math.Floor(n*(x.At(i, j)-lo)/(hi-lo)))] = true
		}
		require.Len(t, strata, n)
		require.True(t, strata[0] && strata[n-1])
	}
}

// With nothing fixed the prior of standardised inputs has the largest marginal likelihood, without hyperpriors and
// with the mean 0: its slope in the logarithm of each hyperparameter is 0, or a bound stops it.
func TestPublishedPriorHasTheLargestLikelihood(t *testing.T) {
	for _, n := range []int{25, 60} {
		d, m := publishedProblem(n, 0.4, 5)
		m.Spec, m.Steps = prior.Spec{}, 10
		for i := range d.Y {
			d.Y[i] += 0.3 * math.Sin(40*float64(i)) // noise above its bound
		}
		post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		h := map[string]float64{}
		for _, p := range post.(surrogate.Describer).Hypers() {
			h[p.Name] = p.Value
		}
		require.Zero(t, h["mean"])
		theta := []float64{math.Log(h["lengthscale"]), math.Log(h["variance"]), math.Log(post.(*posterior).process.Noise)}
		require.Greater(t, theta[2], math.Log(1.01e-4))
		kernel := func(v []float64) func(a, b []float64) float64 {
			return func(a, b []float64) float64 { return plain.Matern52(a, b, v[0], v[1]) }
		}
		for i, slope := range plain.LikelihoodSlopes(theta, kernel, autodiff.Rows(domain.ZScore(d.X).Apply(d.X)), d.Y) {
			require.InDelta(t, 0, slope, 0.01, "hyperparameter %d", i)
		}
	}
}

// Without a bound the learned noise can be smaller than by default.
func TestPublishedNoiseHasNoBound(t *testing.T) {
	d, m := publishedProblem(10, 0.4, 5)
	m.NoiseStart, m.Steps = 1e-4, 1
	post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.InEpsilon(t, 1e-8, post.Noise(), 1e-9)
}

// Other settings replace published values.
func TestSettingsBesideThePreset(t *testing.T) {
	m, err := Model{Preset: surrogate.Published, Factor: "ridge", Bias: new(0.5), Spec: prior.Spec{Isotropic: new(false), Mean: prior.MeanConstant}}.resolve(1)
	require.NoError(t, err)
	require.Equal(t, []any{"adam", "ridge", "data", 0.5, false, prior.MeanConstant, 10000},
		[]any{m.Trainer, m.Factor, m.Scaling, *m.Bias, *m.Isotropic, m.Mean, m.Steps})
	require.True(t, surrogate.StatesPrior(m))
	require.False(t, surrogate.StatesPrior(Model{}))
}

func TestConformanceOfThePreset(t *testing.T) {
	_, m := publishedProblem(1, 0.4, 10, 10)
	m.Spec, m.Steps = prior.Spec{}, 200
	surrogatetest.Options{Fast: true}.Run(t, m)
}

// Far from few observations the variance exceeds the prior's, with a warning. In the box of the context
// points it does not.
func TestPublishedWarnsOfALargeVariance(t *testing.T) {
	racetest.SkipNumerical(t)
	for box, want := range map[string]bool{"data": true, "search": false} {
		d, m := publishedProblem(3, 1, 20, 20)
		d.Lo, d.Hi = []float64{-0.5, -0.5}, []float64{1.5, 1.5}
		m.Box, m.Steps, m.CovarianceContext = box, 200, 400
		post, err := m.Fit(t.Context(), d, random.New(1, "fit", 0))
		require.NoError(t, err)
		x := domain.Box{Lo: d.Lo, Hi: d.Hi}.Uniform(200, random.New(2, "at", 0))
		mean, variance := make([]float64, 200), make([]float64, 200)
		post.Predict(mean, variance, x)
		require.Equal(t, want, slices.Max(variance) > 2, box)
		warned := slices.ContainsFunc(post.Warnings(), func(w string) bool {
			return strings.HasPrefix(w, "the variance exceeds twice the prior variance in ") && strings.HasSuffix(w, ": set box=search")
		})
		require.Equal(t, want, warned, "%s: %v", box, post.Warnings())
	}
}
