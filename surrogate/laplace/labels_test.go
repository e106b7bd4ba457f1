package laplace

import (
	"context"
	"github.com/functionspace/bo/internal/settings"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/classify"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestLabelsConformance(t *testing.T) {
	for name, m := range map[string]Model{
		"full":     {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{10, 10}}}},
		"kron":     {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{6, 5}}}, Curvature: "kron", Restarts: 1},
		"diagonal": {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{8}, Precision: new(0.2)}}, Curvature: "diagonal"},
		"adam":     {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{8}}, Trainer: "adam", Steps: 600, Batch: 20, Rate: 0.02}},
		"preset":   {Preset: surrogate.Published, Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{8}}, Steps: 600, Rate: 0.02}},
	} {
		t.Run(name, func(t *testing.T) { surrogatetest.RunClassifier(t, m) })
	}
	_, err := Model{Settings: mapnet.Settings{Network: mapnet.Network{Noise: new(0.1)}}}.FitLabels(context.Background(), slopes(4, 2), random.New(1, "fit", 0))
	require.ErrorIs(t, err, prior.ErrSpec)
}

// slopes returns labels by a noisy linear function, with equally many of each class.
func slopes(n, classes int) surrogate.Labels {
	rng := random.New(4, "slopes", classes)
	d := surrogate.Labels{X: mat.NewDense(n, 2, nil), Y: make([]int, n), Classes: classes, Lo: []float64{-1, -1}, Hi: []float64{1, 1}}
	score, order := make([]float64, n), make([]int, n)
	for i := range n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		d.X.SetRow(i, []float64{a, b})
		score[i] = a - b + 0.3*rng.NormFloat64()
	}
	floats.Argsort(score, order)
	for rank, i := range order {
		d.Y[i] = rank * classes / n
	}
	return d
}

// A network without hidden layers is a Gaussian process with a linear kernel. Its latent
// functions given labels and its evidence are exact.
func TestLinearClassifierIsExact(t *testing.T) {
	const delta = 0.7
	for _, classes := range []int{2, 3} {
		d := slopes(6*classes, classes)
		l := classify.Latents(classes)
		// The input of the network is √3·x.
		kernel := prior.Linear(2).WithParams([]float64{math.Sqrt(delta / 3), math.Sqrt(delta / 3), 1 / delta})
		p := classify.Prior{Kernel: kernel, Means: make([]float64, l)}
		mode, err := classify.FindMode(context.Background(), p.Grams(d.X), p.Means, d.Y, nil)
		require.NoError(t, err)
		want := classify.Posterior{Process: &classify.Conditioned{Prior: p, X: d.X, Given: mode}, Labels: classes}
		x := mat.NewDense(3, 2, []float64{0.3, -0.2, 2, 1, 0, 0})
		ask := func(p surrogate.ClassPosterior) [][]float64 {
			mean, variance, prob := mat.NewDense(3, l, nil), mat.NewDense(3, l, nil), mat.NewDense(3, classes, nil)
			p.Latent(mean, variance, x)
			p.Predict(prob, x)
			return [][]float64{mean.RawMatrix().Data, variance.RawMatrix().Data, prob.RawMatrix().Data}
		}
		for name, m := range map[string]Model{
			"gauss-newton": {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{}, Precision: new(delta)}, Steps: 1000}},
			"adam":         {Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{}, Precision: new(delta)}, Trainer: "adam", Rate: 0.05}},
		} {
			got, err := m.FitLabels(context.Background(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			a, b := ask(want), ask(got)
			for i := range a {
				require.InDeltaSlice(t, a[i], b[i], 0.02, "%s, %d classes", name, classes)
			}
			require.InDelta(t, mode.Evidence, got.(surrogate.ClassEvidence).LogMarginalLikelihood(), 1e-3)
		}
	}
}

// The step of each network is along the gradient of the objective.
func TestLabelGradient(t *testing.T) {
	d := slopes(7, 3)
	m, err := settings.Resolve("laplace", Model{Settings: mapnet.Settings{Network: mapnet.Network{Hidden: []int{3}}}})
	require.NoError(t, err)
	net, err := mapnet.New(m.Settings, surrogate.Dataset{X: d.X, Y: make([]float64, 7)})
	require.NoError(t, err)
	p := &labelProblem{Problem: net, labels: d.Y, l: 3, shift: []float64{0.2, -0.3, 0.1}}
	s := &trained{tapes: make([]*nn.Tape, 3), prob: mat.NewDense(3, 7, nil), precision: 0.3}
	size := p.Net.NumParams()
	all := make([]float64, 3*size)
	for c := range 3 {
		s.w = append(s.w, all[c*size:(c+1)*size])
		copy(s.w[c], p.Initial(random.New(1, "w", c)))
	}
	f := func([]float64) float64 {
		return p.objective(s.prob, mat.NewDense(3, 7, nil), p.record(s), s.w, s.precision)
	}
	grad := mat.NewDense(3, 7, nil)
	p.objective(s.prob, grad, p.record(s), s.w, s.precision)
	// With large damping the step is the negative gradient divided by the damping.
	const lambda = 1e9
	kernels := make([]*mat.SymDense, 3)
	for c, tape := range s.tapes {
		kernels[c] = mat.NewSymDense(7, nil)
		nn.KernelSym(kernels[c], tape)
	}
	steps, _, err := p.step(s, kernels, grad, lambda)
	require.NoError(t, err)
	var down []float64
	for _, step := range steps {
		for _, v := range step {
			down = append(down, -v*(s.precision+lambda))
		}
	}
	require.NoError(t, gradcheck.Gradient(f, all, down, 1e-6))
}

func TestLogOdds(t *testing.T) {
	require.InDeltaSlice(t, []float64{math.Log(3.5 / 1.5)}, logOdds([]int{1, 0, 1, 1}, 2), 1e-15)
	odds := logOdds([]int{2, 2, 0}, 3)
	require.InDelta(t, 0, floats.Sum(odds), 1e-15)
	require.InDelta(t, math.Log(2.5/0.5), odds[2]-odds[1], 1e-15)
}
