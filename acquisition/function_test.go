package acquisition

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/surrogate"
)

var recipes = []Acquisition{EI{}, LogEI{}, PI{}, LCB{}, LCB{Beta: 0.5}, MES{Samples: 5}, Thompson{}, QEI{Samples: 64}, QLogEI{Samples: 64}, LogNEI{Samples: 64}}

// single reports whether a has no function of several points.
func single(a Acquisition) bool {
	switch a.(type) {
	case EI, LogEI, PI, LCB, MES:
		return true
	}
	return false
}

func problem(t testing.TB, d int) Problem {
	p, x, y := newToy(t, d, 12, 1e-4, uint64(d))
	return Problem{Posterior: p, Best: slices.Min(y), Observed: x}
}

func build(t testing.TB, a Acquisition, p Problem, q int) Function {
	f, err := a.Build(t.Context(), p, q, rand.New(rand.NewPCG(9, 9)))
	require.NoError(t, err)
	require.Equal(t, q*p.Posterior.Dim(), f.Dim())
	return f
}

// Gradients agree with finite differences for one candidate and for several, with and
// without pending points, and for posteriors with and without Condition.
func TestGradients(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, d := range []int{1, 3} {
		for _, pending := range []int{0, 2} {
			for _, conditions := range []bool{false, true} {
				if conditions && pending == 0 {
					continue
				}
				for _, a := range recipes {
					for _, q := range []int{1, 3} {
						if q > 1 && single(a) {
							continue
						}
						p := problem(t, d)
						if conditions {
							p.Posterior = conditioner{p.Posterior.(*toy), t}
						}
						if pending > 0 {
							p.Pending = uniform(pending, d, 77)
							_, p.Concurrent = a.(LogNEI)
						}
						f := build(t, a, p, q)
						x := uniform(40, f.Dim(), 5)
						value, grad := make([]float64, 40), mat.NewDense(40, f.Dim(), nil)
						f.Eval(value, grad, x)
						plain := make([]float64, 40)
						f.Eval(plain, nil, x)
						for i := range value {
							require.InDelta(t, plain[i], value[i], 1e-12*max(1, math.Abs(value[i])), "with and without gradient")
						}
						one := make([]float64, 1)
						at := func(x []float64) float64 {
							f.Eval(one, nil, mat.NewDense(1, len(x), x))
							return one[0]
						}
						for i := range 3 {
							row := slices.Clone(x.RawRowView(i))
							require.InDelta(t, value[i], at(row), 1e-9*max(1, math.Abs(value[i])), "batched and alone")
							if _, kinked := a.(QEI); kinked {
								continue
							}
							// The coordinates are scaled by 50, because the smoothing has a scale of 1e-2.
							shift, g := make([]float64, len(row)), make([]float64, len(row))
							for j, v := range grad.RawRowView(i) {
								g[j] = v / 50
							}
							err := gradcheck.Gradient(func(u []float64) float64 {
								y := slices.Clone(row)
								for j := range y {
									y[j] += u[j] / 50
								}
								return at(y)
							}, shift, g, 1e-6)
							require.NoError(t, err, "%T d=%d q=%d pending=%d row %d", a, d, q, pending, i)
						}
					}
				}
			}
		}
	}
}

// QEI has kinks where the best point of a sample changes. Elsewhere its gradient agrees
// with finite differences.
func TestQEIGradient(t *testing.T) {
	p := problem(t, 2)
	p.Pending = uniform(1, 2, 3)
	f := build(t, QEI{Samples: 32}, p, 2)
	x := uniform(8, 4, 6)
	value, grad := make([]float64, 8), mat.NewDense(8, 4, nil)
	f.Eval(value, grad, x)
	good := 0
	for i := range 8 {
		row := x.RawRowView(i)
		worst := 0.0
		for j := range row {
			const h = 1e-6
			v := make([]float64, 2)
			pair := mat.NewDense(2, 4, slices.Concat(row, row))
			pair.Set(0, j, row[j]+h)
			pair.Set(1, j, row[j]-h)
			f.Eval(v, nil, pair)
			worst = max(worst, math.Abs((v[0]-v[1])/(2*h)-grad.At(i, j)))
		}
		if worst < 1e-6 {
			good++
		}
	}
	assert.GreaterOrEqual(t, good, 7)
}

type batchCase struct {
	Mean, Dqei, Dqlogei   []float64
	Cov, Base             [][]float64
	Best, Qei, Qlogei, Ei float64
	Logei                 float64
}

