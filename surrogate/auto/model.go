package auto

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Model selects between gp and fsp-laplace, with the same prior and else default settings. The
// posterior is a posterior of the selected model, and a surrogate.Selected.
type Model struct {
	prior.Spec `range:"noise=[1e-10,inf)"`
}

var _ surrogate.WarmStarter = Model{}

const (
	firstStage = 16
	lastStage  = 1000 // with more observations, gp is selected
	largest    = 3    // limit of a difference, in nats
	deviations = 2    // standard errors of the sum above which the selection changes
)

// names holds the names of the models; the first is selected before the first stage.
var names = []string{"gp", "fsp-laplace"}

// Fit implements surrogate.Model. It costs both fits from 16 to 1000 observations.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: the selection of the earlier fit stays until the next
// stage, and fits between stages cost a fit of the selected model.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	s := decode(start)
	at := stage(len(d.Y))
	compares := at != s.stage && at > 0
	if s.stage = at; at == 0 {
		s.chosen, s.evidence, s.deviation = 0, 0, 0
	}
	fitted := make([]surrogate.Posterior, len(names))
	for i, model := range []surrogate.WarmStarter{gp.Model{Spec: m.Spec}, fsplaplace.Model{Spec: m.Spec}} {
		if i != s.chosen && !compares {
			continue
		}
		var err error
		if fitted[i], err = model.FitFrom(ctx, s.states[i], d, random.Split(rng, names[i], 0)); err != nil {
			return nil, err
		}
		s.states[i] = fitted[i].(surrogate.Stater).State()
	}
	if compares {
		s.compare(fitted, d.Y)
	}
	p := fitted[s.chosen]
	of := surrogate.Selection{Surrogate: names[s.chosen], Evidence: s.evidence, Deviation: s.deviation, Model: gp.Model{Spec: m.Spec}}
	if s.chosen == 1 {
		of.Model = fsplaplace.Model{Spec: m.Spec}
	}
	p.(summary.Amendable).Amend(s.encode(), of)
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

// compare updates the selection given the fits to the targets y.
func (s *selection) compare(fitted []surrogate.Posterior, y []float64) {
	n := len(y)
	density := make([][]float64, len(fitted))
	for k, p := range fitted {
		mean, variance := make([]float64, n), make([]float64, n)
		p.(surrogate.LeaveOneOut).LeaveOneOut(mean, variance)
		density[k] = make([]float64, n)
		for i, v := range variance {
			v += p.Noise()
			density[k][i] = -0.5 * (math.Log(v) + (y[i]-mean[i])*(y[i]-mean[i])/v)
		}
	}
	delta := make([]float64, n)
	for i := range delta {
		delta[i] = min(max(density[1][i]-density[0][i], -largest), largest)
	}
	mean, variance := stat.MeanVariance(delta, nil)
	s.evidence, s.deviation = float64(n)*mean, math.Sqrt(float64(n)*variance)
	switch {
	case s.evidence > deviations*s.deviation:
		s.chosen = 1
	case s.evidence < -deviations*s.deviation:
		s.chosen = 0
	}
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
