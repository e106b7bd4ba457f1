package dkl

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/summary"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

// Paths draw the prior by random features, as in package gp.
func TestConformance(t *testing.T) {
	o := surrogatetest.Options{Fast: true, PathTol: 0.1}
	spec := prior.Spec{Restarts: 1}
	t.Run("added", func(t *testing.T) { o.Run(t, Model{Spec: spec, Hidden: []int{8}, Steps: 30}) })
	t.Run("own", func(t *testing.T) {
		o.Run(t, Model{Spec: spec, Hidden: []int{6, 5}, Features: 2, Trainer: "adam", Batch: 7, Steps: 30, Pretrain: 20})
	})
}

// wave returns data with a short wavelength on one side and a long one on the other.
func wave(n, dim int) surrogate.Dataset {
	rng := random.New(1, "wave", dim)
	d := surrogate.Dataset{X: mat.NewDense(n, dim, nil), Y: make([]float64, n), Lo: make([]float64, dim), Hi: make([]float64, dim)}
	for j := range dim {
		d.Hi[j] = 1
	}
	for i := range d.Y {
		row := d.X.RawRowView(i)
		for j := range row {
			row[j] = rng.Float64()
		}
		d.Y[i] = math.Sin(2*math.Pi*3*row[0]*row[0]*row[0]) + 0.05*rng.NormFloat64()
	}
	return d
}

func testObjective(t *testing.T, m Model, d surrogate.Dataset) *objective {
	m, err := m.resolve()
	require.NoError(t, err)
	o, err := newObjective(m, d)
	require.NoError(t, err)
	return o
}

func TestGradient(t *testing.T) {
	d := wave(8, 2)
	for name, m := range map[string]Model{
		"added":        {Hidden: []int{4, 3}},
		"own":          {Hidden: []int{5}, Features: 3, Activation: "sin", Spec: prior.Spec{Kernel: "rbf*periodic+linear", Isotropic: new(true)}},
		"linear":       {Hidden: []int{}, Features: 1, Spec: prior.Spec{Noise: new(0.1), Mean: prior.MeanZero}},
		"nothing held": {Hidden: []int{3}, Decay: new(0.0), Spec: prior.Spec{Lengthscale: []float64{0.3}}},
	} {
		o := testObjective(t, m, d)
		rng := random.New(2, name, 0)
		v := make([]float64, len(o.hyper.Free)+o.features.numWeights())
		for i := range v {
			v[i] = 0.4 * rng.NormFloat64()
		}
		grad := make([]float64, len(v))
		o.loss(v, grad, o.x, o.y, 1.7)
		loss := func(v []float64) float64 { return o.loss(v, make([]float64, len(v)), o.x, o.y, 1.7) }
		require.NoError(t, gradcheck.Gradient(loss, v, grad, 1e-6), name)

		_, v = o.parts(v)
		v = append(v, make([]float64, o.features.out+1)...)
		for i := range v {
			v[i] = 0.4 * rng.NormFloat64()
		}
		grad = make([]float64, len(v))
		o.squares(v, grad, o.x, o.y)
		squares := func(v []float64) float64 { return o.squares(v, make([]float64, len(v)), o.x, o.y) }
		require.NoError(t, gradcheck.Gradient(squares, v, grad, 1e-6), name)
	}
}

// testdata/dkl/oracle.py computed the numbers with GPyTorch.
func TestAgainstGPyTorch(t *testing.T) {
	text, err := os.ReadFile("../../testdata/dkl/oracle.json")
	require.NoError(t, err)
	var oracle struct {
		Lengthscale, Variance, Noise float64
		Cases                        []struct {
			Features                             int
			Hidden                               []int
			X, At                                [][]float64
			Y, Weights, Gradient, Mean, Variance []float64
			Loss                                 float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &oracle))
	require.Len(t, oracle.Cases, 2)
	for _, c := range oracle.Cases {
		d := surrogate.Dataset{X: dense(c.X), Y: c.Y, Lo: []float64{0, 0}, Hi: []float64{1, 1}}
		spec := prior.Spec{Lengthscale: []float64{oracle.Lengthscale}, Variance: &oracle.Variance, Noise: &oracle.Noise, Mean: prior.MeanZero}
		o := testObjective(t, Model{Spec: spec, Hidden: c.Hidden, Features: c.Features, Decay: new(0.0)}, d)
		require.Empty(t, o.hyper.Free)
		grad := make([]float64, len(c.Weights))
		require.InDelta(t, c.Loss, o.loss(c.Weights, grad, o.x, o.y, 1), 1e-9)
		require.InDeltaSlice(t, c.Gradient, grad, 1e-8)

		inner, err := gp.New(o.hyper.Process(nil), surrogate.Dataset{X: o.features.apply(c.Weights, d.X), Y: d.Y})
		require.NoError(t, err)
		p := newPosterior(o.features, c.Weights, inner.(process), nil)
		mean, variance := make([]float64, len(c.At)), make([]float64, len(c.At))
		p.Predict(mean, variance, dense(c.At))
		require.InDeltaSlice(t, c.Mean, mean, 1e-9)
		require.InDeltaSlice(t, c.Variance, variance, 1e-9)
	}
}

