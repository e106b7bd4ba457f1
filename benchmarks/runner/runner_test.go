package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/settings"
)

func smoke(t testing.TB, sel Selection) []Run {
	t.Helper()
	s, err := Lookup("smoke")
	require.NoError(t, err)
	plan, err := s.Plan(sel)
	require.NoError(t, err)
	return plan
}

// outcomes performs the runs and returns their records by key, without times.
func outcomes(t testing.TB, plan []Run, workers int) map[Key]Record {
	t.Helper()
	found := map[Key]Record{}
	require.NoError(t, Execute(t.Context(), plan, workers, func(r Record) error {
		_, twice := found[r.Key()]
		require.False(t, twice)
		found[r.Key()] = timeless(r)
		return nil
	}))
	require.Len(t, found, len(plan))
	return found
}

func timeless(r Record) Record {
	if r.Suggest != nil {
		r.Suggest = make(Numbers, len(r.Suggest))
	}
	r.Elapsed, r.Date = 0, ""
	return r
}

func TestSuitesAreSound(t *testing.T) {
	racetest.SkipNumerical(t)
	for _, s := range Suites() {
		if len(s.Folders()) > 0 {
			_, err := s.Plan(Selection{})
			require.ErrorIs(t, err, ErrPlan, "it needs data")
			continue
		}
		plan, err := s.Plan(Selection{})
		require.NoError(t, err, s.Name)
		require.NotEmpty(t, s.Summary, s.Name)
		seen := map[Key]bool{}
		for _, r := range plan {
			key := r.Key()
			sound := r.Table != nil || r.Measure != nil || 0 < r.Problem.Initial && r.Problem.Initial < r.Problem.Budget && r.Problem.Batch > 0
			if seen[key] || !sound { // calls of require would cost more than the plan
				require.Fail(t, "a repeated or unsound run", "%s: %v", s.Name, key)
			}
			seen[key] = true
		}
	}
}

func TestSpineIsWhatTheReadmeStates(t *testing.T) {
	s, err := Lookup("spine")
	require.NoError(t, err)
	plan, err := s.Plan(Selection{})
	require.NoError(t, err)
	assert.Len(t, plan, 5*3*10)
	budgets := map[string]int{}
	for _, r := range plan {
		budgets[r.Problem.Name()] = r.Problem.Budget
	}
	assert.Equal(t, map[string]int{"branin": 40, "hartmann6": 80, "ackley4": 60, "levy4": 60, "rosenbrock4": 60}, budgets)
	assert.Equal(t, 14, plan[3].Problem.Initial, "the default of a study")
}

func TestPlanOrder(t *testing.T) {
	var keys []string
	for _, r := range smoke(t, Selection{Methods: []string{"sobol", "random"}, Problems: []string{"six-hump-camel-in-3", "branin"}, Seeds: 2}) {
		keys = append(keys, fmt.Sprint(r.Problem.Name(), " ", r.Method.Name, " ", r.Seed))
	}
	assert.Equal(t, []string{
		"branin sobol 1", "branin random 1", "six-hump-camel-in-3 sobol 1", "six-hump-camel-in-3 random 1",
		"branin sobol 2", "branin random 2", "six-hump-camel-in-3 sobol 2", "six-hump-camel-in-3 random 2",
	}, keys)
}

func TestSameResultsWithOneWorkerAndTwo(t *testing.T) {
	plan := smoke(t, Selection{})
	one := outcomes(t, plan, 1)
	assert.Equal(t, one, outcomes(t, plan, 2))
	for k, r := range one {
		assert.Empty(t, r.Error, k)
		assert.Len(t, r.Values, r.Budget)
	}
}

