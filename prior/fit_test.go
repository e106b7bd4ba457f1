package prior

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/linalg"
)

// wave returns n noisy observations of a smooth function of d inputs, with a variance
// near 1.
func wave(n, d int, noise float64, seed uint64) (*mat.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	x, y := points(rng, n, d), make([]float64, n)
	for i := range y {
		for j, v := range x.RawRowView(i) {
			y[i] += math.Sin(4*v+float64(j)) / float64(1+j)
		}
		y[i] += noise * rng.NormFloat64()
	}
	return x, y
}

func number(v float64) *float64 { return &v }

func TestLossGradient(t *testing.T) {
	x, y := wave(14, 3, 0.1, 1)
	some := slices.Repeat([]float64{math.NaN(), 0.3}, 7) // known noise variances
	for _, expr := range expressions {
		for i, mean := range []string{MeanConstant, MeanZero, MeanConstant} {
			m, err := Spec{Kernel: expr, Mean: mean}.model(3, false)
			require.NoError(t, err)
			e := newObjective(m, observations{x: x, y: y, noises: [][]float64{nil, nil, some}[i]})
			free := make([]float64, len(m.free))
			for i := range free {
				free[i] = -1 + 0.3*float64(i%4)
			}
			grad := make([]float64, len(free))
			e.loss(context.Background(), free, grad)
			ignored := make([]float64, len(free))
			require.NoError(t, gradcheck.Gradient(func(l []float64) float64 { return e.loss(context.Background(), l, ignored) }, free, grad, 1e-6), "%s, %s mean", expr, mean)
		}
	}
}

// The noise variance is fitted to the observations whose variance is not known, with few and with many rows.
func TestFitWithKnownNoises(t *testing.T) {
	for _, n := range []int{90, 700, 2500} {
		x, y := wave(n, 1, 0, 3)
		rng := rand.New(rand.NewPCG(4, 0))
		noises := make([]float64, n)
		for i := range y {
			noises[i] = math.NaN()
			sd := 0.1
			if i%3 == 0 {
				sd, noises[i] = 1, 1
			}
			y[i] += sd * rng.NormFloat64()
		}
		fit, err := Spec{}.WithNoises(noises).Fit(t.Context(), x, y, false, nil, rand.New(rand.NewPCG(5, 0)))
		require.NoError(t, err)
		require.InDelta(t, 0.1, math.Sqrt(fit.Noise), 0.02)
		again, err := Spec{}.WithNoises(noises).At(t.Context(), x, y, false, fit.State)
		require.NoError(t, err)
		require.InDelta(t, fit.LogMarginal, again.LogMarginal, 1e-9)
		without, err := Spec{}.Fit(t.Context(), x, y, false, nil, rand.New(rand.NewPCG(5, 0)))
		require.NoError(t, err)
		require.Greater(t, fit.LogMarginal, without.LogMarginal+float64(n)/10)
	}
	x, y := wave(5, 1, 0, 3)
	require.Panics(t, func() { _, _ = Spec{}.WithNoises([]float64{1}).Fit(t.Context(), x, y, false, nil, nil) })
}

func TestFitFindsLengthscales(t *testing.T) {
	// A draw from a known prior: the fit must be near the prior, and its evidence
	// must exceed the evidence of the prior.
	rng := rand.New(rand.NewPCG(5, 6))
	truth := Process{Kernel: Scale(Matern52(2)).WithParams([]float64{2, 0.3, 1.5}), Noise: 0.01}
	x := points(rng, 120, 2)
	draw, err := truth.Sample(1, x, rng)
	require.NoError(t, err)
	y := draw.RawRowView(0)
	for i := range y {
		y[i] += 3 + 0.1*rng.NormFloat64()
	}
	fit, err := Spec{}.Fit(context.Background(), x, y, false, nil, rng)
	require.NoError(t, err)
	require.Empty(t, fit.Warnings)
	values := map[string]float64{}
	for _, h := range fit.Hypers {
		values[h.Name] = h.Value
	}
	for name, want := range map[string]float64{"lengthscale[0]": 0.3, "lengthscale[1]": 1.5, "noise": 0.01} {
		require.InDelta(t, 0, math.Log(values[name]/want), math.Log(2), name)
	}
	require.InDelta(t, 3, values["mean"], 2)
	truth.Mean = 3
	want, err := truth.LogMarginal(x, y)
	require.NoError(t, err)
	require.Greater(t, fit.LogMarginal, want)
	got, err := fit.Process.LogMarginal(x, y)
	require.NoError(t, err)
	require.InDelta(t, fit.LogMarginal, got, 1e-8)
}