// The values agree with qEI, qLogEI, EI and LogEI of BoTorch for the same moments and
// base samples. BoTorch maximises, so its f is -f.
func TestAgainstBoTorch(t *testing.T) {
	data, err := os.ReadFile("../testdata/acquisition/batch.json")
	require.NoError(t, err)
	var oracle struct{ Cases []batchCase }
	require.NoError(t, json.Unmarshal(data, &oracle))
	require.NotEmpty(t, oracle.Cases)
	for _, c := range oracle.Cases {
		q, n := len(c.Mean), len(c.Base)
		p := &moments{mean: make([]float64, q), cov: mat.NewSymDense(q, nil)}
		for i := range q {
			p.mean[i] = -c.Mean[i]
			for j := range q {
				p.cov.SetSym(i, j, c.Cov[i][j])
			}
		}
		f := &monteCarlo{posterior: p, joint: p, q: q, base: mat.NewDense(n, q, nil), best: make([]float64, n)}
		for s := range n {
			f.best[s] = -c.Best
			for j := range q {
				f.base.Set(s, j, -c.Base[s][j])
			}
		}
		for _, o := range []struct {
			gain  gain
			value float64
			grad  []float64
		}{{positivePart, c.Qei, c.Dqei}, {logPositivePart, c.Qlogei, c.Dqlogei}} {
			f.gain = o.gain
			value := make([]float64, 1)
			f.Eval(value, mat.NewDense(1, q, nil), mat.NewDense(1, q, nil))
			assert.InDelta(t, o.value, value[0], 1e-8*max(1, math.Abs(o.value)), "q=%d best=%v", q, c.Best)
			for j, want := range o.grad {
				assert.InDelta(t, -want, p.mbar[j], 1e-7*max(1, math.Abs(want)), "q=%d best=%v gradient %d", q, c.Best, j)
			}
		}
		one := Problem{Posterior: p, Best: -c.Best}
		for _, o := range []struct {
			recipe Acquisition
			value  float64
		}{{EI{}, c.Ei}, {LogEI{}, c.Logei}} {
			value := make([]float64, 1)
			build(t, o.recipe, one, 1).Eval(value, nil, mat.NewDense(1, 1, nil))
			// In the tail BoTorch's closed forms differ from each other in the tenth digit.
			assert.InDelta(t, o.value, value[0], 1e-9*max(1e-60, math.Abs(o.value)), "%T best=%v", o.recipe, c.Best)
		}
	}
}

// The functions agree with their formulas at one point.
func TestClosedForms(t *testing.T) {
	const mean, s, best = 0.7, 0.4, 0.2
	p := Problem{Posterior: &moments{mean: []float64{mean}, cov: mat.NewSymDense(1, []float64{s * s})}, Best: best}
	z := (best - mean) / s
	phi, cdf := math.Exp(-z*z/2)/math.Sqrt(2*math.Pi), math.Erfc(-z/math.Sqrt2)/2
	ei := s * (phi + z*cdf)
	for _, c := range []struct {
		recipe Acquisition
		want   float64
	}{
		{EI{}, ei}, {LogEI{}, math.Log(ei)}, {PI{}, math.Log(cdf)}, {LCB{}, 2*s - mean}, {LCB{Beta: 9}, 3*s - mean},
	} {
		v := make([]float64, 1)
		build(t, c.recipe, p, 1).Eval(v, nil, mat.NewDense(1, 1, nil))
		assert.InDelta(t, c.want, v[0], 1e-14, "%T", c.recipe)
	}
}

// With many samples, QEI and QLogEI of one point, or of q copies of it, agree with the
// closed form.
func TestBatchOfCopiesIsEI(t *testing.T) {
	p := problem(t, 2)
	x := uniform(5, 2, 8)
	ei, logei := make([]float64, 5), make([]float64, 5)
	build(t, EI{}, p, 1).Eval(ei, nil, x)
	build(t, LogEI{}, p, 1).Eval(logei, nil, x)
	for _, q := range []int{1, 2, 4} {
		copies := mat.NewDense(5, 2*q, nil)
		for i := range 5 {
			copies.SetRow(i, slices.Repeat(x.RawRowView(i), q))
		}
		v := make([]float64, 5)
		build(t, QEI{Samples: 1 << 14}, p, q).Eval(v, nil, copies)
		for i := range v {
			assert.InDelta(t, ei[i], v[i], 2e-3*ei[i]+1e-5, "q=%d", q)
		}
		build(t, QLogEI{Samples: 1 << 14}, p, q).Eval(v, nil, copies)
		for i := range v {
			// fatmax of q equal numbers exceeds them by τ₁ log q.
			if logei[i] > -8 {
				assert.InDelta(t, logei[i]+tauMax*math.Log(float64(q)), v[i], 0.02, "q=%d", q)
			}
		}
	}
}