// All methods start with the same values; Sobol search continues the sequence.
func TestCommonInitialPoints(t *testing.T) {
	plan := smoke(t, Selection{Seeds: 2})
	found := outcomes(t, plan, 2)
	for _, run := range plan {
		own, other := found[run.Key()], found[Key{run.Problem.Name(), Sobol, run.Seed}]
		n := run.Problem.Initial
		assert.Equal(t, other.Values[:n], own.Values[:n], run.Key())
		if run.Method.Name != Sobol {
			assert.NotEqual(t, other.Values[n:], own.Values[n:], run.Key())
		}
		next := found[Key{run.Problem.Name(), run.Method.Name, 3 - run.Seed}]
		assert.NotEqual(t, own.Values[:n], next.Values[:n], "another seed")
	}
	points := plan[2].points(benchmarks.Branin().Space)
	require.Equal(t, Sobol, plan[2].Method.Name)
	quadrants := map[[2]bool]int{}
	for _, p := range points[:4] {
		quadrants[[2]bool{p.Float("x1") > 2.5, p.Float("x2") > 7.5}]++
	}
	assert.Len(t, quadrants, 4, "the first four points of a Sobol sequence")
}

func TestRegret(t *testing.T) {
	found := outcomes(t, smoke(t, Selection{Methods: []string{"random"}, Seeds: 1}), 1)
	branin := found[Key{"branin", "random", 1}]
	least := math.Inf(1)
	for i, v := range branin.Values {
		least = min(least, v)
		assert.Equal(t, least-benchmarks.Branin().Minimum, branin.Regret[i])
	}
	assert.Nil(t, branin.Latent)
	assert.True(t, branin.NoiseFree)
	noisy := found[Key{"noisy-ackley3", "random", 1}]
	assert.False(t, noisy.NoiseFree)
	require.Len(t, noisy.Latent, 12)
	for i := range noisy.Values {
		assert.NotEqual(t, noisy.Latent[i], noisy.Values[i])
		assert.InDelta(t, noisy.Latent[i], noisy.Values[i], 1)
	}
	assert.Equal(t, slices.Min(noisy.Latent), noisy.Regret[11], "the minimum is 0")
}

// custom plans one problem with the objective f on the box of Branin.
func custom(f func(calls int) float64) []Run {
	p := Problem{Budget: 6, Initial: 3, Batch: 1, Make: func(uint64) benchmarks.Objective {
		o, calls := benchmarks.Branin(), 0
		o.Func = func([]float64) float64 { calls++; return f(calls) }
		return o
	}}
	m, err := ParseMethod("random")
	if err != nil {
		panic(err)
	}
	return []Run{{Suite: "custom", Problem: p, Method: m, Seed: 1}, {Suite: "custom", Problem: p, Method: m, Seed: 2}}
}

func TestFailuresAreRecorded(t *testing.T) {
	found := outcomes(t, custom(func(calls int) float64 {
		if calls == 4 {
			panic("out of cheese")
		}
		return float64(calls)
	}), 1)
	for _, r := range found {
		assert.Equal(t, "panic: out of cheese", r.Error)
		assert.Equal(t, Numbers{1, 2, 3}, r.Values)
	}
	found = outcomes(t, custom(func(calls int) float64 {
		if calls != 3 {
			return math.NaN()
		}
		return 5
	}), 1)
	for _, r := range found {
		assert.Empty(t, r.Error)
		assert.Len(t, r.Values, 6)
		assert.Equal(t, 5-benchmarks.Branin().Minimum, r.Regret[5])
		assert.True(t, math.IsInf(r.Regret[1], 1))
	}
}