func TestFitIsDeterministic(t *testing.T) {
	x, y := wave(30, 3, 0.05, 2)
	fit := func(procs int) Fitted {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		f, err := Spec{Kernel: "rbf*periodic+linear"}.Fit(context.Background(), x, y, false, nil, rand.New(rand.NewPCG(9, 9)))
		require.NoError(t, err)
		return f
	}
	require.Equal(t, fit(1).State, fit(2).State)

	// A warm start at the optimum does not move.
	first := fit(2)
	again, err := Spec{Kernel: "rbf*periodic+linear", Restarts: 1}.Fit(context.Background(), x, y, false, first.State, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.InDeltaSlice(t, first.State, again.State, 0.05)
	// A start of another length is ignored.
	_, err = Spec{Restarts: 1}.Fit(context.Background(), x, y, false, []float64{1}, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
}

func TestFitFixedNumbers(t *testing.T) {
	x, y := wave(20, 2, 0.05, 3)
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 1))
	f, err := Spec{Kernel: "rbf", Lengthscale: []float64{0.3, 0.7}, Variance: number(2), Noise: number(0.05), Mean: MeanZero}.Fit(ctx, x, y, false, nil, rng)
	require.NoError(t, err)
	require.Equal(t, []Hyper{{"variance", 2, true}, {"lengthscale[0]", 0.3, true}, {"lengthscale[1]", 0.7, true}, {"noise", 0.05, true}, {"mean", 0, true}}, f.Hypers)
	require.Empty(t, f.State)

	// One number applies to all inputs and terms; an argument in the expression
	// takes precedence.
	f, err = Spec{Kernel: "rbf+linear(lengthscale=9)", Lengthscale: []float64{0.4}, Noise: number(0.05)}.Fit(ctx, x, y, false, nil, rng)
	require.NoError(t, err)
	require.Equal(t, Hyper{"rbf.lengthscale[1]", 0.4, true}, f.Hypers[2])
	require.Equal(t, Hyper{"linear.lengthscale[1]", 9, true}, f.Hypers[4])
	require.Len(t, f.State, 2) // the output variance of rbf and the offset

	// A kernel without output variance is scaled.
	p, err := Spec{Kernel: "linear", Variance: number(3)}.Process(2)
	require.NoError(t, err)
	require.Equal(t, "3*linear", p.Kernel.String())

	// A Kernel of the caller.
	f, err = Spec{Custom: Matern12(2), Isotropic: new(true)}.Fit(ctx, x, y, false, nil, rng)
	require.NoError(t, err)
	require.Len(t, f.State, 3)
}

func TestFitOfDifficultData(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	line := func(v ...float64) *mat.Dense { return mat.NewDense(len(v), 1, v) }
	for name, data := range map[string]struct {
		x *mat.Dense
		y []float64
	}{
		"one row":          {line(0.5), []float64{1}},
		"duplicate rows":   {line(0.2, 0.2, 0.2, 0.9), []float64{1, 1, 1, 0}},
		"contradicting":    {line(0.2, 0.2, 0.9), []float64{1, -1, 0}},
		"constant targets": {line(0.1, 0.4, 0.6, 0.9), []float64{2, 2, 2, 2}},
		"one point":        {line(0.5, 0.5, 0.5), []float64{1, 2, 3}},
		"huge":             {line(0.1, 0.4, 0.6, 0.9), []float64{1e12, 2e12, 3e12, -1e12}},
		"far apart":        {line(-1e8, 0, 1e8), []float64{1, 2, 3}},
	} {
		for _, noiseFree := range []bool{false, true} {
			for _, expr := range expressions[:14] {
				if expr == "periodic(ard=false)" || expr == "rbf(ard=false)" {
					continue
				}
				f, err := Spec{Kernel: expr, Restarts: 2}.Fit(context.Background(), data.x, data.y, noiseFree, nil, rng)
				require.NoError(t, err, "%s, %s", name, expr)
				require.False(t, math.IsNaN(f.LogMarginal) || math.IsNaN(f.Mean), "%s, %s", name, expr)
			}
		}
	}
}