// QEI is the mean over its samples, which this test computes one by one.
func TestBatchIsTheSampleMean(t *testing.T) {
	p := problem(t, 2)
	p.Pending = uniform(2, 2, 4)
	p.Best++
	f := build(t, QEI{Samples: 8}, p, 2).(*monteCarlo)
	x := uniform(1, 4, 3)
	all := stack(mat.NewDense(2, 2, x.RawRowView(0)), p.Pending)
	mean, cov := make([]float64, 4), mat.NewSymDense(4, nil)
	p.Posterior.Joint(mean, cov, all)
	for i := range 4 {
		cov.SetSym(i, i, cov.At(i, i)+minVariance)
	}
	var c mat.Cholesky
	require.True(t, c.Factorize(cov))
	var l mat.TriDense
	c.LTo(&l)
	var want float64
	for s := range 8 {
		var y mat.VecDense
		y.MulVec(&l, f.base.RowView(s))
		low := math.Inf(1)
		for j := range 4 {
			low = min(low, mean[j]+y.AtVec(j))
		}
		want += max(p.Best-low, 0) / 8
	}
	got := make([]float64, 1)
	f.Eval(got, nil, x)
	assert.InDelta(t, want, got[0], 1e-12)
	assert.Positive(t, want)
}

// QEI is at least the QEI of the pending points alone, and converges with the samples.
func TestPendingBelongToTheBatch(t *testing.T) {
	p := problem(t, 2)
	x := uniform(1, 2, 3)
	v := make([]float64, 1)
	build(t, QEI{Samples: 1 << 13}, p, 2).Eval(v, nil, mat.NewDense(1, 4, slices.Concat(x.RawRowView(0), []float64{0.3, 0.6})))
	w := make([]float64, 1)
	p.Pending = mat.NewDense(1, 2, []float64{0.3, 0.6})
	build(t, QEI{Samples: 1 << 13}, p, 1).Eval(w, nil, x)
	assert.Equal(t, v, w)
}

func TestBaseSamplesAreNormal(t *testing.T) {
	z := baseSamples(1<<12, 3, rand.New(rand.NewPCG(1, 1)))
	var second mat.Dense
	second.Mul(z.T(), z)
	for i := range 3 {
		var sum float64
		for s := range 1 << 12 {
			sum += z.At(s, i)
		}
		assert.InDelta(t, 0, sum/(1<<12), 1e-3)
		for j := range 3 {
			want := 0.0
			if i == j {
				want = 1
			}
			assert.InDelta(t, want, second.At(i, j)/(1<<12), 0.01)
		}
	}
}

// Without noise LogNEI agrees with LogEI for the best observed value.
func TestLogNEIWithoutNoise(t *testing.T) {
	toy, x, y := newToy(t, 2, 12, 1e-10, 3)
	p := Problem{Posterior: toy, Best: slices.Min(y), Observed: x}
	at := uniform(6, 2, 4)
	v, w := make([]float64, 6), make([]float64, 6)
	build(t, LogNEI{Samples: 1 << 12}, p, 1).Eval(v, nil, at)
	build(t, LogEI{}, p, 1).Eval(w, nil, at)
	for i := range v {
		if w[i] > -6 {
			assert.InDelta(t, w[i], v[i], 0.05)
		}
	}
}