func TestExecuteStops(t *testing.T) {
	plan := smoke(t, Selection{})
	full := errors.New("disk full")
	done := 0
	err := Execute(t.Context(), plan, 2, func(Record) error { done++; return full })
	require.ErrorIs(t, err, full)
	assert.LessOrEqual(t, done, 2)

	ctx, cancel := context.WithCancel(t.Context())
	done = 0
	err = Execute(ctx, plan, 2, func(Record) error {
		if done++; done == 3 {
			cancel()
		}
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.LessOrEqual(t, done, 5)
}

// A second run ends while done reports a full disk for the first. Another record after the incomplete line of the
// first would damage the file.
func TestExecuteReportsNoRecordAfterAnError(t *testing.T) {
	begun := make(chan struct{})
	m, err := ParseMethod("gp")
	require.NoError(t, err)
	first := Run{Experiment: "first", Method: m, Seed: 1, Measure: func(context.Context, Method, uint64, *Record) error { return nil }}
	second := first
	second.Experiment, second.Measure = "second", func(context.Context, Method, uint64, *Record) error {
		<-begun
		return nil
	}
	full := errors.New("disk full")
	var done []string
	err = Execute(t.Context(), []Run{first, second}, 2, func(r Record) error {
		done = append(done, r.Problem)
		if len(done) == 1 {
			close(begun)
		}
		return full
	})
	require.ErrorIs(t, err, full)
	assert.Equal(t, []string{"first"}, done)
}

// An interrupted plan with an incomplete last line continues to the same records.
func TestResume(t *testing.T) {
	plan := smoke(t, Selection{})
	whole := outcomes(t, plan, 2)
	dir := filepath.Join(t.TempDir(), "new", "results")

	ctx, cancel := context.WithCancel(t.Context())
	store, err := OpenStore(dir)
	require.NoError(t, err)
	kept := 0
	err = Execute(ctx, plan, 1, func(r Record) error {
		if kept++; kept == 5 {
			cancel()
		}
		return store.Append(r)
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, store.Close())
	path := filepath.Join(dir, fileName)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 5, strings.Count(string(text), "\n"))

	lines := strings.SplitAfter(string(text), "\n")
	for _, cut := range []int{0, 1, len(lines[4]) / 2, len(lines[4]) - 1} {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:4], "")+lines[4][:cut]), 0o644))
		got, err := Read(dir)
		require.NoError(t, err)
		require.Len(t, got, 4)
		store, err = OpenStore(dir)
		require.NoError(t, err)
		left, err := store.Remaining(plan, false)
		require.NoError(t, err)
		require.Len(t, left, len(plan)-4)
		require.NoError(t, store.Close())
	}

	store, err = OpenStore(dir)
	require.NoError(t, err)
	left, err := store.Remaining(plan, false)
	require.NoError(t, err)
	require.NoError(t, Execute(t.Context(), left, 2, store.Append))
	left, err = store.Remaining(plan, true)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, store.Close())
	got, err := Read(dir)
	require.NoError(t, err)
	assert.Len(t, got, len(plan))
	for _, r := range got {
		assert.Equal(t, whole[r.Key()], timeless(r))
	}
}

// While a store is open, another one does not cut a line that is being written.
func TestStoreIsLocked(t *testing.T) {
	dir := t.TempDir()
	first, err := OpenStore(dir)
	require.NoError(t, err)
	_, err = first.file.WriteString("the start of a line")
	require.NoError(t, err)
	_, err = OpenStore(dir)
	require.ErrorIs(t, err, ErrInUse)
	assert.ErrorContains(t, err, filepath.Join(dir, fileName))
	text, err := os.ReadFile(filepath.Join(dir, fileName))
	require.NoError(t, err)
	assert.Equal(t, "the start of a line", string(text))
	require.NoError(t, first.Close())
	second, err := OpenStore(dir)
	require.NoError(t, err)
	require.NoError(t, second.Close())
}

func TestStoreFaults(t *testing.T) {
	plan := smoke(t, Selection{Methods: []string{"sobol", "random"}, Problems: []string{"branin"}, Seeds: 1})
	dir := t.TempDir()
	_, err := Read(dir)
	require.ErrorIs(t, err, ErrStore, "empty")
	_, err = Read(filepath.Join(dir, "no"))
	require.ErrorIs(t, err, os.ErrNotExist)

	store, err := OpenStore(dir)
	require.NoError(t, err)
	require.NoError(t, Execute(t.Context(), plan, 1, func(r Record) error {
		r.Commit = "c1"
		if r.Method == "sobol" {
			r.Error = "no luck"
		}
		return store.Append(r)
	}))
	assert.Equal(t, []string{"c1"}, store.Commits())
	left, err := store.Remaining(plan, false)
	require.NoError(t, err)
	assert.Empty(t, left)
	left, err = store.Remaining(plan, true)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Equal(t, "sobol", left[0].Method.Name)

	longer := slices.Clone(plan)
	longer[0].Problem.Budget++
	_, err = store.Remaining(longer, false)
	require.ErrorIs(t, err, ErrStore)
	assert.ErrorContains(t, err, "holds branin with budget 10; the plan has 11")
	other := slices.Clone(plan)
	other[0].Suite = "spine"
	_, err = store.Remaining(other, false)
	assert.ErrorContains(t, err, "holds the suite smoke, not spine")

	// A repeated run replaces the record of the first.
	require.NoError(t, Execute(t.Context(), left, 1, store.Append))
	require.NoError(t, store.Close())
	got, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, got, 2)
	for _, r := range got {
		assert.Empty(t, r.Error)
	}

	path := filepath.Join(dir, fileName)
	for text, want := range map[string]string{
		"{\n{}\n":                               "line 1: unexpected end",
		"\n{}\n":                                "line 2 is not the record of a run",
		`{"problem":"f","method":"m","x` + "\n": "line 1",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err = Read(dir)
		require.ErrorIs(t, err, ErrStore)
		assert.ErrorContains(t, err, want)
		_, err = OpenStore(dir)
		require.ErrorIs(t, err, ErrStore)
	}
}

