package loop

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/rff"
)

// replayed returns a task with one trial for each value of x, in [0,1], and its trust region.
func replayed(t *testing.T, x, values []float64) (*task, *region) {
	t.Helper()
	s := newSpace(t, space.Float("x", 0, 1))
	o := options(1)
	o.NoiseFree, o.Initial = true, 2
	var h History
	for i, v := range x {
		trial := Trial{ID: i + 1, Point: s.Decode([]float64{v}), State: Complete, Value: values[i]}
		if math.IsNaN(values[i]) {
			trial.State, trial.Value = Failed, 0
		}
		h.Trials = append(h.Trials, trial)
	}
	task, err := newTask(s, o, h)
	require.NoError(t, err)
	f := &fitted{}
	for i, v := range values {
		if !math.IsNaN(v) {
			f.trials, f.z = append(f.trials, i), append(f.z, v)
		}
	}
	return task, task.trustRegion(f)
}

func TestTrustRegionReplaysTrials(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		x, values    []float64
		centre, half float64
	}{
		"initial design":                   {[]float64{0.2, 0.5}, []float64{1, 2}, 0.2, 0.4},
		"worse shrinks":                    {[]float64{0.2, 0.9, 0.5}, []float64{1, 2, 3}, 0.2, 0.2},
		"worse elsewhere":                  {[]float64{0.2, 0.9, 0.7}, []float64{1, 2, 3}, 0.2, 0.4},
		"equal":                            {[]float64{0.2, 0.9, 0.5}, []float64{1, 2, 1}, 0.2, 0.4},
		"failed":                           {[]float64{0.2, 0.9, 0.5}, []float64{1, 2, nan}, 0.2, 0.2},
		"better moves, after two halves":   {[]float64{0.2, 0.9, 0.5, 0.3, 0.25}, []float64{1, 2, 3, 3, 0}, 0.25, 0.2},
		"better elsewhere starts again":    {[]float64{0.2, 0.9, 0.5, 0.3, 0.8}, []float64{1, 2, 3, 3, 0}, 0.8, 0.4},
		"better does not exceed the first": {[]float64{0.2, 0.9, 0.3}, []float64{1, 2, 0}, 0.3, 0.4},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := replayed(t, c.x, c.values)
			require.InDelta(t, c.centre, r.centre[0], 1e-12)
			require.InDelta(t, c.half, r.half, 1e-12)
		})
	}
}

func TestTrustRegionStartsAgainAtItsLeastSize(t *testing.T) {
	x, values := []float64{0.5}, []float64{0}
	for i := range 20 {
		x, values = append(x, 0.5+1e-7), append(values, float64(i+1))
	}
	_, r := replayed(t, x, values)
	require.Equal(t, 0.4, r.half, "18 halvings reach 1.5e-6, the 19th starts again")
}

func TestTrialsWithinARegion(t *testing.T) {
	x := []float64{0.5, 0.9, 0.51, 0.52, 0.1, 0.495}
	task, r := replayed(t, x, []float64{0, 5, 4, 3, 6, 2})
	require.InDelta(t, 0.05, r.half, 1e-12) // the first two trials are the design; that at 0.1 is outside
	local := task.within(r)
	var ids []int
	for i, trial := range local.trials {
		ids = append(ids, trial.ID)
		require.InDelta(t, x[trial.ID-1], r.outer(local.x[i])[0], 0.05+1e-12, "points beyond the box have inner coordinates beyond 1")
	}
	require.Equal(t, []int{1, 3, 4, 6}, ids, "2(d+1) = 4 are within reach")
}

