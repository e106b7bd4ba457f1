package fsplaplace

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/classify"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestLabelsConformance(t *testing.T) {
	for name, m := range map[string]Model{
		"ridge":    {Network: surrogate.Network{Hidden: []int{12}}, Context: 40},
		"sizes":    {Network: surrogate.Network{Hidden: []int{8, 8}}, Context: 30, CovarianceContext: 50},
		"adam":     {Network: surrogate.Network{Hidden: []int{10}}, Context: 30, Trainer: "adam", Steps: 150, Rate: 0.04},
		"cholesky": {Network: surrogate.Network{Hidden: []int{10}}, Context: 30, Factor: "cholesky"},
		"lanczos":  {Network: surrogate.Network{Hidden: []int{10}}, Context: 30, CovarianceContext: 60, Factor: "lanczos", Scaling: "data", Box: "data"},
		"preset":   {Preset: surrogate.Published, Network: surrogate.Network{Hidden: []int{10}}, Context: 30, CovarianceContext: 60, Steps: 150, Rate: 0.04},
	} {
		t.Run(name, func(t *testing.T) { surrogatetest.RunClassifier(t, m) })
	}
}

// rings returns labels by the distance from the centre, with some noise.
func rings(n, classes int) surrogate.Labels {
	rng := random.New(5, "rings", classes)
	d := surrogate.Labels{X: mat.NewDense(n, 2, nil), Y: make([]int, n), Classes: classes, Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	for i := range n {
		a, b := rng.Float64(), rng.Float64()
		d.X.SetRow(i, []float64{a, b})
		r := math.Hypot(a-0.5, b-0.5) + 0.05*rng.NormFloat64()
		d.Y[i] = max(0, min(classes-1, int(float64(classes)*r/0.6)))
	}
	return d
}

// A warning of the process given the labels is a warning of the fit, with any factor.
func TestLabelsWarnOfTheProcess(t *testing.T) {
	for _, factor := range []string{"ridge", "cholesky"} {
		m := Model{Spec: prior.Spec{Kernel: "rbf", Variance: new(1e9), Mean: prior.MeanZero}, Context: 30, Factor: factor}
		p, err := m.FitLabels(t.Context(), rings(40, 2), random.New(1, "fit", 0))
		require.NoError(t, err)
		require.Contains(t, strings.Join(p.Warnings(), "; "), classify.ErrNoFixedPoint.Error(), factor)
	}
}

// The networks have nearly the latent moments of the exact process, with coupled classes.
func TestLabelsAgainstTheProcess(t *testing.T) {
	for _, classes := range []int{2, 3} {
		d := rings(40, classes)
		spec := prior.Spec{Kernel: "rbf", Lengthscale: []float64{0.4}, Variance: new(4.), Mean: prior.MeanZero}
		fit := func(c surrogate.Classifier) classify.Posterior {
			p, err := c.FitLabels(context.Background(), d, random.New(1, "fit", 0))
			require.NoError(t, err)
			require.Empty(t, p.Warnings())
			if e, ok := p.(classify.WithEvidence); ok {
				return e.Posterior
			}
			return p.(classify.Posterior)
		}
		want, got := fit(gp.Model{Spec: spec}), fit(Model{Spec: spec, Context: 150})
		const m = 60
		l := want.Latents()
		x := domain.Box{Lo: d.Lo, Hi: d.Hi}.Uniform(m, random.New(2, "at", 0))
		moments := func(p classify.Posterior) (mean, cov *mat.Dense) {
			mean, cov = mat.NewDense(m, l, nil), mat.NewDense(m, l*l, nil)
			p.Moments(mean, cov, x)
			return mean, cov
		}
		wm, wc := moments(want)
		gm, gc := moments(got)
		for i := range m {
			require.InDeltaSlice(t, wm.RawRowView(i), gm.RawRowView(i), 0.05)
			for j, v := range wc.RawRowView(i) {
				require.InDelta(t, v, gc.At(i, j), 0.1*wc.At(i, j/l*l+j/l)+0.03)
			}
		}
	}
}

func TestLabelLossGradient(t *testing.T) {
	for _, classes := range []int{2, 3} {
		d := rings(9, classes)
		l := classify.Latents(classes)
		net := &nn.Network{In: 2, Hidden: []int{4, 3}}
		p := &labelProblem{
			problem: problem{net: net, data: surrogate.Dataset{X: d.X}, inputs: domain.ZScore(d.X), process: prior.Process{Kernel: prior.Matern32(2)}},
			prior:   classify.Prior{Kernel: prior.Matern32(2), Means: make([]float64, l)}, y: d.Y,
		}
		p.prior.Means[0] = 0.3
		loss := p.newLoss(&labelled{y: p.y}, p.data.X, p.prior.Means...)
		require.NoError(t, loss.at(domain.Box{Lo: d.Lo, Hi: d.Hi}.Uniform(5, random.New(1, "c", 0))))
		loss.batch(subset.All(6))
		var w []float64
		for c := range l {
			w = append(w, net.Init(random.New(1, "w", c))...)
		}
		grad := make([]float64, len(w))
		loss.eval(w, grad)
		require.NoError(t, gradcheck.Gradient(func(w []float64) float64 { return loss.eval(w, nil) }, w, grad, 1e-7))
	}
}

// Beyond 1000 labels the process is sparse, and its context points cover the box.
func TestManyLabels(t *testing.T) {
	racetest.SkipNumerical(t)
	d := rings(1010, 2)
	m := Model{Spec: prior.Spec{Kernel: "rbf", Lengthscale: []float64{0.4}, Variance: new(9.)}, Network: surrogate.Network{Hidden: []int{20}}, Context: 40, Steps: 8}
	p, err := m.FitLabels(context.Background(), d, random.New(1, "fit", 0))
	require.NoError(t, err)
	x := mat.NewDense(2, 2, []float64{0.5, 0.5, 0.05, 0.05})
	prob := mat.NewDense(2, 2, nil)
	p.Predict(prob, x)
	require.Greater(t, prob.At(0, 0), 0.9)
	require.Greater(t, prob.At(1, 1), 0.9)
}
