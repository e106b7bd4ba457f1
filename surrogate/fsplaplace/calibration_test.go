package fsplaplace

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// halfWidth is the half-width of the box in the calibration table: standardised inputs,
// extended by half their range on each side.
const halfWidth = 3.4

// share is the ratio of the posterior variance without data to the prior variance, over
// points.
type share struct{ mean, min, max float64 }

func (s share) String() string { return fmt.Sprintf("%.3f (%.3f, %.3f)", s.mean, s.min, s.max) }

// untrained returns an untrained 50-50 tanh network with a Matérn-5/2 prior of
// one lengthscale, and its weights.
func untrained(dim int, lengthscale float64, m Model, seed uint64) (*problem, []float64) {
	m, err := m.resolve(dim)
	if err != nil {
		panic(err)
	}
	net := &nn.Network{In: dim, Hidden: []int{50, 50}}
	p := &problem{Model: m, net: net, noise: 1, data: surrogate.Dataset{X: new(mat.Dense)}, box: domain.Box{Lo: make([]float64, dim), Hi: make([]float64, dim)}}
	theta := make([]float64, dim)
	p.inputs = domain.Affine{Shift: make([]float64, dim), Scale: make([]float64, dim)}
	for j := range dim {
		theta[j] = lengthscale
		p.inputs.Scale[j] = 1
		p.box.Lo[j], p.box.Hi[j] = -halfWidth, halfWidth
	}
	p.process = prior.Process{Kernel: prior.Matern52(dim).WithParams(theta), Noise: 1}
	if p.Factor == "ridge" {
		p.inputs = domain.ScaleInputs(p.process.Kernel, p.box.Lo, p.box.Hi)
	}
	return p, net.InitBiased(*m.Bias, p.inputs.Spread(p.box), 0, random.New(seed, "weights", 0))
}

// shares returns the share at the context points and at fresh points, for the ridge factor
// without scaled features.
func shares(t testing.TB, p *problem, w []float64, seed uint64) (context, fresh share) {
	rng := random.New(seed, "context", 0)
	c, holdout := p.contextPoints(p.CovarianceContext, rng)
	if p.Factor == "ridge" {
		f := p.ridge(t, w, c, holdout)
		return p.share(f.unscaled(), w, c), p.share(f.unscaled(), w, p.box.Uniform(300, rng))
	}
	f, err := p.precisionFactor(t.Context(), w, c)
	require.NoError(t, err)
	return p.share(f, w, c), p.share(f, w, p.box.Uniform(300, rng))
}

func (p *problem) ridge(t testing.TB, w []float64, c, holdout *mat.Dense) *dualFactor {
	s, err := p.ridgeFactor(t.Context(), w, c, holdout, 0)
	require.NoError(t, err)
	return &s.factor
}

func (p *problem) share(f factor, w []float64, x *mat.Dense) share {
	post := &posterior{factor: f, update: unobserved{}}
	m, _ := x.Dims()
	v, k := make([]float64, m), make([]float64, m)
	linalg.RowSquares(v, post.at(new(workspace.Memory), x, p.tape(w, x)).phi)
	p.process.Kernel.Diag(k, x)
	s := share{min: math.Inf(1)}
	for i := range v {
		r := v[i] / k[i]
		s.mean += r / float64(m)
		s.min, s.max = min(s.min, r), max(s.max, r)
	}
	return s
}

// Check 3: without data the posterior equals the prior at fresh points of the box. It is
// nearly equal for the network without scaling, and equal for the scaled features.
func TestCalibrationOfTheDefault(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, c := range []struct {
		dim         int
		lengthscale float64
	}{{1, 1}, {2, 1}, {6, 3}} {
		for seed := range uint64(5) {
			p, w := untrained(c.dim, c.lengthscale, Model{}, seed)
			at, fresh := shares(t, p, w, seed)
			t.Logf("d=%d l=%g seed %d: context %v, fresh %v", c.dim, c.lengthscale, seed, at, fresh)
			require.GreaterOrEqual(t, fresh.mean, 0.9)
			require.LessOrEqual(t, fresh.mean, 1.15)
			require.GreaterOrEqual(t, fresh.min, 0.7)
			require.LessOrEqual(t, fresh.max, 3.0)

			rng := random.New(seed, "exactly", 0)
			context, holdout := p.contextPoints(p.CovarianceContext, rng)
			exactly := p.share(p.ridge(t, w, context, holdout), w, p.box.Uniform(300, rng))
			require.InDelta(t, 1, exactly.min, 1e-12)
			require.InDelta(t, 1, exactly.max, 1e-12)
		}
	}
}

// At the vertices of the search box a network extrapolates, and many acquisition functions
// are largest. Even there, scaling changes the variance little.
func TestCalibrationAtVertices(t *testing.T) {
	racetest.SkipNumerical(t)
	const dim = 4
	for seed := range uint64(3) {
		p, w := untrained(dim, 2, Model{}, seed)
		rng := random.New(seed, "context", 0)
		c, holdout := p.contextPoints(p.CovarianceContext, rng)
		f := p.ridge(t, w, c, holdout)
		x := mat.NewDense(1<<dim, dim, nil)
		x.Apply(func(i, j int, _ float64) float64 {
			return halfWidth / (1 + 2*domain.SearchMargin) * float64(2*(i>>j&1)-1)
		}, x)
		at := p.share(f.unscaled(), w, x)
		t.Logf("seed %d: vertices %v", seed, at)
		require.InDelta(t, 1, at.mean, 0.1)
		require.GreaterOrEqual(t, at.min, 0.7)
		require.LessOrEqual(t, at.max, 1.5)
	}
}

// The table gives the share at 300 context points for both factors of K⁻¹, with raw inputs and
// initial biases of 0.
func TestCalibrationTable(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, c := range []struct {
		dim         int
		lengthscale float64
		factor      string
		lo, hi      float64 // bounds of the mean share
	}{
		{1, 1, "lanczos", 0.99, 1.001}, {1, 1, "cholesky", 0.99, 1.001},
		{2, 1, "lanczos", 0.80, 0.97}, {2, 1, "cholesky", 0.99, 1.001},
		{6, 3, "lanczos", 0.50, 0.80}, {6, 3, "cholesky", 0.90, 1.001},
		{6, 1, "lanczos", 0.15, 0.50}, {6, 1, "cholesky", 0.90, 1.001},
	} {
		p, w := untrained(c.dim, c.lengthscale, Model{Factor: c.factor, Bias: new(0.0), Context: 300, CovarianceContext: 300}, 1)
		at, fresh := shares(t, p, w, 1)
		t.Logf("d=%d l=%g %-8s: context %v, fresh %v", c.dim, c.lengthscale, c.factor, at, fresh)
		require.GreaterOrEqual(t, at.mean, c.lo)
		require.LessOrEqual(t, at.mean, c.hi)
	}
}