// userKernel is a Kernel with only the methods of the interface.
type userKernel struct{ Kernel }

func (k userKernel) WithParams(theta []float64) Kernel { return userKernel{k.Kernel.WithParams(theta)} }

func TestCustomKernel(t *testing.T) {
	x, y := wave(20, 2, 0.05, 3)
	fit := func(k Kernel) Fitted {
		f, err := Spec{Custom: k}.Fit(context.Background(), x, y, false, nil, rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, err)
		return f
	}
	want, got := fit(Sum(Scale(RBF(2)), Linear(2))), fit(Sum(Scale(userKernel{RBF(2)}), userKernel{Linear(2)}))
	require.InDelta(t, want.LogMarginal, got.LogMarginal, 1e-9)
	require.InDeltaSlice(t, want.State, got.State, 1e-9)
	require.Equal(t, "custom.variance", got.Hypers[0].Name)

	functions, err := got.Process.Draw(2, 40, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	value := make([]float64, 20)
	functions[0].Eval(value, nil, x)
	require.True(t, finite(value[0]))
}

func TestFitWarnsOfJitter(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{0.5, 0.5, 0.5})
	f, err := Spec{Kernel: "rbf", Noise: number(0)}.Fit(context.Background(), x, []float64{1, 1, 1}, true, nil, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.NotEmpty(t, f.Warnings)
	require.Contains(t, f.Warnings[0], "jitter")
}

// The warning of a period at its bound names the input too. The period of values on a line is no sign of unrelated values.
func TestFitWarnsOfAPeriod(t *testing.T) {
	k, err := Parse("periodic", 1)
	require.NoError(t, err)
	s := Spec{Custom: k, Noise: number(1e-4), byLikelihood: true, Inputs: []Input{{Name: "speed", Columns: 1, Unit: 1}}}
	x, y := mat.NewDense(12, 1, nil), make([]float64, 12)
	for i := range y {
		x.Set(i, 0, 3*float64(i)/11)
		y[i] = float64(i)/5.5 - 1
	}
	f, err := s.Fit(context.Background(), x, y, false, nil, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.Equal(t, []string{"period[0] of speed is at its bound 1e+04, the fit may be poor: scale inputs and targets, or set noise higher"}, f.Warnings)
}

// noise returns n numbers of a standard normal distribution.
func noise(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 1))
	values := make([]float64, n)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	return values
}

