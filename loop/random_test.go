package loop

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
	"github.com/functionspace/bo/surrogate/gp"
)

// randomStudy is a study on a random space under random operations. It has its own account of the rules of the
// space and of the states of the trials.
type randomStudy struct {
	*testing.T
	rng    *rand.Rand
	space  *space.Space
	opts   Options
	study  *Study
	active map[string]func(v map[string]any) bool // conditions of conditional parameters
	holds  []func(v map[string]any) bool          // constraints
	states map[int]State
	steps  map[int]map[float64]bool
	queued map[string]bool // points that the caller chose
	asked  int             // trials from Ask
}

// newRandomStudy draws a study. The point n = m = 1 with b is feasible in every space.
func newRandomStudy(t *testing.T, rng *rand.Rand) *randomStudy {
	r := &randomStudy{
		T: t, rng: rng, active: map[string]func(map[string]any) bool{},
		states: map[int]State{}, steps: map[int]map[float64]bool{}, queued: map[string]bool{},
	}
	var constraints []string
	params := r.parameters()
	for len(r.holds) < rng.IntN(3) {
		a, b := 2+rng.IntN(6), rng.Float64()*2
		if rng.IntN(2) == 0 {
			constraints = append(constraints, fmt.Sprintf("n * m <= %d", a))
			r.holds = append(r.holds, func(v map[string]any) bool { return v["n"].(float64)*v["m"].(float64) <= float64(a) })
		} else {
			constraints = append(constraints, fmt.Sprintf("x + m >= %v or b", b))
			r.holds = append(r.holds, func(v map[string]any) bool { return v["x"].(float64)+v["m"].(float64) >= b || v["b"].(bool) })
		}
	}
	var err error
	r.space, err = expression.Space(params, constraints...)
	require.NoError(t, err)
	r.options()
	r.study = newStudy(t, r.space, r.opts)
	return r
}

// parameters draws parameters of all kinds, with conditions up to two levels deep.
func (r *randomStudy) parameters() []space.Parameter {
	rng := r.rng
	x := space.StepFloat("x", 0, 1, []float64{0.5, 0.25, 0.1}[rng.IntN(3)])
	if rng.IntN(2) == 0 {
		x = space.Float("x", 0, 1)
	}
	step := 1 + rng.IntN(3)
	m := space.StepInt("m", 1, 1+2*step, step)
	params := []space.Parameter{x, space.Bool("b"), space.Int("n", 1, 2+rng.IntN(3)), m}
	if rng.IntN(2) == 0 {
		c := space.Categorical("c", "u", "v", "w")
		c.When.Text = "b"
		r.active["c"] = func(v map[string]any) bool { return v["b"].(bool) }
		params = append(params, c)
		if rng.IntN(2) == 0 {
			d := space.LogFloat("d", 1e-3, 10)
			if rng.IntN(2) == 0 {
				d = space.Ordinal("d", 1, 2, 8)
			}
			d.When.Text = "c != 'u'"
			r.active["d"] = func(v map[string]any) bool { return v["c"] != nil && v["c"] != "u" }
			params = append(params, d)
		}
	}
	if rng.IntN(3) == 0 {
		e := space.LogInt("e", 1, 64)
		e.When.Text = "n >= 2 and not b"
		r.active["e"] = func(v map[string]any) bool { return v["n"].(float64) >= 2 && !v["b"].(bool) }
		params = append(params, e)
	}
	return params
}

// options draws objectives, requirements, a stopping rule, noise and a batch.
func (r *randomStudy) options() {
	rng := r.rng
	r.opts = Options{Seed: rng.Uint64(), Initial: 2 + rng.IntN(4), NoiseFree: rng.IntN(3) > 0, Maximize: rng.IntN(2) == 0, Maximizer: acquisition.MaximizeOptions{Raw: 8, Starts: 1, Iterations: 3}}
	r.opts.Acquisition = acquisition.Auto{LogNEI: acquisition.LogNEI{Samples: 16}}
	if rng.IntN(20) > 0 { // else the hyperparameters are fitted
		one := 1.0
		r.opts.Surrogate = gp.Model{Spec: prior.Spec{Lengthscale: []float64{0.5}, Variance: &one, Noise: &one}}
	}
	switch rng.IntN(4) {
	case 0:
		r.opts.Acquisition = acquisition.LogNEHVI{Samples: 4}
		for j := range 2 + rng.IntN(2) {
			r.opts.Objectives = append(r.opts.Objectives, Goal{Name: string(rune('p' + j)), NoiseFree: r.opts.NoiseFree, Maximize: rng.IntN(2) == 0})
		}
		r.opts.Maximize = r.opts.Objectives[0].Maximize
	case 1:
		r.opts.Stop = Stop{Rule: []StopRule{ASHA, Median}[rng.IntN(2)], Eta: 2, Startup: 2}
	}
	if rng.IntN(3) == 0 {
		r.opts.Require = []Requirement{{Name: "z", Bound: rng.NormFloat64(), AtLeast: rng.IntN(2) == 0}}
	}
}

