package ensemble

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	t.Run("all data", func(t *testing.T) {
		fast.Run(t, Model{Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{8}}}, Members: 4})
	})
	t.Run("published", func(t *testing.T) {
		fast.Run(t, Model{
			Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{8}, Precision: new(1.), Noise: new(0.01)}, Trainer: "adam", Steps: 50, Rate: 0.02},
			Members:  3, Subset: 0.8,
		})
	})
}

// Each member equals a network trained alone, and the moments are the members' moments.
func TestMomentsAreThoseOfTheMembers(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(8, 1, nil), Y: make([]float64, 8)}
	for i := range d.Y {
		d.X.Set(i, 0, float64(i)/8)
		d.Y[i] = math.Sin(float64(i))
	}
	m := Model{Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{6}}}, Members: 3}
	p, err := m.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	x := mat.NewDense(1, 1, []float64{1.4})
	seen := map[float64]bool{}
	var mean, square float64
	for _, path := range p.Paths(100, random.New(2, "paths", 0)) {
		v := make([]float64, 1)
		path.Eval(v, nil, x)
		if !seen[v[0]] {
			seen[v[0]] = true
			mean += v[0] / 3
			square += v[0] * v[0] / 3
		}
	}
	require.Len(t, seen, 3)
	gotMean, gotVariance := make([]float64, 1), make([]float64, 1)
	p.Predict(gotMean, gotVariance, x)
	require.InDelta(t, mean, gotMean[0], 1e-12)
	require.InDelta(t, square-mean*mean, gotVariance[0], 1e-12)
}

// The posterior of a linear model has one maximum, so all members agree.
func TestMembersOfALinearModelAgree(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(3, 1, []float64{-1, 0, 1}), Y: []float64{-2, 0.3, 1.7}}
	p, err := Model{Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{}, Noise: new(0.1), Precision: new(1.)}}}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance := make([]float64, 1), make([]float64, 1)
	p.Predict(mean, variance, mat.NewDense(1, 1, []float64{5}))
	require.InDelta(t, 0, variance[0], 1e-12)
}

func TestProgressNamesTheMember(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(2, 1, []float64{0, 1}), Y: []float64{0, 1}}
	phases := map[string]bool{}
	ctx := surrogate.WithProgress(context.Background(), func(p surrogate.Progress) { phases[p.Phase] = true })
	_, err := Model{Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{2}}}, Members: 2}.Fit(ctx, d, random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"network 1 of 2": true, "network 2 of 2": true}, phases)
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Subset: 1.5}, 2), "subset is 1.5")
	require.ErrorContains(t, surrogate.Check(Model{Members: -1}, 2), "members is -1")
	require.ErrorContains(t, surrogate.Check(Model{Settings: mapnet.Settings{Trainer: "adma"}}, 2), `trainer is "adma", want `)
}

func BenchmarkPredictGrad(b *testing.B) {
	d := surrogate.Dataset{X: mat.NewDense(2, 6, nil), Y: []float64{0, 1}}
	d.X.Set(0, 0, 1)
	p, err := Model{Settings: mapnet.Settings{Steps: 1}}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(b, err)
	x := mat.NewDense(64, 6, nil)
	mean, variance := make([]float64, 64), make([]float64, 64)
	dm, dv := mat.NewDense(64, 6, nil), mat.NewDense(64, 6, nil)
	for b.Loop() {
		p.PredictGrad(mean, variance, dm, dv, x)
	}
}