func TestNamesAreChecked(t *testing.T) {
	_, err := Lookup("smok")
	require.ErrorIs(t, err, ErrUnknown)
	assert.EqualError(t, err, `unknown suite "smok": did you mean smoke?`)
	s, err := Lookup("smoke")
	require.NoError(t, err)
	for _, c := range []struct {
		sel  Selection
		want string
		is   error
	}{
		{Selection{Methods: []string{"gpp"}}, `unknown method "gpp": did you mean gp?`, ErrUnknown},
		{Selection{Methods: []string{"sobl"}}, `unknown method "sobl": did you mean sobol?`, ErrUnknown},
		{Selection{Methods: []string{"sobol:n=1"}}, `method sobol:n=1: invalid setting: sobol has no settings`, ErrSetting},
		{Selection{Methods: []string{"gp:warp=log"}}, `method gp:warp=log: invalid setting: warp is "log", want auto or none`, ErrSetting},
		{Selection{Methods: []string{"gp:noise-free=true"}}, `method gp:noise-free=true: invalid setting: noise-free is "true", want false`, ErrSetting},
		{Selection{Methods: []string{"gp:kernel"}}, `method gp:kernel: invalid setting "kernel": want key=value`, ErrSetting},
		{Selection{Methods: []string{"gp:kernell=rbf"}}, `method gp:kernell=rbf: surrogate gp: unknown setting "kernell": did you mean kernel?`, settings.ErrUnknown},
		{Selection{Methods: []string{"gp:noise=loud"}}, `method gp:noise=loud: surrogate gp: noise is "loud", want a number or learned`, settings.ErrValue},
		{Selection{Methods: []string{"gp:acquisition=eii"}}, `method gp:acquisition=eii: unknown acquisition "eii": did you mean ei?`, nil},
		{Selection{Methods: []string{"gp:acquisition.betta=1;acquisition=lcb"}}, `method gp:acquisition.betta=1;acquisition=lcb: acquisition lcb: unknown setting "betta": did you mean beta?`, settings.ErrUnknown},
		{Selection{Methods: []string{"gp:maximizer.rau=1"}}, `method gp:maximizer.rau=1: maximizer: unknown setting "rau": did you mean raw?`, settings.ErrUnknown},
		{Selection{Methods: []string{"sobol", "sobol"}}, "bad plan: method sobol is selected twice", ErrPlan},
		{Selection{Problems: []string{"brannin"}}, `unknown problem "brannin" of the suite smoke: did you mean branin?`, ErrUnknown},
		{Selection{Seeds: -1}, "bad plan: -1 seeds of 3 methods, want at least one of each", ErrPlan},
		{Selection{Seeds: math.MaxInt}, "bad plan: 9223372036854775807 seeds of 3 problems and 3 methods, want at most 250000 runs", ErrPlan},
		{Selection{Seeds: 125_001, Methods: []string{"sobol", "random"}, Problems: []string{"branin"}}, "bad plan: 125001 seeds of 1 problem and 2 methods, want at most 250000 runs", ErrPlan},
	} {
		_, err := s.Plan(c.sel)
		require.EqualError(t, err, c.want)
		if c.is != nil {
			require.ErrorIs(t, err, c.is)
		}
	}
	_, err = s.Plan(Selection{Methods: []string{"gp:kernel=rbff"}})
	require.ErrorIs(t, err, ErrPlan)
	assert.ErrorContains(t, err, "rbf")
	_, err = s.Plan(Selection{Methods: []string{"fsp-laplace:lengthscale=1,2,3"}})
	assert.ErrorIs(t, err, ErrPlan, "lengthscales for 3 inputs, but branin has 2")
}