// All trials are at the same distance from the best one, which has another category: the earliest are fitted, at most
// maxLocal.
func TestEqualDistancesFromARegion(t *testing.T) {
	s := newSpace(t, space.Categorical("c", "a", "b", "d"))
	for n, want := range map[int]int{50: 50, 300: maxLocal} {
		var h History
		f := &fitted{}
		for i := range n {
			value, x := 1.0, []float64{0, 1, 0}
			if i == 5 {
				value, x = 0, []float64{1, 0, 0}
			}
			h.Trials = append(h.Trials, Trial{ID: i + 1, Point: s.Decode(x), State: Complete, Value: value})
			f.trials, f.z = append(f.trials, i), append(f.z, value)
		}
		task, err := newTask(s, Options{NoiseFree: true}, h)
		require.NoError(t, err)
		local := task.within(task.trustRegion(f))
		require.Equal(t, want, len(local.trials))
		require.Equal(t, want, local.trials[want-1].ID)
	}
}

func TestRegionIsADomain(t *testing.T) {
	s := mixed(t)
	x := s.Encode(s.Decode(make([]float64, s.Dim())))
	r := &region{space: s, centre: x, half: 0.3}
	r.bound()
	u := make([]float64, r.Dim())
	for i := range u {
		u[i] = 0.5
	}
	r.Project(u)
	again := append([]float64(nil), u...)
	r.Project(again)
	require.InDeltaSlice(t, u, again, 1e-12)
	near := r.Neighbors(r.inner(x))
	require.NotNil(t, near)
	n, _ := near.Dims()
	for i := range n {
		p := r.outer(near.RawRowView(i))
		require.LessOrEqual(t, r.distance(p), r.half)
		require.InDeltaSlice(t, p, s.Encode(s.Decode(p)), 1e-12)
	}
}

// history returns the history of a study of the bowl with n complete trials.
func history(t *testing.T, s *space.Space, o Options, n int) History {
	t.Helper()
	study := newStudy(t, s, o)
	_, err := study.Run(t.Context(), bowl, n, 1)
	require.NoError(t, err)
	return study.history()
}

// Trials with an odd ID come from the model of all trials, those with an even ID from the local
// model, in batches too.
func TestEverySecondSuggestionIsLocal(t *testing.T) {
	racetest.SkipNumerical(t)
	for name, s := range map[string]*space.Space{"box": box(t), "mixed": mixed(t)} {
		for _, exact := range []bool{true, false} {
			o := options(3)
			o.NoiseFree = exact
			h := history(t, s, o, 20)
			local, err := Propose(t.Context(), s, o, h, 3)
			require.NoError(t, err)
			o.Local = LocalNone
			wide, err := Propose(t.Context(), s, o, h, 3)
			require.NoError(t, err)
			require.Equal(t, wide.Points[0], local.Points[0], name)
			require.NotEqual(t, wide.Points[1].Point.Key(), local.Points[1].Point.Key(), name)
			require.Equal(t, wide.Fit, local.Fit)
			require.Equal(t, wide.Warm, local.Warm)

			task, err := newTask(s, o, h)
			require.NoError(t, err)
			f, err := task.fit(t.Context(), random.New(o.Seed, "fit", task.next()))
			require.NoError(t, err)
			r := task.trustRegion(f)
			free := s.Free()
			for j, v := range s.Encode(local.Points[1].Point) {
				if free[j] {
					assert.LessOrEqual(t, math.Abs(v-r.centre[j]), r.half+1e-9, name)
				}
			}
			require.NotNil(t, local.Points[1].Prediction)
			require.Equal(t, []bool{false, true, false}, []bool{local.Points[0].Local, local.Points[1].Local, local.Points[2].Local})
		}
	}
}

