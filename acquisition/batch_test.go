package acquisition

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// fittedGP returns gp fitted to n observations of a sum of the inputs with noise.
func fittedGP(t *testing.T, m gp.Model, n int, seed uint64) (surrogate.Posterior, *mat.Dense, []float64) {
	t.Helper()
	x, rng := uniform(n, 2, seed), random.New(seed, "values", 0)
	y := make([]float64, n)
	for i := range y {
		y[i] = x.At(i, 0) - x.At(i, 1)*x.At(i, 1) + 0.1*rng.NormFloat64()
	}
	p, err := m.Fit(t.Context(), surrogate.Dataset{X: x, Y: y}, rng)
	require.NoError(t, err)
	return p, x, y
}

// values returns the function of a at five points.
func values(t *testing.T, a Acquisition, p Problem) []float64 {
	t.Helper()
	f, err := a.Build(t.Context(), p, 1, random.New(1, "build", 0))
	require.NoError(t, err)
	v := make([]float64, 5)
	f.Eval(v, nil, uniform(5, 2, 9))
	return v
}

// What the points of a batch share does not change the functions, also if other posteriors and fewer
// pending points come between.
func TestSharedPosteriors(t *testing.T) {
	p, x, _ := fittedGP(t, gp.Model{}, 12, 1)
	bound, _, _ := fittedGP(t, gp.Model{}, 12, 2)
	other, _, _ := fittedGP(t, gp.Model{}, 12, 3)
	pending := uniform(6, 2, 7)
	for name, a := range map[string]Acquisition{"logei": LogEI{}, "lcb": LCB{}} {
		problem := Problem{Posterior: p, Best: -0.2, Observed: x}
		if name == "logei" {
			problem.Constraints = []Constraint{{bound, 0.3}}
		}
		batch := new(shared)
		for k := range 6 {
			for _, c := range []Problem{problem, {Posterior: other, Best: -0.2, Observed: x}} {
				for _, from := range []int{0, k / 2} {
					c.Pending = rows(pending, from, k+1)
					want := values(t, a, c)
					c.shared = batch
					assert.InDeltaSlice(t, want, values(t, a, c), 1e-9, "%s, %d pending from %d", name, k+1, from)
				}
			}
		}
	}
}

// The points of a batch have the contenders of the first, until the problem differs.
func TestSharedContenders(t *testing.T) {
	p, x, _ := fittedGP(t, gp.Model{}, 30, 1)
	bound, _, _ := fittedGP(t, gp.Model{}, 30, 2)
	batch := new(shared)
	problem := Problem{Posterior: p, Observed: x, shared: batch}
	values(t, LogNEI{}, problem)
	first := batch.contenders.points
	require.Less(t, rowCount(first), 30)
	problem.Pending = uniform(2, 2, 7)
	values(t, LogNEI{}, problem)
	require.Same(t, first, batch.contenders.points)
	problem.Constraints = []Constraint{{bound, 0.3}}
	values(t, LogNEI{}, problem)
	require.NotSame(t, first, batch.contenders.points)
}

// A batch of five needs no Conditioner after the first Condition.
func TestBatchOfAConditioner(t *testing.T) {
	f, x, y := newToy(t, 2, 6, 1e-3, 4)
	p := Problem{Posterior: conditioner{f, t}, Best: y[0], Observed: x}
	out, err := Suggest(t.Context(), LogEI{}, p, cube(t, 2), 5, MaximizeOptions{Raw: 32, Starts: 2}, random.New(1, "", 0))
	require.NoError(t, err)
	require.Len(t, out, 5)
}

// unanchored hides the Anchor of a posterior.
type unanchored struct{ surrogate.Posterior }

// A believer computes the same with the anchored moments of a posterior and with its Joint.
func TestBelieverWithAnchor(t *testing.T) {
	p, _, _ := fittedGP(t, gp.Model{Exact: 8}, 20, 1)
	require.Implements(t, (*surrogate.Anchorer)(nil), p)
	z, x := uniform(3, 2, 4), uniform(4, 2, 5)
	type moments struct{ mean, variance, dmean, dvariance, cov, dx []float64 }
	of := func(p surrogate.Posterior) moments {
		b, err := believe(p, z)
		require.NoError(t, err)
		mean, variance, joint := make([]float64, 4), make([]float64, 4), make([]float64, 4)
		dm, dv, dx := mat.NewDense(4, 2, nil), mat.NewDense(4, 2, nil), mat.NewDense(4, 2, nil)
		b.PredictGrad(mean, variance, dm, dv, x)
		cov, cbar := mat.NewSymDense(4, nil), mat.NewSymDense(4, []float64{1, 2, 3, 4, 0, 5, 6, 7, 0, 0, 8, 9, 0, 0, 0, 1})
		b.Joint(joint, cov, x)
		b.JointVJP(dx, joint, cbar, x)
		return moments{mean, variance, dm.RawMatrix().Data, dv.RawMatrix().Data, cov.RawSymmetric().Data, dx.RawMatrix().Data}
	}
	want, got := of(unanchored{p}), of(p)
	assert.InDeltaSlice(t, want.mean, got.mean, 1e-10)
	assert.InDeltaSlice(t, want.variance, got.variance, 1e-10)
	assert.InDeltaSlice(t, want.dmean, got.dmean, 1e-9)
	assert.InDeltaSlice(t, want.dvariance, got.dvariance, 1e-9)
	assert.InDeltaSlice(t, want.cov, got.cov, 1e-10)
	assert.InDeltaSlice(t, want.dx, got.dx, 1e-9)
}