func TestLargestPlan(t *testing.T) {
	plan := smoke(t, Selection{Seeds: 125_000, Methods: []string{"sobol", "random"}, Problems: []string{"branin"}})
	assert.Len(t, plan, 250_000)
}

func TestPlanOfTooManyExperiments(t *testing.T) {
	s, err := Lookup("paper/wheel")
	require.NoError(t, err)
	_, err = s.Plan(Selection{Seeds: 50_001, Methods: []string{"gp"}})
	require.ErrorIs(t, err, ErrPlan)
	require.ErrorContains(t, err, "50001 seeds of 5 problems and 1 method, want at most 250000 runs")
}

func TestSplitMethods(t *testing.T) {
	for list, want := range map[string][]string{
		"":              nil,
		"gp":            {"gp"},
		" gp , sobol,":  {"gp", "sobol"},
		"a:h=50,50,gp":  {"a:h=50,50", "gp"},
		"a:l=.5,-1;k=2": {"a:l=.5,-1;k=2"},
	} {
		assert.Equal(t, want, SplitMethods(list), list)
	}
}

// Settings reach the options, and each run has its own options.
func TestMethodSettings(t *testing.T) {
	m, err := ParseMethod(" gp: kernel = rbf;acquisition=lcb;acquisition.beta=3;maximizer.raw=32")
	require.NoError(t, err)
	assert.Equal(t, "gp: kernel = rbf;acquisition=lcb;acquisition.beta=3;maximizer.raw=32", m.Name)
	c, err := m.chooser()
	require.NoError(t, err)
	for _, want := range []struct {
		options   any
		key, text string
	}{{c.Surrogate, "kernel", "rbf"}, {c.Acquisition, "beta", "3"}, {&c.Maximizer, "raw", "32"}} {
		text, err := settings.Get(want.options, want.key)
		require.NoError(t, err)
		assert.Equal(t, want.text, text)
	}
	d, err := m.chooser()
	require.NoError(t, err)
	assert.NotSame(t, c.Surrogate, d.Surrogate)
	assert.Subset(t, Methods(), []string{"gp", "fsp-laplace", "sobol", "random"})
}

// A repeated setting is an error, so that the later value does not replace the first without notice.
func TestRepeatedSetting(t *testing.T) {
	for text, key := range map[string]string{
		"gwi-svgp:preset=published; preset =default": "preset", "gp:warp=auto;warp=none": "warp",
		"gp:acquisition=lcb;kernel=rbf;acquisition=pi": "acquisition",
	} {
		_, err := Suite{}.method(text, "branin")
		require.ErrorIs(t, err, ErrSetting)
		require.ErrorContains(t, err, "method "+text+": ")
		require.ErrorContains(t, err, key+" is given twice")
	}
}

func TestNumbers(t *testing.T) {
	text, err := Numbers{1, math.NaN(), math.Inf(1), -2.5}.MarshalJSON()
	require.NoError(t, err)
	assert.Equal(t, "[1,null,null,-2.5]", string(text))
	var n Numbers
	require.NoError(t, n.UnmarshalJSON(text))
	require.Len(t, n, 4)
	assert.True(t, math.IsNaN(n[1]) && math.IsNaN(n[2]))
	assert.Equal(t, []float64{1, -2.5}, []float64{n[0], n[3]})
	assert.Error(t, n.UnmarshalJSON([]byte(`["a"]`)))
}

func TestMachineAndVersion(t *testing.T) {
	m := ThisMachine(3)
	assert.Equal(t, 3, m.Workers)
	assert.Positive(t, m.Cores)
	assert.NotEmpty(t, m.Arch)
	_, commit := Version()
	assert.Regexp(t, `^([0-9a-f]{12}(\+changes)?)?$`, commit)
}

