package auto

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Model selects between gp and fsp-laplace, with the same prior and else default settings. The
// posterior is a posterior of the selected model, and a surrogate.Selected. The order of the
// observations matters.
type Model struct {
	prior.Spec `range:"noise=[1e-10,inf)"`
}

var _ surrogate.WarmStarter = Model{}

const (
	firstStage = 16
	lastStage  = 1000 // with more observations, gp is selected
	largest    = 3    // limit of a difference, in nats
	margin     = 3    // evidence above which the selection changes, in nats: 20 to 1
	deviations = 2    // the same in standard errors
)

// names holds the names of the models; the first is selected before the first stage.
var names = []string{"gp", "fsp-laplace"}

// Fit implements surrogate.Model. From 16 to 1000 observations it costs fits of both models to two thirds of
// the observations. It also costs a fit of the selected model to all.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: the selection of the earlier fit stays until the next
// stage, and fits between stages cost a fit of the selected model.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	models := []surrogate.WarmStarter{gp.Model{Spec: m.Spec}, fsplaplace.Model{Spec: m.Spec}}
	s := decode(start)
	n := len(d.Y)
	switch at := stage(n); {
	case at == 0:
		s = selection{states: s.states}
	case at != s.stage:
		s.stage = at
		first := d
		first.X, first.Y = shape.Rows(d.X, 0, 2*n/3), d.Y[:2*n/3]
		fits := make([]surrogate.Posterior, len(models))
		for i, model := range models {
			var err error
			if fits[i], err = model.FitFrom(ctx, s.states[i], first, random.Split(rng, names[i], 0)); err != nil {
				return nil, err
			}
			s.states[i] = fits[i].(surrogate.Stater).State()
		}
		s.compare(fits, shape.Rows(d.X, 2*n/3, n), d.Y[2*n/3:])
	}
	p, err := models[s.chosen].FitFrom(ctx, s.states[s.chosen], d, random.Split(rng, "selected", 0))
	if err != nil {
		return nil, err
	}
	s.states[s.chosen] = p.(surrogate.Stater).State()
	p.(summary.Amendable).Amend(s.encode(), s.describe(models[s.chosen]))
	return p, nil
}

// stage returns the largest stage that n has reached: 0 before the first and after the last.
func stage(n int) int {
	if n < firstStage || n > lastStage {
		return 0
	}
	at := firstStage
	for next := at; next <= n; next += (next + 1) / 2 {
		at = next
	}
	return at
}

// selection is the selection at a stage, and the states of the latest fits.
type selection struct {
	stage, chosen       int
	evidence, deviation float64 // Σδ and its standard error
	states              [2]surrogate.State
}

// compare updates the selection given fits to earlier observations and the next observations.
func (s *selection) compare(fits []surrogate.Posterior, x *mat.Dense, y []float64) {
	n := len(y)
	delta, mean, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	for k, sign := range []float64{-1, 1} {
		fits[k].Predict(mean, variance, x)
		for i, v := range variance {
			v += fits[k].Noise()
			delta[i] -= sign * 0.5 * (math.Log(v) + (y[i]-mean[i])*(y[i]-mean[i])/v)
		}
	}
	for i, d := range delta {
		delta[i] = min(max(d, -largest), largest)
	}
	average, spread := stat.MeanVariance(delta, nil)
	s.evidence, s.deviation = float64(n)*average, math.Sqrt(float64(n)*spread)
	switch enough := s.enough(); {
	case s.evidence > enough:
		s.chosen = 1
	case s.evidence < -enough:
		s.chosen = 0
	}
}

// enough returns the evidence in nats above which the selection changes.
func (s *selection) enough() float64 { return max(margin, deviations*s.deviation) }

// describe returns the selection for display.
func (s *selection) describe(m surrogate.Model) surrogate.Selection {
	of := surrogate.Selection{
		Surrogate: names[s.chosen], Model: m,
		Reason: fmt.Sprintf("not compared: the models are compared from %d to %d observations", firstStage, lastStage),
	}
	if s.stage > 0 {
		of.Evidence, of.Deviation = s.evidence, s.deviation
		better, worse := names[1], names[0]
		if s.evidence < 0 {
			better, worse = worse, better
		}
		of.Reason = fmt.Sprintf("%s predicts later observations better than %s, by %.3g ± %.2g nats", better, worse, math.Abs(s.evidence), s.deviation)
		switch {
		case s.evidence == 0:
			of.Reason = "the models predict later observations equally well"
		case better != of.Surrogate:
			of.Reason += fmt.Sprintf(", which is not above the %.2g nats that select it", s.enough())
		}
	}
	return of
}

// encode returns s as a state.
func (s *selection) encode() surrogate.State {
	head := surrogate.State{float64(s.stage), float64(s.chosen), s.evidence, s.deviation, float64(len(s.states[0]))}
	return slices.Concat(head, s.states[0], s.states[1])
}

// decode is the inverse of encode; a state of another form gives the selection before data.
func decode(state surrogate.State) (s selection) {
	const head = 5
	if len(state) < head || !(state[4] >= 0 && state[4] <= float64(len(state)-head)) || state[1] != 0 && state[1] != 1 {
		return s
	}
	s.stage, s.chosen, s.evidence, s.deviation = int(state[0]), int(state[1]), state[2], state[3]
	split := head + int(state[4])
	s.states = [2]surrogate.State{state[head:split:split], state[split:]}
	return s
}