func dense(rows [][]float64) *mat.Dense {
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		x.SetRow(i, r)
	}
	return x
}

// score returns the mean negative log predictive density of observations.
func score(p surrogate.Posterior, d surrogate.Dataset) (sum float64) {
	mean, variance := make([]float64, len(d.Y)), make([]float64, len(d.Y))
	p.Predict(mean, variance, d.X)
	for i, y := range d.Y {
		v := variance[i] + p.Noise()
		sum += 0.5 * (math.Log(2*math.Pi*v) + (y-mean[i])*(y-mean[i])/v) / float64(len(d.Y))
	}
	return sum
}

func rowsOf(d surrogate.Dataset, lo, hi int) surrogate.Dataset {
	_, dim := d.Dims()
	d.X, d.Y = d.X.Slice(lo, hi, 0, dim).(*mat.Dense), d.Y[lo:hi]
	return d
}

func fit(t *testing.T, m surrogate.Model, d surrogate.Dataset) surrogate.Posterior {
	p, err := m.Fit(context.Background(), d, random.New(3, "fit", 0))
	require.NoError(t, err)
	return p
}

// With zero weights the model equals the process of package gp.
func TestHeldFeaturesAreTheInputs(t *testing.T) {
	d := wave(20, 2)
	exact := fit(t, gp.Model{}, d)
	held := fit(t, Model{Decay: new(1e9)}, d)
	require.InDelta(t, exact.(surrogate.Evidence).LogMarginalLikelihood(), held.(surrogate.Evidence).LogMarginalLikelihood(), 0.01)
	n := len(d.Y)
	a, b, va, vb := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	exact.Predict(a, va, d.X)
	held.Predict(b, vb, d.X)
	require.InDeltaSlice(t, a, b, 0.01)
	require.InDeltaSlice(t, va, vb, 1e-3)
}

// Without hidden layers and with one feature the kernel depends on a linear function of the
// inputs: an RBF of lengthscale ℓ on u·V is an RBF of lengthscale ℓ/(V·scale).
func TestLinearFeatures(t *testing.T) {
	d := wave(12, 1)
	o := testObjective(t, Model{Hidden: []int{}, Features: 1, Decay: new(0.0), Spec: prior.Spec{Kernel: "rbf", Lengthscale: []float64{0.7}}}, d)
	v := append(make([]float64, len(o.hyper.Free)), 1.9)
	k, err := prior.Parse("rbf", 1)
	require.NoError(t, err)
	same := testObjective(t, Model{Decay: new(1e9), Spec: prior.Spec{Custom: k, Lengthscale: []float64{0.7 / (1.9 * 2 * math.Sqrt(3))}}}, d)
	w := append(make([]float64, len(same.hyper.Free)), same.features.initial(random.New(1, "w", 0))...)
	clear(w)
	require.InDelta(t, same.loss(w, make([]float64, len(w)), d.X, d.Y, 1), o.loss(v, make([]float64, len(v)), d.X, d.Y, 1), 1e-9)
}

