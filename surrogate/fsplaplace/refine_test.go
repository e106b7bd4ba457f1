package fsplaplace

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/target"
)

// A refinement that ends farther from the observations is not kept, and one that ends nearer is.
func TestRefineOnlyIfBetter(t *testing.T) {
	if testing.Short() {
		t.Skip("fits more than MaxExact observations three times")
	}
	const n = target.MaxExact + 200
	d := surrogate.Dataset{X: space.Sobol(n, 2, random.New(1, "x", 0)), Y: make([]float64, n), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	for i := range n {
		d.Y[i] = math.Sin(3*d.X.At(i, 0)) + d.X.At(i, 1)
	}
	m, err := Model{Network: surrogate.Network{Hidden: []int{20, 20}}}.resolve(2)
	require.NoError(t, err)
	net, err := domain.Network(m.Network, d)
	require.NoError(t, err)
	process := prior.Process{Kernel: prior.Matern52(2).WithParams([]float64{1, 1}), Noise: 1e-4}
	p := newProblem(m, net, d, process)
	start := net.InitBiased(*m.Bias, p.inputs.Spread(p.box), 0, random.New(1, "weights", 0))
	post, err := p.solve(t.Context(), start, 0, random.New(1, "context", 0))
	require.NoError(t, err)
	design, holdout := p.contextPoints(p.CovarianceContext, random.New(1, "context", 1))
	c := p.withInputs(design, random.New(1, "context", 2))
	to, err := p.target(c)
	require.NoError(t, err)
	require.Less(t, p.squaredError(post), 1e-6) // below what training by batches reaches
	w := slices.Clone(post.W)
	require.NoError(t, p.refineIfBetter(t.Context(), post, to, c, holdout, random.New(1, "refine", 0)))
	assert.Equal(t, w, post.W)
	assert.Equal(t, process.Noise, p.noise)
	assert.False(t, p.refined)

	post.W = (&nn.Network{In: 2, Hidden: []int{20, 20}}).InitBiased(*m.Bias, p.inputs.Spread(p.box), 0, random.New(2, "weights", 0))
	before := p.squaredError(post)
	require.NoError(t, p.refineIfBetter(t.Context(), post, to, c, holdout, random.New(1, "refine", 0)))
	assert.Less(t, p.squaredError(post), before/10)
	assert.True(t, p.refined)
}
