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
	"github.com/functionspace/bo/internal/pareto"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// several returns a problem of m objectives and a constraint of d inputs at n points.
func several(t testing.TB, m, constraints, d, n int, noise float64) Problem {
	p := Problem{}
	for j := range m + constraints {
		post, _, _ := newToy(t, d, n, noise, uint64(10*j+d))
		// All outputs are observed at the same points: the points depend on the seed, so observe again.
		x := uniform(n, d, 5)
		y := make([]float64, n)
		post.Paths(1, rand.New(rand.NewPCG(uint64(j), 4)))[0].Eval(y, nil, x)
		fresh := post.observe(t, x, y)
		p.Observed = x
		if j >= m {
			p.Constraints = append(p.Constraints, Constraint{fresh, quantile(y, 0.6)})
			continue
		}
		p.Objectives = append(p.Objectives, fresh)
		p.Reference = append(p.Reference, quantile(y, 0.8))
	}
	p.Posterior = p.Objectives[0]
	return p
}

func quantile(y []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(y))
	return s[int(q*float64(len(s)-1))]
}

var forSeveral = []Acquisition{LogNEHVI{Samples: 16}, LogNParEGO{Samples: 16}}

// Gradients agree with finite differences, with and without constraints and pending points.
func TestGradientsOfSeveralObjectives(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, a := range forSeveral {
		for m := 2; m <= 4; m++ {
			for constraints := range 2 {
				for pending := range 3 {
					p := several(t, m, constraints, 2, 12, 1e-2)
					if pending > 0 {
						p.Pending = uniform(pending, 2, 3)
					}
					f := build(t, a, p, 1)
					x := space.Sobol(40, 2, rand.New(rand.NewPCG(1, 1)))
					value, grad := make([]float64, 40), mat.NewDense(40, 2, nil)
					f.Eval(value, grad, x)
					for i := range value {
						require.False(t, math.IsNaN(value[i]) || math.IsInf(value[i], 0))
						at := func(u []float64) float64 {
							y := slices.Clone(x.RawRowView(i))
							for j := range y {
								y[j] += u[j] / 50
							}
							return valueAt(f, y)
						}
						assert.InDelta(t, value[i], at([]float64{0, 0}), 1e-9*max(1, math.Abs(value[i])))
						if i < 8 {
							g := slices.Clone(grad.RawRowView(i))
							for j := range g {
								g[j] /= 50
							}
							require.NoError(t, gradcheck.Gradient(at, []float64{0, 0}, g, 1e-5), "%T m=%d constraints=%d pending=%d row %d", a, m, constraints, pending, i)
						}
					}
				}
			}
		}
	}
}