func TestAliases(t *testing.T) {
	s := Suite{
		Name:     "aliases",
		Problems: []Problem{{Objective: "branin", Budget: 5, Initial: 4}, {Objective: "levy2", Budget: 5, Initial: 4, Prior: []string{"kernel=rbf"}}},
		Methods:  []string{"smooth", "plain", "gp"},
		Seeds:    1,
		Aliases: []Alias{
			{Name: "smooth", Method: "gp:kernel=matern52;maximizer.raw=32", On: map[string]string{"levy2": "kernel=rbf"}},
			{Name: "plain", Method: "gp", On: map[string]string{"levy2": "mean=zero"}},
		},
	}
	plan, err := s.Plan(Selection{})
	require.NoError(t, err)
	as := map[Key]string{}
	for _, r := range plan {
		rec, err := r.Do(t.Context())
		require.NoError(t, err)
		require.Empty(t, rec.Error)
		as[rec.Key()] = rec.As
		assert.Empty(t, r.conflict(rec))
		rec.As += "x"
		assert.Contains(t, r.conflict(rec), "method")
	}
	assert.Equal(t, map[Key]string{
		{"branin", "smooth", 1}: "gp:kernel=matern52;maximizer.raw=32",
		{"branin", "plain", 1}:  "gp",
		{"branin", "gp", 1}:     "",
		{"levy2", "smooth", 1}:  "gp:kernel=matern52;maximizer.raw=32;kernel=rbf",
		{"levy2", "plain", 1}:   "gp:mean=zero",
		{"levy2", "gp", 1}:      "",
	}, as)
	assert.Equal(t, "gp; on levy2 mean=zero", s.Aliases[1].String())

	s.Aliases[0].On["levy2"] = "kernell=rbf"
	_, err = s.Plan(Selection{})
	require.ErrorIs(t, err, settings.ErrUnknown)
	_, err = s.Plan(Selection{Methods: []string{"smoth"}})
	require.ErrorIs(t, err, ErrUnknown)
}

// The prior of a Problem applies to methods with a kernel, unless they state another.
func TestPriorOfAProblem(t *testing.T) {
	p := Problem{Objective: "levy2", Budget: 8, Initial: 4}
	values := func(method string, prior ...string) Numbers {
		q := p
		q.Prior = prior
		s := Suite{Problems: []Problem{q}, Methods: []string{method}, Seeds: 1}
		plan, err := s.Plan(Selection{})
		require.NoError(t, err)
		rec, err := plan[0].Do(t.Context())
		require.NoError(t, err)
		return rec.Values
	}
	rough := values("gp:kernel=matern12")
	assert.Equal(t, rough, values("gp", "kernel=matern12"))
	assert.Equal(t, rough, values("gp:kernel=matern12", "kernel=rbf"))
	assert.NotEqual(t, rough, values("gp"))
	assert.Equal(t, values("random"), values("random", "kernel=rbf"))
	assert.Equal(t, values("ensemble:steps=20"), values("ensemble:steps=20", "kernel=rbf"))
}

// The tasks of the FSP-Laplace paper; draws depend on the seed only.
func TestPaperSuites(t *testing.T) {
	racetest.SkipNumerical(t)
	s, err := Lookup("paper/fsp-laplace-fig3")
	require.NoError(t, err)
	plan, err := s.Plan(Selection{Methods: []string{"laplace-published"}, Seeds: 1})
	require.NoError(t, err)
	var lines []string
	for _, r := range plan {
		p := r.Problem
		observed := p.objective(1)
		lines = append(lines, fmt.Sprintf("%s %d: %d + %d×%d", p.Name(), observed.Dim(), p.Initial, (p.Budget-p.Initial)/p.Batch, p.Batch))
		assert.Contains(t, r.Method.as, "curvature=", p.Name())
	}
	assert.Equal(t, []string{
		"branin 2: 10 + 9×5", "brusselator 4: 5 + 30×1", "ackley4 4: 10 + 19×10",
		"hartmann6 6: 10 + 19×10", "polynomial 8: 10 + 20×10", "network10 10: 10 + 20×10",
	}, lines)

	s, err = Lookup("paper/fbnn-bo")
	require.NoError(t, err)
	p := s.Problems[0]
	a := p.objective(1)
	b := p.objective(2)
	again := p.objective(1)
	assert.Equal(t, "draw-rbf", a.Name)
	assert.NotEqual(t, a.Func(a.Lo), b.Func(b.Lo))
	assert.Equal(t, a.Func(a.Lo), again.Func(a.Lo))
}