// point checks a point with the account of the rules.
func (r *randomStudy) point(p space.Point) {
	v := map[string]any{}
	for name, value := range p.Map() {
		switch n := value.(type) {
		case int:
			value = float64(n)
		case int64:
			value = float64(n)
		}
		v[name] = value
	}
	for _, q := range r.space.Parameters() {
		active, conditional := r.active[q.Name]
		_, given := v[q.Name]
		require.Equal(r, !conditional || active(v), given, "%s of %v", q.Name, v)
		number, ok := v[q.Name].(float64)
		switch {
		case !given || !ok:
		case q.Values != nil:
			require.True(r, slices.ContainsFunc(q.Values, func(u any) bool { return fmt.Sprint(u) == fmt.Sprint(number) }), "%s of %v", q.Name, v)
		default:
			require.True(r, q.Min <= number && number <= q.Max, "%s of %v", q.Name, v)
			if q.Step > 0 {
				k := (number - q.Min) / q.Step
				require.InDelta(r, math.Round(k), k, 1e-9, "%s of %v", q.Name, v)
			}
		}
	}
	for i, holds := range r.holds {
		require.True(r, holds(v), "constraint %d at %v", i, v)
	}
	again := r.space.Decode(r.space.Encode(p)).Map()
	for name, value := range p.Map() {
		if u, ok := value.(float64); ok { // a continuous value is rounded
			require.InEpsilon(r, 1+u, 1+again[name].(float64), 1e-12)
			delete(again, name)
			continue
		}
		require.Equal(r, value, again[name])
		delete(again, name)
	}
	require.Empty(r, again)
}

// outcome returns numbers that are a function of the point.
func (r *randomStudy) outcome(p space.Point) Outcome {
	h := 0.0
	for _, u := range r.space.Encode(p) {
		h = math.Mod(h*3+u+0.1, 7)
	}
	out := Outcome{Value: h, Numbers: map[string]float64{"p": h, "q": math.Sin(3 * h), "r": math.Cos(h), "z": math.Sin(h)}}
	if !r.opts.NoiseFree {
		out.Value += 0.1 * r.rng.NormFloat64()
		out.Numbers["p"] = out.Value
	}
	return out
}

// pending returns a random pending trial; 0 if there is none.
func (r *randomStudy) pending() int {
	var ids []int
	for id, s := range r.states {
		if s == Pending {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return 0
	}
	slices.Sort(ids)
	return ids[r.rng.IntN(len(ids))]
}

// ask checks new trials: they belong to the space, and none repeats a point while a noise-free study has points
// without a trial.
func (r *randomStudy) ask() {
	before := map[string]bool{}
	for _, t := range r.study.Trials() {
		before[t.Point.Key()] = true
	}
	trials, err := r.study.Ask(r.Context(), 1+r.rng.IntN(3))
	if errors.Is(err, ErrExhausted) {
		require.True(r, r.opts.NoiseFree && len(before) == r.space.Count(), "%d of %d points: %v", len(before), r.space.Count(), err)
		return
	}
	require.NoError(r, err)
	_, finite := r.space.Size()
	for _, t := range trials {
		_, known := r.states[t.ID]
		require.False(r, known)
		r.point(t.Point)
		key := t.Point.Key()
		repeats := before[key] && !r.queued[key]
		require.False(r, repeats && (r.opts.NoiseFree || finite && len(before) < r.space.Count()), "trial %d repeats %v", t.ID, t.Point)
		before[key], r.states[t.ID] = true, Pending
		r.asked++
	}
}

// operate makes one random operation.
func (r *randomStudy) operate() {
	id := r.pending()
	switch op := r.rng.IntN(10); {
	case op < 4 && len(r.states) < 60 || id == 0:
		r.ask()
	case op < 7:
		require.NoError(r, r.study.TellOutcome(id, r.outcome(r.study.Trials()[id-1].Point)))
		r.states[id] = Complete
		require.ErrorIs(r, r.study.Fail(id, "again"), ErrFinished)
	case op == 7:
		require.NoError(r, r.study.Fail(id, "no"))
		r.states[id] = Failed
	case op == 8 && !r.opts.Several():
		r.report(id)
	case r.rng.IntN(2) == 0:
		p := r.study.Trials()[r.rng.IntN(len(r.states))].Point
		require.NoError(r, r.study.Enqueue(p))
		r.queued[p.Key()] = true
	default:
		var file bytes.Buffer
		require.NoError(r, r.study.Save(&file))
		again, err := ResumeIn(&file, r.space, r.opts)
		require.NoError(r, err)
		require.Equal(r, len(r.study.Trials()), len(again.Trials()))
	}
}

// report reports steps of a trial in any order, some of them twice.
func (r *randomStudy) report(id int) {
	if r.steps[id] == nil {
		r.steps[id] = map[float64]bool{}
	}
	step := float64(1 + r.rng.IntN(5))
	stop, err := r.study.Report(id, step, r.rng.NormFloat64())
	require.NoError(r, err)
	r.steps[id][step] = true
	require.Len(r, r.study.Trials()[id-1].Steps, len(r.steps[id]))
	if stop {
		r.states[id] = Stopped
	}
}

// check compares the states of the trials.
func (r *randomStudy) check() {
	for _, t := range r.study.Trials() {
		require.Equal(r, r.states[t.ID], t.State, "trial %d", t.ID)
	}
	require.Len(r, r.study.Trials(), len(r.states))
}

// operateRandomly makes n operations on a random study and returns the number of suggested trials.
func operateRandomly(t *testing.T, seed uint64, n int) int {
	r := newRandomStudy(t, rand.New(rand.NewPCG(seed, 17)))
	for range n {
		r.operate()
	}
	r.check()
	return r.asked
}

var full = flag.Bool("full", false, "300 random studies, otherwise a twentieth; averages over ten seeds, otherwise over four or five")

// No suggestion violates its space, no point is repeated needlessly, and any sequence of operations keeps the study
// consistent.
func TestRandomStudies(t *testing.T) {
	seeds := uint64(15)
	switch {
	case *full:
		seeds = 300
	case racetest.Enabled && testing.Short():
		seeds = 3
	case testing.Short():
		seeds = 8
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { operateRandomly(t, seed, 60) })
	}
}

func FuzzStudies(f *testing.F) { // TestRandomStudies runs the first seeds
	f.Fuzz(func(t *testing.T, seed uint64) { operateRandomly(t, seed, 60) })
}