// The region's expected improvement is BoTorch's closed form.
func TestExpectedHypervolumeAgainstBoTorch(t *testing.T) {
	raw, err := os.ReadFile("../testdata/acquisition/hypervolume.json")
	require.NoError(t, err)
	var file struct {
		Cases []struct {
			Y                                           [][]float64
			Reference, Mean, Variance, Dmean, Dvariance []float64
			Value                                       float64
		}
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	require.NotEmpty(t, file.Cases)
	mem := workspace.Borrow()
	defer mem.Return()
	for i, c := range file.Cases {
		m := len(c.Mean)
		r := newRegions(m)
		r.add(pareto.Boxes(c.Y, c.Reference))
		sd, mean, dmean, dsd := make([]float64, m), make([][]float64, m), make([][]float64, m), make([][]float64, m)
		for j, v := range c.Variance {
			sd[j], mean[j], dmean[j], dsd[j] = math.Sqrt(v), []float64{c.Mean[j]}, make([]float64, 1), make([]float64, 1)
		}
		logs := make([]float64, 1)
		r.gain(mem)(logs, mean, sd, dmean, dsd)
		value := logs[0]
		// BoTorch subtracts expectations near 1, so that its absolute error is a few 1e-17.
		assert.InDelta(t, c.Value, value, 1e-10+1e-16*math.Exp(-c.Value), "case %d", i)
		for j := range m {
			assert.InDelta(t, c.Dmean[j], dmean[j][0], 1e-5*max(1, math.Abs(c.Dmean[j])), "case %d", i)
			assert.InDelta(t, c.Dvariance[j], dsd[j][0]/(2*sd[j]), 1e-5*max(1, math.Abs(c.Dvariance[j])), "case %d", i)
		}
	}
}

// The value agrees with a plain Monte Carlo estimate of the noisy expected hypervolume
// improvement: joint draws of all outputs at the evaluated, the pending and the new point.
func TestLogNEHVIMonteCarlo(t *testing.T) {
	racetest.SkipNumerical(t)
	for m := 2; m <= 3; m++ {
		for constraints := range 2 {
			p := several(t, m, constraints, 1, 8, 0.05)
			p.Pending = uniform(1, 1, 7)
			f := build(t, LogNEHVI{Samples: 4096}, p, 1)
			x := []float64{0}
			for i := range 20 {
				if at := []float64{float64(i) / 20}; valueAt(f, at) > valueAt(f, x) {
					x = at
				}
			}
			want := math.Exp(valueAt(f, x))
			const draws = 6000
			rng := rand.New(rand.NewPCG(1, 2))
			at := stack(p.Observed, p.Pending, mat.NewDense(1, 1, x))
			n := rowCount(at)
			outputs := slices.Clone(p.Objectives)
			for _, c := range p.Constraints {
				outputs = append(outputs, c.Posterior)
			}
			drawn, psi := make([][]surrogate.Path, len(outputs)), make([]*mat.Dense, len(outputs))
			for j, o := range outputs {
				drawn[j], psi[j] = o.Paths(draws, rng), o.(*toy).features(at)
			}
			var sum, squares float64
			for s := range draws {
				y := make([][]float64, 0, n)
				v := mat.NewDense(len(outputs), n, nil)
				for j := range outputs {
					drawn[j][s].(toyPath).values(v.RawRowView(j), psi[j])
				}
				var volume, last float64
				for i := range n {
					ok := true
					for c, b := range p.Constraints {
						ok = ok && v.At(m+c, i) <= b.Bound
					}
					before := volume
					if ok {
						y = append(y, mat.Col(nil, i, v)[:m])
						volume = pareto.Hypervolume(y, p.Reference)
					}
					last = volume - before
				}
				sum += last
				squares += last * last
			}
			mean := sum / draws
			assert.InDelta(t, mean, want, 5*math.Sqrt((squares/draws-mean*mean)/draws), "m = %d, %d constraints", m, constraints)
		}
	}
}

// An affine change of every objective moves the logarithm by a constant.
func TestLogNEHVIAffine(t *testing.T) {
	p := several(t, 3, 0, 2, 10, 1e-2)
	q := p
	q.Objectives, q.Reference = slices.Clone(p.Objectives), slices.Clone(p.Reference)
	shift := 0.0
	for j := range q.Objectives {
		a, b := float64(j)-1, 0.5+float64(j)
		q.Objectives[j], q.Reference[j] = p.Objectives[j].(*toy).affine(a, b), a+b*p.Reference[j]
		shift += math.Log(b)
	}
	q.Posterior = q.Objectives[0]
	f, g := build(t, LogNEHVI{}, p, 1), build(t, LogNEHVI{}, q, 1)
	for i := range 20 {
		x := uniform(20, 2, 6).RawRowView(i)
		assert.InDelta(t, valueAt(f, x)+shift, valueAt(g, x), 1e-6)
	}
}

// A pending point lowers the value in its neighbourhood most.
func TestPendingPointsLowerTheValue(t *testing.T) {
	p := several(t, 2, 0, 1, 6, 1e-3)
	f := build(t, LogNEHVI{}, p, 1)
	x, _, err := Maximize(t.Context(), f, unit(t, 1), nil, MaximizeOptions{}, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	p.Pending = mat.NewDense(1, 1, x)
	g := build(t, LogNEHVI{}, p, 1)
	assert.Less(t, valueAt(g, x), valueAt(f, x)-1)
}

func unit(t testing.TB, d int) *space.Space {
	s, err := space.New(space.Float("x", 0, 1))
	require.NoError(t, err)
	require.Equal(t, 1, d)
	return s
}

// With several objectives Auto chooses the points of a batch one after another, also if it is joint.
func TestJointAutoOfSeveralObjectives(t *testing.T) {
	p := several(t, 2, 0, 1, 8, 0.01)
	want, err := Suggest(t.Context(), Auto{}, p, unit(t, 1), 2, quick, rng(4))
	require.NoError(t, err)
	got, err := Suggest(t.Context(), Auto{LogNEI{Joint: true}}, p, unit(t, 1), 2, quick, rng(4))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// Batches, one objective, and bad reference points are errors.
func TestSeveralObjectivesErrors(t *testing.T) {
	for _, a := range forSeveral {
		p := several(t, 2, 0, 1, 6, 1e-3)
		_, err := a.Build(t.Context(), p, 2, rand.New(rand.NewPCG(1, 1)))
		assert.ErrorIs(t, err, ErrBatch)
		bad := p
		bad.Reference = []float64{1, math.NaN()}
		_, err = a.Build(t.Context(), bad, 1, rand.New(rand.NewPCG(1, 1)))
		assert.ErrorIs(t, err, ErrProblem)
		bad.Reference = []float64{1}
		_, err = a.Build(t.Context(), bad, 1, rand.New(rand.NewPCG(1, 1)))
		assert.ErrorIs(t, err, ErrProblem)
		bad = p
		bad.Objectives = nil
		_, err = a.Build(t.Context(), bad, 1, rand.New(rand.NewPCG(1, 1)))
		assert.ErrorIs(t, err, ErrProblem)
		bad = p
		bad.Observed = nil
		_, err = a.Build(t.Context(), bad, 1, rand.New(rand.NewPCG(1, 1)))
		assert.ErrorIs(t, err, ErrProblem)
	}
	p := several(t, 5, 0, 1, 6, 1e-3)
	_, err := LogNEHVI{}.Build(t.Context(), p, 1, rand.New(rand.NewPCG(1, 1)))
	assert.ErrorIs(t, err, ErrProblem)
	build(t, LogNParEGO{}, p, 1)
}

// While no evaluated point is feasible, the functions are the probability that a point is feasible. With a
// pending point they are the probability that one of the two is.
func TestSeveralObjectivesWithoutAFeasiblePoint(t *testing.T) {
	for _, a := range forSeveral {
		p := several(t, 2, 1, 1, 8, 1e-2)
		p.Best = math.Inf(1)
		f := build(t, a, p, 1)
		prob := make([]float64, 1)
		for i := range 5 {
			x := []float64{float64(i) / 4}
			p.Feasibility(prob, mat.NewDense(1, 1, x))
			assert.InDelta(t, math.Log(prob[0]), valueAt(f, x), 1e-9)
		}
		p.Pending = mat.NewDense(1, 1, []float64{0.5})
		p.Feasibility(prob, p.Pending)
		either := build(t, a, p, 1)
		for i := range 5 {
			assert.GreaterOrEqual(t, valueAt(either, []float64{float64(i) / 4}), math.Log(prob[0])-0.3)
		}
	}
}

// lostContenders returns the number of contenders of p and how many of them amongFront leaves out.
func lostContenders(t *testing.T, p Problem) (lost, all int) {
	few := p.amongFront()
	require.Equal(t, lowestKept, rowCount(few.Observed))
	kept := map[[2]float64]bool{}
	for i := range lowestKept {
		kept[[2]float64(few.Observed.RawRowView(i))] = true
	}
	points, err := p.contenders(func(y [][]float64) []int { return frontBelow(y, p.Reference) }, 64, random.New(1, "", 0))
	require.NoError(t, err)
	for i := range rowCount(points) {
		if !kept[[2]float64(points.RawRowView(i))] {
			lost++
		}
	}
	return lost, rowCount(points)
}

// With many evaluated points the functions sample at the first fronts, which hold all contenders.
func TestManyPointsOfSeveralObjectives(t *testing.T) {
	racetest.SkipNumerical(t)
	p := several(t, 3, 1, 2, manyObserved, 1e-2)
	require.Same(t, p.Observed, p.amongFront().Observed)
	p = several(t, 3, 1, 2, manyObserved+50, 1e-2)
	lost, _ := lostContenders(t, p)
	require.Zero(t, lost)
	few := p.amongFront()
	for _, a := range forSeveral {
		many, one := build(t, a, p, 1), build(t, a, few, 1)
		for i := range 5 {
			x := uniform(5, 2, 9).RawRowView(i)
			assert.InEpsilon(t, valueAt(one, x), valueAt(many, x), 0.02)
		}
	}
}

// Nearly all contenders are kept also if it is uncertain which points are feasible, and if few are below the reference
// point.
func TestManyPointsWithUncertainConstraints(t *testing.T) {
	racetest.SkipNumerical(t)
	const n = manyObserved + 100
	p := several(t, 2, 0, 2, n, 1e-2)
	uncertain := several(t, 2, 1, 2, n, 30).Constraints[0]
	mean, variance := make([]float64, n), make([]float64, n)
	uncertain.Posterior.Predict(mean, variance, p.Observed)
	for _, q := range []float64{0, 0.02, 0.1, 0.25} {
		uncertain.Bound = quantile(mean, q)
		p.Constraints = []Constraint{uncertain}
		lost, all := lostContenders(t, p)
		require.LessOrEqual(t, float64(lost), 0.05*float64(all), "bound at the quantile %v", q)
	}
	p = several(t, 4, 0, 2, n, 1e-2)
	for j, o := range p.Objectives {
		o.Predict(mean, variance, p.Observed)
		p.Reference[j] = quantile(mean, 0.5)
	}
	lost, _ := lostContenders(t, p)
	require.Zero(t, lost)
}

// Without noise one sample is enough: the value is the closed form of the posterior means at the
// evaluated points, up to the rounding of interpolated values.
func TestLogNEHVIWithoutNoise(t *testing.T) {
	p := several(t, 2, 0, 2, 10, 1e-8)
	require.Equal(t, 1, p.sampleCount(64))
	one, many := build(t, LogNEHVI{}, p, 1), build(t, LogNEHVI{Samples: 7}, p, 1)
	for i := range 20 {
		x := uniform(20, 2, 6).RawRowView(i)
		assert.Equal(t, valueAt(one, x), valueAt(many, x))
	}
	p.Pending = uniform(1, 2, 3)
	require.Equal(t, 64, p.sampleCount(64))
}