// A lengthscale at its lower bound is doubtful if observations are sparse. Dense observations, as near the
// optimum of a search that has converged, determine it.
func TestFitWarnsOfAShortLengthscale(t *testing.T) {
	s := Spec{Noise: number(1e-4)}
	fit := func(x []float64, y func(x float64) float64) Fitted {
		values := make([]float64, len(x))
		for i := range values {
			values[i] = y(x[i])
		}
		mean, sd := stat.MeanStdDev(values, nil)
		for i := range values {
			values[i] = (values[i] - mean) / sd
		}
		f, err := s.Fit(context.Background(), mat.NewDense(len(x), 1, x), values, false, nil, rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, err)
		require.Equal(t, "lengthscale[0]", f.Hypers[1].Name)
		require.InDelta(t, 0.01, f.Hypers[1].Value, 1e-9)
		return f
	}
	var sparse, dense []float64
	for i := range 40 {
		sparse = append(sparse, 0.02*float64(i))
	}
	f := fit(sparse, func(x float64) float64 { return math.Sin(1e6 * x * x) })
	require.Len(t, f.Warnings, 1)
	require.Contains(t, f.Warnings[0], "lengthscale[0] is at its bound 0.01, the fit may be poor: ")
	s.Inputs = []Input{{Name: "speed", Columns: 1, Unit: 1}}
	f = fit(sparse, func(x float64) float64 { return math.Sin(1e6 * x * x) })
	require.Equal(t, []string{"lengthscale[0] of speed is at its bound 0.01, the fit may be poor: neighbouring values look unrelated, by noise or by fast ripples; set noise higher if it is noise"}, f.Warnings)

	s.Kernel = "matern52[speed]"
	f, err := s.Fit(t.Context(), mat.NewDense(40, 1, sparse), noise(40), false, nil, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.Equal(t, []string{"lengthscale[speed] is at its bound 0.01, the fit may be poor: neighbouring values look unrelated, by noise or by fast ripples; set noise higher if it is noise"}, f.Warnings)
	s.Kernel = ""

	for i := range 40 {
		dense = append(dense, 0.002*float64(i))
	}
	f = fit(dense, func(x float64) float64 { return math.Sin(600*x) + math.Sin(377*x) })
	require.Empty(t, f.Warnings)
}

// At the State of a fit, At returns the fit.
func TestAt(t *testing.T) {
	x, y := wave(12, 2, 0.1, 1)
	for i := range y {
		y[i] *= 1e8
	}
	want, err := Spec{}.Fit(t.Context(), x, y, false, nil, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.NotEmpty(t, want.Warnings)
	require.Contains(t, want.Warnings[0], "variance is at its bound")
	got, err := Spec{}.At(t.Context(), x, y, false, want.State)
	require.NoError(t, err)
	require.Equal(t, want.Warnings, got.Warnings)
	require.Equal(t, want.LogMarginal, got.LogMarginal)
	require.Panics(t, func() { _, _ = Spec{}.At(t.Context(), x, y, false, want.State[1:]) })
	_, err = Spec{Mean: "constan"}.At(t.Context(), x, y, false, nil)
	require.ErrorIs(t, err, ErrSpec)
}

func TestFitErrors(t *testing.T) {
	x, y := wave(5, 2, 0, 1)
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 1))
	for text, s := range map[string]Spec{
		`mean is "constan"`:             {Mean: "constan"},
		"3 lengthscales for 2 inputs":   {Lengthscale: []float64{1, 2, 3}},
		"lengthscale is -1, want":       {Lengthscale: []float64{-1}},
		"variance is 0, want":           {Variance: number(0)},
		"noise is NaN, want":            {Noise: number(math.NaN())},
		"restarts is -1, want":          {Restarts: -1},
		"kernel of 3 inputs, data of 2": {Custom: RBF(3)},
		"a kernel with one lengthscale": {Isotropic: new(true), Lengthscale: []float64{1, 2}},
	} {
		_, err := s.Fit(ctx, x, y, false, nil, rng)
		require.ErrorIs(t, err, ErrSpec, text)
		require.ErrorContains(t, err, text)
	}
	_, err := Spec{Kernel: "rfb"}.Fit(ctx, x, y, false, nil, rng)
	require.ErrorIs(t, err, ErrExpression)
	_, err = Spec{}.Fit(ctx, nil, nil, false, nil, rng)
	require.ErrorIs(t, err, ErrData)
	y[2] = math.Inf(1)
	_, err = Spec{}.Fit(ctx, x, y, false, nil, rng)
	require.ErrorIs(t, err, ErrData)
	require.ErrorContains(t, err, "target 3 is +Inf")
}

// expiring is a context that ends when Err is called for the (left+1)th time.
type expiring struct {
	context.Context
	left atomic.Int64
}

