package acquisition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/surrogate"
)

// constrainedToy returns a problem of an objective and two constraints, with pending points.
func constrainedToy(t *testing.T, noise float64, pending int) Problem {
	f, x, y := newToy(t, 2, 8, noise, 1)
	c1, _, _ := newToy(t, 2, 8, noise, 2)
	c2, _, _ := newToy(t, 2, 8, noise, 3)
	p := Problem{Posterior: f, Best: y[0], Observed: x, Constraints: []Constraint{{c1, 0.2}, {c2, 0.4}}}
	rng := rand.New(rand.NewPCG(9, 9))
	for range pending {
		p.Pending = stack(p.Pending, mat.NewDense(1, 2, []float64{rng.Float64(), rng.Float64()}))
	}
	return p
}

func TestConstrainedGradients(t *testing.T) {
	for name, a := range map[string]Acquisition{"logei": LogEI{}, "pi": PI{}, "lognei": LogNEI{Samples: 32}, "qlogei": QLogEI{Samples: 32}, "auto": Auto{}} {
		for _, infeasible := range []bool{false, true} {
			for _, pending := range []int{0, 2} {
				for _, q := range []int{1, 2} {
					if q == 2 && (name == "logei" || name == "pi") {
						continue
					}
					t.Run(fmt.Sprint(name, infeasible, pending, q), func(t *testing.T) {
						p := constrainedToy(t, 0.01, pending)
						p.Concurrent = name == "auto"
						if infeasible {
							p.Best = math.Inf(1)
						}
						f, err := a.Build(t.Context(), p, q, random.New(1, "", 0))
						require.NoError(t, err)
						x := []float64{0.3, 0.6, 0.7, 0.2}[:2*q]
						value, grad := make([]float64, 1), mat.NewDense(1, 2*q, nil)
						f.Eval(value, grad, mat.NewDense(1, 2*q, x))
						alone := make([]float64, 1)
						f.Eval(alone, nil, mat.NewDense(1, 2*q, x))
						require.InDelta(t, value[0], alone[0], 1e-12)
						// Steps of 1e-4 are small beside the widths of the indicators.
						const step = 0.1
						slope := grad.RawRowView(0)
						for i := range slope {
							slope[i] *= step
						}
						require.NoError(t, gradcheck.Gradient(func(u []float64) float64 {
							at := slices.Clone(x)
							for i := range at {
								at[i] += step * u[i]
							}
							f.Eval(alone, nil, mat.NewDense(1, 2*q, at))
							return alone[0]
						}, make([]float64, 2*q), slope, 1e-6))
					})
				}
			}
		}
	}
}

// The closed form of Gardner et al. (2014) is the product of the expected improvement and the
// probabilities; LogNEI with many samples and exact observations agrees with it.
func TestConstrainedImprovement(t *testing.T) {
	p := constrainedToy(t, 1e-8, 0)
	p.Best = math.Inf(1)
	prob := make([]float64, 8)
	p.Feasibility(prob, p.Observed)
	mean, variance := make([]float64, 8), make([]float64, 8)
	p.Posterior.Predict(mean, variance, p.Observed)
	for i := range mean {
		if prob[i] > 0.5 {
			p.Best = min(p.Best, mean[i])
		}
	}
	require.False(t, math.IsInf(p.Best, 1))
	exact, err := LogEI{}.Build(t.Context(), p, 1, nil)
	require.NoError(t, err)
	noisy, err := LogNEI{Samples: 8192}.Build(t.Context(), p, 1, random.New(1, "", 0))
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		x := mat.NewDense(1, 2, []float64{rng.Float64(), rng.Float64()})
		got, want := make([]float64, 1), make([]float64, 1)
		exact.Eval(got, nil, x)
		p.Posterior.Predict(mean[:1], variance[:1], x)
		s := math.Sqrt(max(variance[0], minVariance))
		h, _ := specfn.LogEI((p.Best - mean[0]) / s)
		p.Feasibility(prob[:1], x)
		require.InDelta(t, math.Log(s)+h+math.Log(prob[0]), got[0], 1e-9)
		if got[0] > -8 {
			noisy.Eval(want, nil, x)
			require.InDelta(t, want[0], got[0], 0.3)
		}
	}
}