// With noise LogNEI is finite at evaluated points, and agrees with plain Monte Carlo over
// all evaluated points.
func TestLogNEIAgainstMonteCarlo(t *testing.T) {
	toy, x, _ := newToy(t, 1, 8, 0.1, 5)
	p := Problem{Posterior: toy, Observed: x, Best: math.NaN()}
	rng := rand.New(rand.NewPCG(3, 3))
	f := build(t, LogNEI{Samples: 1 << 12}, p, 1)
	all := stack(x, uniform(5, 1, 6))
	low := incumbents(p, rng).RawRowView(0)[0]
	for i, shift := range []float64{0, 0.02, -0.03} {
		all.Set(8+i, 0, low+shift)
	}
	v := make([]float64, 5)
	f.Eval(v, nil, rows(all, 8, 13))

	mean, cov := make([]float64, 13), mat.NewSymDense(13, nil)
	toy.Joint(mean, cov, all)
	for i := range 13 {
		cov.SetSym(i, i, cov.At(i, i)+minVariance)
	}
	factor, err := linalg.Factorize(cov)
	require.NoError(t, err)
	const n = 100000
	sum, sum2, y := make([]float64, 5), make([]float64, 5), make([]float64, 13)
	for range n {
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		factor.MulLowerVec(y)
		for i := range y {
			y[i] += mean[i]
		}
		for i := range 5 {
			g := max(slices.Min(y[:8])-y[8+i], 0)
			sum[i] += g / n
			sum2[i] += g * g / n
		}
	}
	for i, want := range sum {
		se := math.Sqrt((sum2[i] - want*want) / n)
		assert.InDelta(t, want, math.Exp(v[i]), 4*se+0.02*want+1e-6)
	}
	assert.Greater(t, slices.Max(sum), 0.01)
}

// The closed form of LogNEI for a Concurrent problem is the improvement on the lowest value at the evaluated
// and the pending points. It agrees with plain Monte Carlo over all of them, with and without constraints.
func TestConcurrentLogNEIAgainstMonteCarlo(t *testing.T) {
	for constraints := range 2 {
		p := constrainedToy(t, 0.1, 2)
		p.Concurrent, p.Constraints = true, p.Constraints[:constraints]
		outputs := []surrogate.Posterior{p.Posterior}
		for _, c := range p.Constraints {
			outputs = append(outputs, c.Posterior)
		}
		x := uniform(4, 2, 6)
		v := make([]float64, 4)
		f, err := p.improvementGiven(1<<12, 1<<12, rand.New(rand.NewPCG(9, 9)))
		require.NoError(t, err)
		f.Eval(v, nil, x)

		all := stack(p.Observed, p.Pending, x)
		n, known := rowCount(all), rowCount(p.Observed)+rowCount(p.Pending)
		const draws = 1 << 14
		rng := rand.New(rand.NewPCG(3, 3))
		samples := make([]*mat.Dense, len(outputs))
		for i, o := range outputs {
			base := mat.NewDense(draws, n, nil)
			for k := range base.RawMatrix().Data {
				base.RawMatrix().Data[k] = rng.NormFloat64()
			}
			var err error
			samples[i], err = sampleAt(o, all, base)
			require.NoError(t, err)
		}
		feasible, worst := meeting(samples[1:], p.bounds()), p.worst()
		sum := make([]float64, 4)
		for s := range draws {
			best := worst
			for j := range known {
				if feasible(s, j) {
					best = min(best, samples[0].At(s, j))
				}
			}
			for i := range sum {
				if feasible(s, known+i) {
					sum[i] += max(best-samples[0].At(s, known+i), 0) / draws
				}
			}
		}
		for i, want := range sum {
			assert.InDelta(t, want, math.Exp(v[i]), 0.1*want+1e-3, "%d constraints, point %d", constraints, i)
		}
		assert.Greater(t, slices.Max(sum), 0.05)
	}
}

// A Concurrent problem without pending points of one exact output has the value of LogEI.
func TestConcurrentLogNEIWithoutNoise(t *testing.T) {
	toy, x, y := newToy(t, 2, 12, 1e-10, 3)
	p := Problem{Posterior: toy, Best: slices.Min(y), Observed: x, Concurrent: true}
	at := uniform(6, 2, 4)
	v, w := make([]float64, 6), make([]float64, 6)
	build(t, LogNEI{}, p, 1).Eval(v, nil, at)
	build(t, LogEI{}, p, 1).Eval(w, nil, at)
	assert.InDeltaSlice(t, w, v, 1e-3)
}

// MES is the mean of the entropy terms over the minima of drawn functions over the cube.
func TestMES(t *testing.T) {
	p := problem(t, 1)
	f := build(t, MES{Samples: 3}, p, 1)
	paths := p.Posterior.Paths(3, pathRand(t))
	grid := mat.NewDense(4001, 1, nil)
	for i := range 4001 {
		grid.Set(i, 0, float64(i)/4000)
	}
	x := uniform(4, 1, 2)
	mean, variance, got := make([]float64, 4), make([]float64, 4), make([]float64, 4)
	p.Posterior.Predict(mean, variance, x)
	f.Eval(got, nil, x)
	value := make([]float64, 4001)
	want := make([]float64, 4)
	for _, path := range paths {
		path.Eval(value, nil, grid)
		low := slices.Min(value)
		for i := range want {
			e, _ := specfn.EntropyReduction((mean[i] - low) / math.Sqrt(variance[i]))
			want[i] += e / 3
		}
	}
	for i := range want {
		assert.InDelta(t, want[i], got[i], 1e-3*max(1, want[i]))
	}
}