func (c *expiring) Err() error {
	if c.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestFitHonoursContext(t *testing.T) {
	x, y := wave(100, 4, 0.05, 3)
	for _, after := range []int64{0, 1, 10, 100} {
		ctx := &expiring{Context: t.Context()}
		ctx.left.Store(after)
		_, err := Spec{}.Fit(ctx, x, y, false, nil, rand.New(rand.NewPCG(1, 1)))
		require.ErrorIs(t, err, context.DeadlineExceeded, "after %d", after)
		require.Greater(t, ctx.left.Load(), int64(-100), "after %d", after) // the search ends soon
	}
	ctx := &expiring{Context: t.Context()}
	_, err := Spec{Noise: number(1), Variance: number(1), Lengthscale: []float64{1}}.Fit(ctx, x, y, false, nil, rand.New(rand.NewPCG(1, 1)))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func BenchmarkFit(b *testing.B) {
	for name, n := range map[string]int{"n=30": 30, "n=100": 100, "n=300": 300} {
		b.Run(name, func(b *testing.B) {
			x, y := wave(n, 6, 0.05, 1)
			for b.Loop() {
				if _, err := (Spec{}).Fit(context.Background(), x, y, false, nil, rand.New(rand.NewPCG(1, 1))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoss(b *testing.B) {
	x, y := wave(100, 6, 0.05, 1)
	m, _ := Spec{}.model(6, false)
	e := newObjective(m, observations{x: x, y: y})
	free := make([]float64, len(m.free))
	grad := make([]float64, len(free))
	b.ReportAllocs()
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			e.loss(context.Background(), free, grad)
		}
	})
	chol, _ := linalg.Factorize(e.gram)
	b.Run("factorize", func(b *testing.B) {
		for b.Loop() {
			linalg.Factorize(e.gram)
		}
	})
	b.Run("inverse", func(b *testing.B) {
		for b.Loop() {
			chol.Inverse(e.inv)
		}
	})
	last := len(m.params) - 1
	b.Run("gram", func(b *testing.B) {
		for b.Loop() {
			e.tape.gram(e.gram, e.theta[:last])
		}
	})
	b.Run("pull", func(b *testing.B) {
		for b.Loop() {
			e.tape.pull(e.dtheta[:last], e.inv)
		}
	})
}

// Fits of kernels whose likelihood has many optima use more starts.
func TestManyOptima(t *testing.T) {
	for text, want := range map[string]bool{
		"matern52": false, "rbf(lengthscale=2)": false, "arccos(depth=2)": false,
		"rbf*periodic(period=24) + linear": true, "rbf[0] + rbf[1]": true, "rbf*linear": true,
		"periodic": true, "periodic(period=24)": false,
	} {
		k, err := Parse(text, 2)
		require.NoError(t, err)
		require.Equal(t, want, manyOptima(k), text)
	}
}

// ByLikelihood omits the hyperpriors: the log marginal likelihood is stationary at the fit, and
// larger than with hyperpriors.
func TestFitByLikelihood(t *testing.T) {
	x, y := wave(40, 2, 0.1, 3)
	ctx := t.Context()
	fit := func(s Spec) Fitted {
		f, err := s.Fit(ctx, x, y, false, nil, rand.New(rand.NewPCG(1, 0)))
		require.NoError(t, err)
		return f
	}
	spec := Spec{Mean: MeanZero}.ByLikelihood()
	best := fit(spec)
	require.Greater(t, best.LogMarginal, fit(Spec{Mean: MeanZero}).LogMarginal+1e-3)

	m, err := spec.model(2, false)
	require.NoError(t, err)
	grad := make([]float64, len(m.free))
	loss := newObjective(m, observations{x: x, y: y}).loss(ctx, best.State, grad)
	require.InDelta(t, -best.LogMarginal, loss, 1e-9)
	for i := range grad {
		require.Less(t, math.Abs(grad[i]), 2e-2)
	}

	_, params, err := spec.Hyperparameters(2, false)
	require.NoError(t, err)
	for _, p := range params {
		require.Nil(t, p.Prior)
	}
}

// A stated number that changes nothing is an error.
func TestStatedNumbersHaveAnEffect(t *testing.T) {
	for want, s := range map[string]Spec{
		"variance has no effect, because every term of the kernel 2*rbf has a number": {Kernel: "2*rbf", Variance: number(3)},
		"lengthscale has no effect, because the kernel arccos":                        {Kernel: "arccos", Lengthscale: []float64{0.4}},
		"lengthscale has no effect, because the kernel rbf(lengthscale=1)":            {Kernel: "rbf(lengthscale=1)", Lengthscale: []float64{0.4}},
	} {
		err := s.Check(2)
		require.ErrorIs(t, err, ErrSpec)
		require.ErrorContains(t, err, want)
	}
	for _, s := range []Spec{
		{Kernel: "2*rbf+matern12", Variance: number(3)}, {Kernel: "linear", Variance: number(3)}, {Kernel: "2*rbf", Variance: number(2)},
		{Kernel: "rbf(lengthscale=1)+linear", Lengthscale: []float64{0.4}},
	} {
		require.NoError(t, s.Check(2), s.Kernel)
	}
}