// The probability that a point or a pending point is feasible agrees with plain joint samples of all points, but for
// the smooth indicators. The point is near a pending one, and each pending point is feasible in many samples.
func TestNextFeasibleMonteCarlo(t *testing.T) {
	racetest.SkipNumerical(t)
	const n = 1 << 16
	for _, noise := range []float64{1e-8, 0.01} {
		for seed := range uint64(6) {
			p := constrainedToy(t, noise, 2)
			p.Best, p.Objectives = math.Inf(1), []surrogate.Posterior{p.Posterior, p.Posterior}
			rng := rand.New(rand.NewPCG(seed, 5))
			x := slices.Clone(p.Pending.RawRowView(0))
			for i := range x {
				x[i] += 0.1 * rng.Float64()
			}
			points := stack(p.Pending, mat.NewDense(1, 2, x))
			var samples []*mat.Dense
			for i, c := range p.Constraints {
				mean, variance := make([]float64, 2), make([]float64, 2)
				c.Posterior.Predict(mean, variance, p.Pending)
				p.Constraints[i].Bound = (mean[0] + mean[1]) / 2
				base := mat.NewDense(n, 3, nil)
				for k := range base.RawMatrix().Data {
					base.RawMatrix().Data[k] = rng.NormFloat64()
				}
				drawn, err := sampleAt(c.Posterior, points, base)
				require.NoError(t, err)
				samples = append(samples, drawn)
			}
			meets := meeting(samples, p.bounds())
			var met float64
			for s := range n {
				if meets(s, 0) || meets(s, 1) || meets(s, 2) {
					met++
				}
			}
			f, err := p.nextFeasible(4096, random.New(seed, "", 0))
			require.NoError(t, err)
			require.InDelta(t, met/n, math.Exp(valueAt(f, x)), 0.012, "noise %v, seed %d", noise, seed)
		}
	}
}

// The samples at a candidate are not correlated with those at the baseline.
func TestCandidateSamplesAreIndependent(t *testing.T) {
	const n = 4096
	p := several(t, 2, 1, 2, 3, 0.01)
	p.Pending = uniform(2, 2, 3)
	for seed := range uint64(5) {
		rng := random.New(seed, "", 0)
		f, _, err := newConditional(p, p.Observed, n, rng)
		require.NoError(t, err)
		z := f.candidateSamples(rng)
		for i, o := range f.outputs {
			for j := range rowCount(f.baseline) {
				for k := range f.outputs {
					var sum float64
					for s := range n {
						sum += o.base.At(s, j) * z.At(s, k)
					}
					require.InDelta(t, 0, sum/n, 0.1, "output %d at point %d, candidate output %d", i, j, k)
				}
			}
		}
	}
}

// Functions without feasibility return errors.
func TestUnconstrainedFunctions(t *testing.T) {
	p := constrainedToy(t, 0.01, 0)
	for _, a := range []Acquisition{EI{}, LCB{}, MES{}, QEI{}, Thompson{}} {
		_, err := a.Build(t.Context(), p, 1, random.New(1, "", 0))
		require.ErrorIs(t, err, ErrProblem)
		require.ErrorContains(t, err, "use auto")
	}
}

// Functions of one objective return errors for several, also with constraints and before a feasible point.
func TestFunctionsOfOneObjective(t *testing.T) {
	for _, best := range []float64{0, math.Inf(1)} {
		for _, constraints := range []int{0, 1} {
			p := several(t, 2, constraints, 2, 3, 0.01)
			p.Best = best
			for name, a := range map[string]Acquisition{"EI": EI{}, "LogEI": LogEI{}, "PI": PI{}, "LogNEI": LogNEI{}, "QEI": QEI{}, "QLogEI": QLogEI{}} {
				_, err := a.Build(t.Context(), p, 1, random.New(1, "", 0))
				require.ErrorIs(t, err, ErrProblem, name)
				if constraints == 0 || name != "EI" && name != "QEI" {
					require.ErrorContains(t, err, name+" takes one objective")
				}
			}
		}
	}
}
