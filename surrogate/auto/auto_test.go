package auto

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestConformance(t *testing.T) {
	surrogatetest.Options{Fast: true}.Run(t, Model{Spec: prior.Spec{Restarts: 1}})
}

func observed(n int) surrogate.Dataset {
	d := surrogate.Dataset{X: space.Sobol(n, 2, random.New(1, "x", 0)), Y: make([]float64, n), Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	for i := range n {
		x := d.X.RawRowView(i)
		d.Y[i] = math.Sin(7*x[0]) + x[1]*x[1]
	}
	return d
}

func TestStages(t *testing.T) {
	for _, c := range [][2]int{{0, 0}, {15, 0}, {16, 16}, {23, 16}, {24, 24}, {36, 36}, {54, 54}, {80, 54}, {81, 81}, {1001, 0}} {
		require.Equal(t, c[1], stage(c[0]), "%d observations", c[0])
	}
	for n := firstStage; n <= lastStage; n++ {
		require.LessOrEqual(t, stage(n), n)
		require.Greater(t, 3*stage(n), 2*n-3, "%d observations", n)
	}
}

// The selection changes if the sum of the differences is above 3 and above two standard errors.
func TestSelectionHasHysteresis(t *testing.T) {
	x, y := mat.NewDense(20, 1, nil), make([]float64, 20)
	at := func(offset float64, rows int) *predicted { // the first rows are predicted with an error
		mean := make([]float64, 20)
		for i := range rows {
			mean[i] = offset
		}
		return &predicted{mean: mean}
	}
	s := selection{}
	s.compare([]surrogate.Posterior{at(0.5, 20), at(0, 0)}, x, y)
	require.Equal(t, 0, s.chosen, "less than 3 nats")
	require.InDelta(t, 2.5, s.evidence, 1e-12)
	s.compare([]surrogate.Posterior{at(2, 10), at(0, 0)}, x, y)
	require.Equal(t, 1, s.chosen)
	require.Greater(t, s.evidence, 2*s.deviation)
	s.compare([]surrogate.Posterior{at(0, 0), at(0.5, 20)}, x, y)
	require.Equal(t, 1, s.chosen)
	s.compare([]surrogate.Posterior{at(0, 0), at(2, 10)}, x, y)
	require.Equal(t, 0, s.chosen)
	require.Negative(t, s.evidence)
	s.compare([]surrogate.Posterior{at(1e9, 2), at(0, 0)}, x, y)
	require.Equal(t, 0, s.chosen, "two outliers are no evidence")
	s.compare([]surrogate.Posterior{at(0, 0), at(0, 0)}, x, y)
	require.Equal(t, 0, s.chosen)
}

// predicted has the given means of observations with the variance 1.
// The reason states the evidence that is missing if the better model is not selected.
func TestReasonOfWeakEvidence(t *testing.T) {
	for _, c := range []struct {
		s    selection
		want string
	}{
		{selection{stage: 16, chosen: 1, evidence: 6.27, deviation: 1}, "fsp-laplace predicts later observations better than gp, by 6.27 ± 1 nats"},
		{selection{stage: 16, chosen: 0, evidence: -0.3, deviation: 1}, "gp predicts later observations better than fsp-laplace, by 0.3 ± 1 nats"},
		{selection{stage: 16, chosen: 0, evidence: 6.27, deviation: 4.2}, "fsp-laplace predicts later observations better than gp, by 6.27 ± 4.2 nats, which is not above the 8.4 nats that select it"},
		{selection{stage: 16, chosen: 1, evidence: -2, deviation: 1}, "gp predicts later observations better than fsp-laplace, by 2 ± 1 nats, which is not above the 3 nats that select it"},
		{selection{stage: 16}, "the models predict later observations equally well"},
	} {
		require.Equal(t, c.want, c.s.describe(gp.Model{}).Reason)
	}
}

type predicted struct {
	surrogate.Posterior
	mean []float64
}

func (p *predicted) Noise() float64 { return 1 }
func (p *predicted) Predict(mean, variance []float64, _ *mat.Dense) {
	copy(mean, p.mean)
	clear(variance)
}

// Before the first stage gp is fitted. Until the next stage the selection stays.
func TestSelection(t *testing.T) {
	fit := func(start surrogate.State, n int) surrogate.Posterior {
		p, err := Model{}.FitFrom(t.Context(), start, observed(n), random.New(1, "fit", 0))
		require.NoError(t, err)
		return p
	}
	selected := func(p surrogate.Posterior) *surrogate.Selection { return p.(surrogate.Selected).Selection() }
	state := func(p surrogate.Posterior) surrogate.State { return p.(surrogate.Stater).State() }
	p := fit(nil, 10)
	require.Equal(t, "gp", selected(p).Surrogate)
	require.Equal(t, "not compared: the models are compared from 16 to 1000 observations", selected(p).Reason)
	require.IsType(t, gp.Model{}, selected(p).Model)
	alone, err := gp.Model{}.Fit(t.Context(), observed(10), random.Split(random.New(1, "fit", 0), "selected", 0))
	require.NoError(t, err)
	require.Equal(t, alone.(surrogate.Evidence).LogMarginalLikelihood(), p.(surrogate.Evidence).LogMarginalLikelihood())
	require.Nil(t, selected(alone))

	p = fit(state(p), 16)
	require.NotZero(t, selected(p).Deviation)
	require.Contains(t, selected(p).Reason, "predicts later observations better than")
	later := fit(state(p), 20)
	require.Equal(t, *selected(p), *selected(later))
	require.Equal(t, state(later), state(fit(state(p), 20)))

	s := decode(state(p))
	require.NotEmpty(t, s.states[1])
	s.chosen = 1
	p = fit(s.encode(), 20)
	require.Equal(t, "fsp-laplace", selected(p).Surrogate)
	require.IsType(t, fsplaplace.Model{}, selected(p).Model)
	for _, bad := range []surrogate.State{{1}, {16, 7, 0, 0, 0}, {16, 0, 0, 0, 9}, {math.NaN(), 0, 0, 0, math.NaN()}} {
		require.Equal(t, selection{}, decode(bad))
	}
}
