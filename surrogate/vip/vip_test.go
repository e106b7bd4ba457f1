package vip

import (
	"context"
	"github.com/functionspace/bo/internal/settings"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	fast := surrogatetest.Options{Fast: true}
	t.Run("layers", func(t *testing.T) {
		fast.Run(t, Model{Network: surrogate.Network{Hidden: []int{6, 5}}, Functions: 20, Steps: 15})
	})
	t.Run("weights", func(t *testing.T) {
		fast.Run(t, Model{Network: surrogate.Network{Hidden: []int{6}, Activation: "sin"}, Functions: 9, Prior: "weights", Noise: new(0.1), Steps: 15})
	})
}

func wave(n int) surrogate.Dataset {
	rng := random.New(1, "wave", 0)
	d := surrogate.Dataset{X: mat.NewDense(n, 2, nil), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	for i := range n {
		a, b := rng.Float64(), rng.Float64()
		d.X.SetRow(i, []float64{a, b})
		d.Y = append(d.Y, math.Sin(5*a)+b+0.1*rng.NormFloat64())
	}
	return d
}

func testObjective(t *testing.T, m Model, d surrogate.Dataset) *objective {
	m, err := settings.Resolve("vip", m)
	require.NoError(t, err)
	p, err := mapnet.New(m.network(), d)
	require.NoError(t, err)
	return newObjective(p, m.Functions, m.Prior == "weights", random.New(2, "eps", 0))
}

func TestGradient(t *testing.T) {
	for _, m := range []Model{
		{Network: surrogate.Network{Hidden: []int{4, 3}}, Functions: 5},
		{Network: surrogate.Network{Hidden: []int{4}}, Functions: 12}, // more than observations
		{Network: surrogate.Network{Hidden: []int{4}}, Functions: 5, Prior: "weights"},
		{Network: surrogate.Network{Hidden: []int{}}, Functions: 5, Noise: new(0.1)},
	} {
		o := testObjective(t, m, wave(8))
		rng := random.New(3, "v", 0)
		v := o.start(rng)
		for i := range v[1:] {
			v[1+i] += 0.3 * rng.NormFloat64()
		}
		grad := make([]float64, len(v))
		o.loss(v, grad)
		require.NoError(t, gradcheck.Gradient(func(v []float64) float64 { return o.loss(v, make([]float64, len(v))) }, v, grad, 1e-6))
	}
}

// The posterior is the exact posterior of the Gaussian process with the mean and covariance
// of the functions drawn from the prior. Its evidence is the objective's.
func TestExactProcess(t *testing.T) {
	for _, functions := range []int{7, 40} {
		const n, m, noise = 15, 6, 0.02
		d := wave(n)
		model := Model{Network: surrogate.Network{Hidden: []int{5}}, Functions: functions, Noise: new(noise), Steps: 5}
		post, err := model.Fit(context.Background(), d, random.New(1, "fit", 0))
		require.NoError(t, err)

		// All functions at the data and at fresh points.
		x := mat.NewDense(n+m, 2, nil)
		x.Stack(d.X, wave(40).X.Slice(40-m, 40, 0, 2))
		rng := random.New(1, "fit", 0)
		o := testObjective(t, model, d)
		o.eps = newObjective(o.p, functions, false, random.Split(rng, "functions", 0)).eps
		f := mat.NewDense(functions, n+m, nil)
		v := post.(surrogate.Stater).State()
		for s := range functions {
			o.p.Net.Forward(f.RawRowView(s), o.weights(v, s), o.p.Inputs.Apply(x))
		}
		mean, k := make([]float64, n+m), mat.NewSymDense(n+m, nil)
		for i := range mean {
			mean[i] = mat.Sum(f.ColView(i)) / float64(functions)
		}
		for i := range mean {
			for j := i; j < n+m; j++ {
				var sum float64
				for s := range functions {
					sum += (f.At(s, i) - mean[i]) * (f.At(s, j) - mean[j])
				}
				k.SetSym(i, j, sum/float64(functions-1))
			}
		}
		kyy := mat.NewSymDense(n, nil)
		kyy.CopySym(k)
		r := mat.NewVecDense(n, nil)
		for i, y := range o.p.Y {
			kyy.SetSym(i, i, kyy.At(i, i)+noise)
			r.SetVec(i, y-mean[i])
		}
		var chol mat.Cholesky
		require.True(t, chol.Factorize(kyy))
		var alpha mat.VecDense
		require.NoError(t, chol.SolveVecTo(&alpha, r))
		var half, gone mat.Dense
		cross := mat.DenseCopyOf(k).Slice(0, n, n, n+m)
		require.NoError(t, chol.SolveTo(&half, cross))
		gone.Mul(cross.T(), &half)

		gotMean, gotCov := make([]float64, m), mat.NewSymDense(m, nil)
		post.Joint(gotMean, gotCov, x.Slice(n, n+m, 0, 2).(*mat.Dense))
		for i := range m {
			require.InDelta(t, o.p.Shift+mean[n+i]+mat.Dot(cross.(*mat.Dense).ColView(i), &alpha), gotMean[i], 1e-8)
			for j := range m {
				require.InDelta(t, k.At(n+i, n+j)-gone.At(i, j), gotCov.At(i, j), 1e-8)
			}
		}
		evidence := -0.5 * (mat.Dot(r, &alpha) + chol.LogDet() + n*math.Log(2*math.Pi))
		require.InDelta(t, evidence, post.(surrogate.Evidence).LogMarginalLikelihood(), 1e-8)
		o.loss(v, make([]float64, len(v)))
		require.InDelta(t, evidence, o.evidence.Value, 1e-8)
	}
}

// Without hidden layers the empirical kernel approaches the kernel of Bayesian linear
// regression.
func TestManyFunctions(t *testing.T) {
	o := testObjective(t, Model{Network: surrogate.Network{Hidden: []int{}}, Functions: 20_000}, wave(4))
	v := []float64{0, math.Log(1.5), math.Log(0.5)}
	o.loss(v, make([]float64, 3))
	b := &basis{net: o.p.Net, inputs: o.p.Inputs}
	for s := range o.eps {
		b.weights = append(b.weights, o.weights(v, s))
	}
	x := wave(2).X
	mean, phi := make([]float64, 2), mat.NewDense(2, 20_000, nil)
	b.Eval(mean, phi, x)
	u := o.p.Inputs.Apply(x)
	for i := range 2 {
		require.InDelta(t, 0, mean[i], 0.1)
		for j := range 2 {
			want := 1.5*1.5/2*mat.Dot(u.RowView(i), u.RowView(j)) + 0.25
			require.InDelta(t, want, mat.Dot(phi.RowView(i), phi.RowView(j)), 0.15)
		}
	}
}

// There are more observations than the fit of the prior uses.
func TestManyRows(t *testing.T) {
	d := wave(fitRows + 500)
	post, err := Model{Network: surrogate.Network{Hidden: []int{8}}, Functions: 20, Steps: 5}.Fit(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	mean, variance := make([]float64, 1), make([]float64, 1)
	post.Predict(mean, variance, mat.NewDense(1, 2, []float64{0.4, 0.5}))
	require.InDelta(t, math.Sin(2)+0.5, mean[0], 0.2)
}

func TestWarmStart(t *testing.T) {
	m := Model{Functions: 30, Steps: 200}
	first, err := m.Fit(context.Background(), wave(20), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.Empty(t, first.Warnings())
	count := func(start surrogate.State) (n int) {
		ctx := surrogate.WithProgress(context.Background(), func(p surrogate.Progress) {
			if p.Phase == "evidence" {
				n++
			}
		})
		_, err := m.FitFrom(ctx, start, wave(20), random.New(1, "fit", 0))
		require.NoError(t, err)
		return n
	}
	require.Less(t, count(first.(surrogate.Stater).State()), count(nil))
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.ErrorContains(t, surrogate.Check(Model{Prior: "layer"}, 2), `prior is "layer", want `)
	require.ErrorContains(t, surrogate.Check(Model{Functions: 1}, 2), "functions is 1, want 2 to")
	require.ErrorContains(t, surrogate.Check(Model{Steps: -1}, 2), "steps is -1")
	require.ErrorContains(t, surrogate.Check(Model{Network: surrogate.Network{Hidden: []int{0}}}, 2), "hidden is 0")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ctx = surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		if p.Phase == "evidence" {
			cancel()
		}
	})
	_, err := Model{}.Fit(ctx, wave(20), random.New(1, "fit", 0))
	require.ErrorIs(t, err, context.Canceled)
}

func BenchmarkLoss(b *testing.B) {
	m, err := settings.Resolve("vip", Model{})
	require.NoError(b, err)
	p, err := mapnet.New(m.network(), wave(50))
	require.NoError(b, err)
	o := newObjective(p, m.Functions, false, random.New(1, "eps", 0))
	v := o.start(random.New(1, "start", 0))
	grad := make([]float64, len(v))
	for b.Loop() {
		o.loss(v, grad)
	}
}

func BenchmarkPredictGrad(b *testing.B) {
	post, err := Model{Steps: 1}.Fit(context.Background(), wave(50), random.New(1, "fit", 0))
	require.NoError(b, err)
	x := wave(20).X
	mean, variance, dm, dv := make([]float64, 20), make([]float64, 20), mat.NewDense(20, 2, nil), mat.NewDense(20, 2, nil)
	for b.Loop() {
		post.PredictGrad(mean, variance, dm, dv, x)
	}
}

// Beyond the observations of the prior's fit there are more functions. A number that is given stays.
func TestFunctionsOfManyObservations(t *testing.T) {
	for _, c := range []struct{ n, given, want int }{{1000, 0, 100}, {1001, 0, 500}, {1001, 7, 7}} {
		m := Model{Network: surrogate.Network{Hidden: []int{2}}, Functions: c.given, Steps: 1}
		post, err := m.Fit(t.Context(), wave(c.n), random.New(1, "fit", 0))
		require.NoError(t, err)
		require.Contains(t, post.(surrogate.Describer).Hypers(), surrogate.Hyper{Name: "functions", Value: float64(c.want)})
	}
}
