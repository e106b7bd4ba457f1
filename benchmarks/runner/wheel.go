package runner

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

// wheelSuite plays the wheel bandit of Riquelme et al. 2018 (arXiv:1802.09127) by Thompson
// sampling as in fBNN, appendix E.3 (Sun et al., arXiv:1903.05779), in fewer rounds. The
// experiments are named after the radius δ.
func wheelSuite() Suite {
	s := Suite{
		Name:    "paper/wheel",
		Summary: "the wheel bandit by Thompson sampling, after the fBNN paper",
		Methods: []string{"gp", "fsp-laplace", "laplace"},
		Quantities: []Quantity{
			{Name: "regret", Title: "Cumulative regret, percent of the regret of uniform choice", Digits: 1, Lower: true},
			{Name: "missed", Title: "Rounds beyond δ without the large reward, percent", Digits: 1, Lower: true},
		},
		Seeds: 5,
	}
	for _, delta := range []float64{0.5, 0.7, 0.9, 0.95, 0.99} {
		s.Experiments = append(s.Experiments, Experiment{
			Name: fmt.Sprintf("delta=%v", delta),
			Load: func(string) (Measurement, error) { return wheel{delta, wheelRounds, wheelEvery}.measure, nil },
		})
	}
	return s
}

const (
	wheelArms   = 5
	wheelRounds = 500 // 2000 in the code of the paper's reference
	wheelEvery  = 25  // rounds between fits
	wheelPulls  = 2   // of each arm at the start
)

// wheel has contexts in the unit disc and five arms. The first arm has the mean reward 1.2, the
// others 1. Beyond the radius delta one of the others, another in each quadrant, has 50.
type wheel struct {
	delta         float64
	rounds, every int
}

// wheelNoise is the standard deviation of a reward.
const wheelNoise = 0.01

// means returns the mean reward of each arm in a context, and the best arm.
func (w wheel) means(x, y float64) (mean [wheelArms]float64, best int) {
	mean = [wheelArms]float64{1.2, 1, 1, 1, 1}
	if math.Hypot(x, y) <= w.delta {
		return mean, 0
	}
	best = 1
	if x < 0 {
		best++
	}
	if y < 0 {
		best += 2
	}
	mean[best] = 50
	return mean, best
}

// arms writes the model's inputs of a context: the context and an indicator of the arm.
func (wheel) arms(x, y float64) *mat.Dense {
	u := mat.NewDense(wheelArms, 2+wheelArms, nil)
	for a := range wheelArms {
		u.Set(a, 0, x)
		u.Set(a, 1, y)
		u.Set(a, 2+a, 1)
	}
	return u
}

func (w wheel) measure(ctx context.Context, m Method, seed uint64, rec *Record) error {
	c, err := m.chooser()
	if err != nil {
		return err
	}
	player := thompson{model: surrogate.Scaled{Model: c.Surrogate, Inputs: surrogate.Raw}, every: w.every, rng: random.New(seed, "wheel player", 0)}
	rng := random.New(seed, "wheel", 0)
	var own, uniform, outside, missed float64
	for t := range w.rounds {
		r, angle := math.Sqrt(rng.Float64()), 2*math.Pi*rng.Float64()
		x, y := r*math.Cos(angle), r*math.Sin(angle)
		mean, best := w.means(x, y)
		u := w.arms(x, y)
		arm := t % wheelArms
		if t >= wheelPulls*wheelArms {
			if arm, err = player.choose(ctx, u); err != nil {
				return err
			}
		}
		player.observe(u.RawRowView(arm), mean[arm]+wheelNoise*rng.NormFloat64())
		own += mean[best] - mean[arm]
		for a := range wheelArms {
			uniform += (mean[best] - mean[a]) / wheelArms
		}
		if best > 0 {
			outside++
			if arm != best {
				missed++
			}
		}
	}
	rec.Dim = 2 + wheelArms
	rec.Measures["regret"] = 100 * own / uniform
	rec.Measures["missed"] = 100 * missed / max(1, outside)
	return nil
}

// thompson chooses the row at which a function drawn from the posterior is largest. It fits
// the model to all observations after every so many choices.
type thompson struct {
	model surrogate.Model
	every int
	rng   *rand.Rand

	x    []float64
	y    []float64
	post surrogate.Posterior
	used int // observations of the last fit
}

func (p *thompson) observe(row []float64, y float64) {
	p.x, p.y = append(p.x, row...), append(p.y, y)
}

func (p *thompson) choose(ctx context.Context, rows *mat.Dense) (int, error) {
	n, dim := rows.Dims()
	if p.post == nil || len(p.y)-p.used >= p.every {
		lo, hi := make([]float64, dim), make([]float64, dim)
		for j := range dim {
			lo[j], hi[j] = 0, 1
		}
		lo[0], lo[1] = -1, -1
		post, err := p.model.Fit(ctx, surrogate.Dataset{X: mat.NewDense(len(p.y), dim, p.x), Y: p.y, Lo: lo, Hi: hi}, p.rng)
		if err != nil {
			return 0, err
		}
		p.post, p.used = post, len(p.y)
		p.x, p.y = append([]float64(nil), p.x...), append([]float64(nil), p.y...)
	}
	value := make([]float64, n)
	p.post.Paths(1, p.rng)[0].Eval(value, nil, rows)
	best := 0
	for a, v := range value {
		if v > value[best] {
			best = a
		}
	}
	return best, nil
}