// The local model is not used if the whole space is described, restricted or finite, or if the
// acquisition function is named.
func TestLocalSearchIsOff(t *testing.T) {
	s := box(t)
	for name, change := range map[string]func(o *Options){
		"none":        func(o *Options) { o.Local = LocalNone },
		"surrogate":   func(o *Options) { o.Surrogate = rff.Model{} },
		"acquisition": func(o *Options) { o.Acquisition = acquisition.LogEI{} },
		"prior":       func(o *Options) { o.Surrogate = gp.Model{Spec: prior.Spec{Kernel: "matern52"}} },
		"belief":      func(o *Options) { o.Optimum = map[string]Belief{"x": {Around: 2, Within: 1}} },
		"prior mean":  func(o *Options) { o.PriorMean = Mean{At: func(space.Point) float64 { return 1 }} },
		"require":     func(o *Options) { o.Require = []Requirement{{Name: "size", Bound: 1}} },
		"joint batch": func(o *Options) { o.Acquisition = acquisition.Auto{LogNEI: acquisition.LogNEI{Joint: true}} },
	} {
		o := options(1)
		change(&o)
		task, err := newTask(s, o, History{})
		require.NoError(t, err)
		require.False(t, task.searchesLocally(2), name)
	}
	for name, s := range map[string]*space.Space{
		"finite": newSpace(t, space.Int("a", 1, 9), space.Categorical("b", "x", "y")),
		"values": newSpace(t, values("a", 17), space.Float("x", 0, 1)),
	} {
		task, err := newTask(s, options(1), History{})
		require.NoError(t, err)
		require.False(t, task.searchesLocally(1), name)
	}
	for _, a := range []acquisition.Acquisition{nil, acquisition.Auto{}, &acquisition.Auto{}} {
		o := options(1)
		o.Acquisition = a
		task, err := newTask(s, o, History{})
		require.NoError(t, err)
		require.True(t, task.searchesLocally(2))
	}
}

// With fsp-laplace the local model is the Gaussian process of the same settings.
func TestLocalModelBesideANetwork(t *testing.T) {
	s, restarts := box(t), prior.Spec{Restarts: 1}
	for _, m := range []surrogate.Model{fsplaplace.Model{Spec: restarts}, &fsplaplace.Model{Spec: restarts}} {
		local, ok := localModel(m)
		require.True(t, ok)
		require.Equal(t, gp.Model{Spec: restarts}, local)
	}
	o := options(3)
	o.NoiseFree = true
	h := history(t, s, o, 10)
	o.Surrogate = fsplaplace.Model{Spec: restarts}
	p, err := Propose(t.Context(), s, o, h, 2)
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, []bool{p.Points[0].Local, p.Points[1].Local})
	task, err := newTask(s, o, h)
	require.NoError(t, err)
	f, err := task.fit(t.Context(), random.New(o.Seed, "fit", task.next()))
	require.NoError(t, err)
	near, err := task.suggestLocally(t.Context(), f, task, 1)
	require.NoError(t, err)
	process, err := gp.Model{}.Fit(t.Context(), task.dataset(f.z, f.warp.scale), random.New(1, "fit", 0))
	require.NoError(t, err)
	require.IsType(t, process, near[0].fit.Posterior)
}

// On a norm with a kink at the minimum, one stationary process cannot resolve the kink. The local
// model ends nearer to the minimum, in the geometric mean of the runs.
func TestLocalSearchOnAKink(t *testing.T) {
	if testing.Short() {
		t.Skip("a mean over several seeds")
	}
	seeds := 4
	if *full {
		seeds = 10
	}
	s := newSpace(t, space.Float("x", -5, 5), space.Float("y", -5, 5))
	kink := func(_ context.Context, p space.Point) (float64, error) {
		x, y := p.Float("x")-1.7, p.Float("y")+0.6
		return math.Hypot(x+y, 3*(x-y)), nil
	}
	gain := 0.0
	for seed := range uint64(seeds) {
		o := Options{Seed: seed, NoiseFree: true, Budget: 40, Maximizer: quick}
		local, err := Minimize(t.Context(), kink, s, o)
		require.NoError(t, err)
		o.Local = LocalNone
		wide, err := Minimize(t.Context(), kink, s, o)
		require.NoError(t, err)
		gain += math.Log(wide.Best.Value/local.Best.Value) / float64(seeds)
	}
	t.Logf("mean gain %.2f", gain)
	require.Greater(t, gain, math.Log(1.5))
}