// Features improve predictions of a step function. The prior on weights prevents overfitting
// of pure noise.
func TestFeaturesLearnAndDoNotOverfit(t *testing.T) {
	all := wave(260, 2)
	for i := range all.Y {
		row := all.X.RawRowView(i)
		all.Y[i] = math.Tanh(15*(row[0]+0.5*row[1]-0.8)) + 0.5*math.Sin(3*row[1])
	}
	train, test := rowsOf(all, 0, 60), rowsOf(all, 60, 260)
	exact, deep := score(fit(t, gp.Model{}, train), test), score(fit(t, Model{Hidden: []int{20, 20}}, train), test)
	t.Logf("a step: gp %.3f, dkl %.3f", exact, deep)
	require.Less(t, deep, exact-0.2)

	all = wave(230, 6)
	rng := random.New(9, "noise", 0)
	for i := range all.Y {
		all.Y[i] = rng.NormFloat64()
	}
	train, test = rowsOf(all, 0, 30), rowsOf(all, 30, 230)
	exact, deep = score(fit(t, gp.Model{}, train), test), score(fit(t, Model{}, train), test)
	free := score(fit(t, Model{Decay: new(0.0), Steps: 50}, train), test)
	t.Logf("noise: gp %.3f, dkl %.3f, without the prior on weights %.3f", exact, deep, free)
	require.Less(t, deep, exact+0.05)
	require.Greater(t, free, exact+1)
}

func TestWarmStart(t *testing.T) {
	d := wave(25, 1)
	m := Model{Hidden: []int{10}}
	first := fit(t, m, d)
	state := first.(surrogate.Stater).State()
	again, err := Model{Hidden: []int{10}, Steps: 1}.FitFrom(context.Background(), state, d, random.New(4, "fit", 0))
	require.NoError(t, err)
	require.InDelta(t, first.(surrogate.Evidence).LogMarginalLikelihood(), again.(surrogate.Evidence).LogMarginalLikelihood(), 0.5)

	_, weights := summary.DecodeState(state, 7)
	require.Nil(t, weights)
	state[0]++
	_, err = m.FitFrom(context.Background(), slices.Clone(state), d, random.New(4, "fit", 0))
	require.NoError(t, err, "a state of another kernel is ignored")
}

func TestManyObservations(t *testing.T) {
	all := wave(1400, 1)
	train, test := rowsOf(all, 0, 1200), rowsOf(all, 1200, 1400)
	p := fit(t, Model{Spec: prior.Spec{Restarts: 1}, Hidden: []int{10}, Steps: 100, Batch: 100, Inducing: 30}, train)
	require.NotImplements(t, (*surrogate.Conditioner)(nil), p)
	got := score(p, test)
	require.Less(t, got, -1.4, "a prediction with the exact mean has %v", 0.5*math.Log(2*math.Pi*0.05*0.05)+0.5)
}

func TestCheck(t *testing.T) {
	require.NoError(t, surrogate.Check(Model{}, 2))
	require.NoError(t, surrogate.Check(Model{Features: 3, Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}}, 2))
	require.ErrorIs(t, surrogate.Check(Model{Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}}, 2), prior.ErrSpec)
	require.ErrorContains(t, surrogate.Check(Model{Trainer: "adm"}, 2), `trainer is "adm", want `)
	require.ErrorContains(t, surrogate.Check(Model{Decay: new(-1.0)}, 2), "decay is -1")
	require.ErrorContains(t, surrogate.Check(Model{Pretrain: 10}, 2), "needs features")
	require.ErrorContains(t, surrogate.Check(Model{Hidden: []int{0}}, 2), "hidden is 0")
}

func TestCancelled(t *testing.T) {
	for _, m := range []Model{{}, {Trainer: "adam"}} {
		ctx, cancel := context.WithCancel(context.Background())
		ctx = surrogate.WithProgress(ctx, func(p surrogate.Progress) {
			if p.Phase == "train" {
				cancel()
			}
		})
		_, err := m.Fit(ctx, wave(20, 2), random.New(1, "fit", 0))
		require.ErrorIs(t, err, context.Canceled)
	}
}

func BenchmarkFit(b *testing.B) {
	d := wave(50, 6)
	for b.Loop() {
		if _, err := (Model{}).Fit(context.Background(), d, random.New(1, "fit", 0)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoss(b *testing.B) {
	m, _ := Model{}.resolve()
	o, err := newObjective(m, wave(50, 6))
	if err != nil {
		b.Fatal(err)
	}
	v := append(make([]float64, len(o.hyper.Free)), o.features.initial(random.New(1, "w", 0))...)
	grad := make([]float64, len(v))
	for b.Loop() {
		o.loss(v, grad, o.x, o.y, 1)
	}
}
