package dropout

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	small := mapnet.Network{Hidden: []int{8}}
	t.Run("map", func(t *testing.T) {
		fast.Run(t, Model{Sampled: mapnet.Sampled{Network: small, Steps: 100, Samples: 20}})
	})
	t.Run("random", func(t *testing.T) {
		fast.Run(t, Model{Sampled: mapnet.Sampled{Network: small, Start: "random", Batch: 5, Steps: 200, Rate: 0.02, Samples: 7, Draws: 1}, Drop: 0.2})
	})
}

func wave() surrogate.Dataset {
	rng := random.New(1, "wave", 0)
	d := surrogate.Dataset{X: mat.NewDense(15, 2, nil), Y: make([]float64, 15), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	for i := range d.Y {
		a, b := rng.Float64(), rng.Float64()
		d.X.SetRow(i, []float64{a, b})
		d.Y[i] = math.Sin(4*a) - b + 0.1*rng.NormFloat64()
	}
	return d
}

func testObjective(t *testing.T, m Model) *mapnet.Stochastic {
	m, err := settings.Resolve("dropout", m)
	require.NoError(t, err)
	p, err := mapnet.New(mapnet.Settings{Network: m.Network, Batch: m.Batch}, wave())
	require.NoError(t, err)
	return m.objective(p)
}

func TestGradient(t *testing.T) {
	for _, noise := range []*float64{nil, new(0.1)} {
		o := testObjective(t, Model{Sampled: mapnet.Sampled{Network: mapnet.Network{Hidden: []int{4, 3}, Precision: new(0.5), Noise: noise}}, Drop: 0.3})
		rng := random.New(2, "v", 0)
		w, h := o.Problem.Start(nil, rng)
		v := append([]float64{math.Log(h.Precision), math.Log(h.Noise)}, w...)
		masks := o.Family.Noise(2, rng)
		x, y := o.X.Slice(0, 6, 0, 2).(*mat.Dense), o.Y[:6]
		grad := make([]float64, len(v))
		loss := func(v, grad []float64) float64 { return o.Loss(grad, v, x, y, masks) }
		loss(v, grad)
		require.NoError(t, gradcheck.Gradient(func(v []float64) float64 { return loss(v, make([]float64, len(v))) }, v, grad, 1e-6))
	}
}

// For one hidden layer the moments over masks have a closed form. The mean is the network
// without dropout, and the variance is p/(1-p) Σ_j v_j² a_j(x)².
func TestMomentsOfOneLayer(t *testing.T) {
	const drop, hidden = 0.2, 6
	m := Model{Sampled: mapnet.Sampled{Network: mapnet.Network{Hidden: []int{hidden}}, Steps: 50, Samples: 20_000}, Drop: drop}
	post, err := m.Fit(context.Background(), wave(), random.New(1, "fit", 0))
	require.NoError(t, err)
	x := mat.NewDense(1, 2, []float64{0.3, 0.8})
	mean, variance := make([]float64, 1), make([]float64, 1)
	post.Predict(mean, variance, x)

	o := testObjective(t, m)
	w := post.(surrogate.Stater).State()[2:]
	tape := o.Net.Record(w, o.Inputs.Apply(x))
	a, _ := tape.Layer(1)
	var want float64
	for j := range hidden {
		v := w[3*hidden+j] * a.At(0, j)
		want += drop / (1 - drop) * v * v
	}
	require.InDelta(t, o.Shift+tape.Value()[0], mean[0], 5*math.Sqrt(want/20_000))
	require.InEpsilon(t, want, variance[0], 0.05)
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Drop: 1}, 2), "drop is 1, want more than 0 and less than 1")
	require.ErrorContains(t, surrogate.Check(Model{Sampled: mapnet.Sampled{Start: "maps"}}, 2), `start is "maps", want `)
	require.ErrorContains(t, surrogate.Check(Model{Sampled: mapnet.Sampled{Steps: -1}}, 2), "steps is -1")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ctx = surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		if p.Phase == "dropout" {
			cancel()
		}
	})
	_, err := Model{}.Fit(ctx, wave(), random.New(1, "fit", 0))
	require.ErrorIs(t, err, context.Canceled)
}