// A method sets the transform; a known prior turns it off for every method, and the local search too.
func TestWarpOfRuns(t *testing.T) {
	racetest.SkipNumerical(t)
	objective := Problem{Objective: "rosenbrock2", Budget: 20, Initial: 10, Batch: 1}
	known := objective
	known.Prior = []string{"kernel=matern52"}
	values := func(method string, p Problem) []float64 {
		m, err := ParseMethod(method)
		require.NoError(t, err)
		rec, err := Run{Problem: p, Method: m, Seed: 1}.Do(context.Background())
		require.NoError(t, err)
		require.Empty(t, rec.Error)
		return rec.Values
	}
	auto, none := values("gp:local=none", objective), values("gp:warp=none;local=none", objective)
	require.NotEqual(t, auto, none)
	require.Equal(t, auto, values("gp:warp=auto;local=none", objective))
	require.Equal(t, none, values("gp", known))
	require.Equal(t, values("map:warp=none", objective), values("map", known))
	require.NotEqual(t, values("map", objective), values("map", known))
}

// The halves have the same classes, and the seed is the number of the instance.
func TestFamilies(t *testing.T) {
	var classes [2][]string
	for i, name := range []string{"families/dev", "families/confirm"} {
		s, err := Lookup(name)
		require.NoError(t, err)
		least := map[string]int{}
		for _, p := range s.Problems {
			dim := p.objective(1).Dim()
			require.Equal(t, 10*dim+50, p.Budget, p.Name())
			require.Equal(t, p.Name(), p.objective(1).Name)
			if p.Class != "tuning" {
				require.NotEqual(t, p.objective(1).Minimum, p.objective(2).Minimum, p.Name())
			}
			least[p.Class] += s.Seeds
			if !slices.Contains(classes[i], p.Class) {
				classes[i] = append(classes[i], p.Class)
			}
		}
		for class, n := range least {
			require.GreaterOrEqual(t, n, 8, "%s: instances of %s", name, class)
		}
	}
	require.Equal(t, classes[0], classes[1])
}

// A method finishes problems with noise, integers, categories and tables.
func TestFamiliesRun(t *testing.T) {
	s, err := Lookup("families/dev")
	require.NoError(t, err)
	for i := range s.Problems {
		s.Problems[i].Budget = 12
	}
	plan, err := s.Plan(Selection{
		Problems: []string{"noise-side-3", "integers-4", "bits-6", "classifiers-cancer-10", "kernel-yacht-5"},
		Methods:  []string{"gp:maximizer.raw=64;maximizer.starts=2", "gp:maximizer.raw=64;maximizer.starts=2;noise-free=false"}, Seeds: 1,
	})
	require.NoError(t, err)
	require.Len(t, plan, 10)
	for _, run := range plan {
		record, err := run.Do(t.Context())
		require.NoError(t, err)
		require.Empty(t, record.Error, record.Problem)
		require.Len(t, record.Values, 12)
		require.Equal(t, record.Problem == "noise-side-3", record.Latent != nil)
		require.Equal(t, record.Problem != "noise-side-3" && !strings.Contains(record.Method, "noise-free"), record.NoiseFree)
		task := run.Task()
		require.Equal(t, record.Problem == "noise-side-3", task.Space == nil)
		evaluate := run.Evaluator()
		values, err := evaluate(task.Points[0])
		require.NoError(t, err)
		require.Equal(t, record.Values[0], values[0])
		if record.Problem == "integers-4" {
			_, err = evaluate([]float64{0.5, 0, 0, 0})
			require.EqualError(t, err, "coordinate 1 is 0.5, integers-4 has whole numbers")
		}
	}
}