// pathRand returns rng in the state in which MES draws its paths.
func pathRand(t *testing.T) *rand.Rand {
	rng := rand.New(rand.NewPCG(9, 9))
	rng.Uint64() // seed of the stream for raw points
	return rng
}

func TestThompsonIsMinusADraw(t *testing.T) {
	p := problem(t, 2)
	f := build(t, Thompson{}, p, 2)
	paths := p.Posterior.Paths(2, rand.New(rand.NewPCG(9, 9)))
	x := uniform(3, 4, 1)
	got := make([]float64, 3)
	f.Eval(got, nil, x)
	for i := range 3 {
		a, b := make([]float64, 1), make([]float64, 1)
		paths[0].Eval(a, nil, mat.NewDense(1, 2, x.RawRowView(i)[:2]))
		paths[1].Eval(b, nil, mat.NewDense(1, 2, x.RawRowView(i)[2:]))
		assert.InDelta(t, -a[0]-b[0], got[i], 1e-12)
	}
}

// One state of rng gives one function; its values do not depend on the other candidates.
func TestDeterministic(t *testing.T) {
	for _, a := range recipes {
		p := problem(t, 2)
		x := uniform(5, 2, 1)
		v, w := make([]float64, 5), make([]float64, 5)
		build(t, a, p, 1).Eval(v, nil, x)
		build(t, a, p, 1).Eval(w, nil, x)
		assert.Equal(t, v, w, name(a))
	}
}

func TestBuildErrors(t *testing.T) {
	p := problem(t, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, a := range recipes {
		if single(a) {
			_, err := a.Build(t.Context(), p, 2, rng)
			require.ErrorIs(t, err, ErrBatch, name(a))
		}
	}
	bad := p
	bad.Best = math.Inf(1)
	for _, a := range []Acquisition{EI{}, LogEI{}, PI{}, QEI{}, QLogEI{}} {
		_, err := a.Build(t.Context(), bad, 1, rng)
		require.ErrorIs(t, err, ErrProblem, name(a))
	}
	bad = p
	bad.Observed = nil
	_, err := LogNEI{}.Build(t.Context(), bad, 1, rng)
	require.ErrorIs(t, err, ErrProblem)
	for _, a := range []Acquisition{LCB{Beta: -1}, MES{Samples: -1}, QEI{Samples: -1}, QLogEI{Samples: 1 << 40}, LogNEI{Samples: -2}} {
		_, err := a.Build(t.Context(), p, 1, rng)
		require.ErrorIs(t, err, surrogate.ErrSetting, name(a))
	}
}

func TestWrongShapesPanic(t *testing.T) {
	f := build(t, LogEI{}, problem(t, 2), 1)
	assert.PanicsWithValue(t, "acquisition: 1×3 candidates and 1 values, want 2 columns", func() {
		f.Eval(make([]float64, 1), nil, mat.NewDense(1, 3, nil))
	})
	assert.PanicsWithValue(t, "acquisition: gradient is 2×2, want 1×2", func() {
		f.Eval(make([]float64, 1), mat.NewDense(2, 2, nil), mat.NewDense(1, 2, nil))
	})
}

// A candidate whose covariance cannot be factorised is infeasible; other candidates are
// unaffected.
func TestNotPositiveDefinite(t *testing.T) {
	p := &moments{mean: []float64{0, 0}, cov: mat.NewSymDense(2, []float64{1, 2, 2, 1})}
	f := &monteCarlo{posterior: p, joint: p, q: 2, base: mat.NewDense(4, 2, nil), best: make([]float64, 4), gain: logPositivePart}
	v, g := make([]float64, 1), mat.NewDense(1, 2, []float64{7, 7})
	f.Eval(v, g, mat.NewDense(1, 2, nil))
	assert.Equal(t, math.Inf(-1), v[0])
	assert.Zero(t, mat.Norm(g, 1))
}

var _ surrogate.Conditioner = conditioner{}
