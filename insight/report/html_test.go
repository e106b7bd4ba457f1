package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/insight/insighttest"
	"github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/internal/browsertest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

var update = flag.Bool("update", false, "write the golden files")

// The file is dist/echarts.min.js of the npm package echarts 6.1.0, unchanged.
func TestEChartsIsPinned(t *testing.T) {
	text, err := os.ReadFile("echarts/echarts.min.js")
	require.NoError(t, err)
	sum := sha256.Sum256(text)
	require.Equal(t, "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0", hex.EncodeToString(sum[:]))
}

func html(t *testing.T, r *report.Report) string {
	var b bytes.Buffer
	require.NoError(t, r.WriteHTML(&b))
	return b.String()
}

// stored returns a study of a definition in a store in memory.
func stored(t *testing.T, d *study.Definition, trials ...store.Evaluated) *store.Study {
	s := store.New(store.NewMemory(), store.Options{})
	t.Cleanup(func() { _ = s.Close() })
	u, err := s.Create(t.Context(), d)
	require.NoError(t, err)
	_, err = u.Add(t.Context(), "", trials...)
	require.NoError(t, err)
	return u
}

// Names and messages cannot end an element or add a script.
func TestNamesAreEscaped(t *testing.T) {
	const name, evil = `x</script><script>alert(1)</script>`, `</script><img src=x onerror=alert(1)><!--`
	u := stored(t, &study.Definition{
		Version: 1, Name: "evil", Parameters: []space.Parameter{space.Float(name, 0, 1), space.Categorical("c", evil, "b")},
		Objectives: []study.Objective{{Name: evil}},
	},
		store.Evaluated{Params: map[string]any{name: 0.5, "c": evil}, Numbers: map[string]float64{evil: 1, "<b>": 2}},
		store.Evaluated{Params: map[string]any{name: 0.7, "c": "b"}, Failure: store.FailedByProgram, Message: evil},
	)
	r := built(t, u)
	r.Study.Name = evil
	text := html(t, r)
	require.Equal(t, 5, strings.Count(text, "</script>"), "two of data and three of code")
	head, _, _ := strings.Cut(text, "Licensed to the Apache Software Foundation") // up to the scripts
	for _, part := range []string{"<img", "alert(1)<", "<b>"} {
		require.False(t, strings.Contains(head, part), part)
	}
	require.Equal(t, 1, strings.Count(head, "<title>"))
	p := open(t, browsertest.Shared(t), r, 1000, 800, false)
	require.Equal(t, evil, browsertest.Eval[string](p, `document.querySelector("h1").textContent`))
	require.Contains(t, browsertest.Eval[string](p, `document.getElementById("trial-table").textContent`), evil)
	require.Zero(t, browsertest.Eval[int](p, `document.querySelectorAll("main img").length`))
}

// The policy forbids everything but the inline elements of the file, and the file names no address to load.
func TestPolicy(t *testing.T) {
	text := html(t, reportOf(t, "branin"))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	require.NotNil(t, policy)
	require.True(t, strings.HasPrefix(policy[1], "default-src 'none'; "))
	require.NotContains(t, policy[1], "unsafe")
	require.NotContains(t, policy[1], "http")
	require.Equal(t, 4, strings.Count(policy[1], "'sha256-"))
	head, _, _ := strings.Cut(text, `<script type="application/json"`)
	for _, part := range []string{`<(script|link|img|iframe)[^>]* (src|href)=`, `<link`, ` style="`, ` on[a-z]+="`} {
		require.False(t, regexp.MustCompile(part).MatchString(head), part)
	}
	require.False(t, strings.Contains(text, "<script src"))
}

// The JSON of a report has the data of the pictures.
func TestDataOfTheStudies(t *testing.T) {
	for _, name := range insighttest.Names {
		t.Run(name, func(t *testing.T) {
			r := reportOf(t, name)
			v, err := insighttest.Study(t, name).View(t.Context())
			require.NoError(t, err)
			require.Len(t, r.Trials, len(v.Trials))
			require.Len(t, r.Models, len(v.Definition.Goals()))
			require.NotNil(t, r.Next)
			require.NotEmpty(t, r.Next.Reasons)
			for _, m := range r.Models {
				require.Len(t, m.Slices, len(r.Axes))
				require.Len(t, m.Importance, len(r.Axes))
				n := min(4, len(r.Axes))
				require.Len(t, m.Maps, n*(n-1)/2)
				require.NotEmpty(t, m.Calibration.Predictions)
				require.Equal(t, name == "constrained" || name == "mixed" || name == "front", m.Maps[0].Probability != nil)
			}
			require.Equal(t, name == "curves", len(r.Curves) > 0)
			require.Equal(t, name == "front", r.References != nil)
			text, err := json.Marshal(r)
			require.NoError(t, err)
			var back report.Report
			require.NoError(t, json.Unmarshal(text, &back))
			require.NotEmpty(t, r.Timeline.Lanes)
			require.NotEmpty(t, r.Summary)
		})
	}
}

// bowl returns n evaluations of a noisy function of six parameters; one of ten fails.
func bowl(n int) (*study.Definition, []store.Evaluated) {
	d := &study.Definition{Version: 1, Name: "bowl", Objectives: []study.Objective{{Name: "loss"}}}
	names := []string{"a", "b", "c", "d", "e", "f"}
	for _, name := range names {
		d.Parameters = append(d.Parameters, space.Float(name, 0, 1))
	}
	rng := random.New(1, "bowl", 0)
	trials := make([]store.Evaluated, n)
	for i := range trials {
		x, y := map[string]any{}, 0.02*rng.NormFloat64()
		for k, name := range names {
			u := rng.Float64()
			x[name], y = u, y+math.Pow(u-0.4, 2)/float64(k+1)
		}
		trials[i] = store.Evaluated{Params: x, Numbers: map[string]float64{"loss": y}}
		if i%10 == 9 {
			trials[i] = store.Evaluated{Params: x, Failure: store.FailedByProgram, Message: "out of memory"}
		}
	}
	return d, trials
}

// Reports of no trial, one trial, and more trials than the bounds.
func TestSizes(t *testing.T) {
	counts := []int{0, 1, 100, 10_000}
	if testing.Short() {
		counts = []int{0, 1, 60}
	}
	for _, n := range counts {
		d, trials := bowl(n)
		if n > report.MaxTrials {
			d.Surrogate = study.Component{Name: "rff", Settings: map[string]any{"features": 32}}
		}
		u := stored(t, d, trials...)
		begun := time.Now()
		r := built(t, u)
		text := html(t, r)
		t.Logf("%d trials: %.2f MB in %v", n, float64(len(text))/1e6, time.Since(begun).Round(time.Millisecond))
		require.Less(t, len(text), 3_000_000)
		require.LessOrEqual(t, len(r.Trials), report.MaxTrials+200)
		require.Equal(t, n > 0, len(r.Models) > 0)
		require.Equal(t, n > report.MaxTrials, len(r.Notes) > 1)
		p := open(t, browsertest.Shared(t), r, 1000, 800, false)
		require.Equal(t, n > 0, browsertest.Eval[bool](p, `document.getElementById("slice-chart") !== null`))
		require.NotEmpty(t, browsertest.Eval[string](p, `document.getElementById("summary").innerText`))
	}
}

func TestArguments(t *testing.T) {
	u := insighttest.Study(t, "mixed")
	r, err := report.Build(t.Context(), u, report.Options{Maps: []string{"layers", "batch_norm"}})
	require.NoError(t, err)
	require.Len(t, r.Models[0].Maps, 1)
	for _, names := range [][]string{{"layers"}, {"layers", "layers"}, {"layers", "depth"}} {
		_, err := report.Build(t.Context(), u, report.Options{Maps: names})
		require.ErrorIs(t, err, insight.ErrArgument)
	}
}

// The parts of a report that come from the records alone, without a fit.
func TestGoldenRecords(t *testing.T) {
	for _, name := range insighttest.Names {
		r := reportOf(t, name)
		text, err := json.MarshalIndent(map[string]any{
			"axes": r.Axes, "trials": r.Trials, "references": r.References, "timeline": r.Timeline, "curves": r.Curves,
		}, "", " ")
		require.NoError(t, err)
		text = regexp.MustCompile(`\n +([^ {])`).ReplaceAll(text, []byte(" $1")) // an object per line
		path := filepath.Join("testdata", name+".json")
		if *update {
			require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, string(want) == string(text)+"\n", "%s differs: look at the change, then run the test with -update", path)
	}
}

// A suggestion after a log transform has its own interval in the report.
func TestIntervalOfLogTransformedValues(t *testing.T) {
	var trials []store.Evaluated
	rng := random.New(1, "points", 0)
	for range 14 {
		a, b := rng.Float64(), rng.Float64()
		trials = append(trials, store.Evaluated{Params: map[string]any{"a": a, "b": b}, Numbers: map[string]float64{"loss": math.Exp(8*a + math.Sin(4*b))}})
	}
	u := stored(t, &study.Definition{
		Version: 1, Name: "powers", Initial: 5, Parameters: []space.Parameter{space.Float("a", 0, 1), space.Float("b", 0, 1)},
		Objectives: []study.Objective{{Name: "loss"}},
	}, trials...)
	asked, err := u.Ask(t.Context(), 1)
	require.NoError(t, err)
	p := asked[0].Prediction
	require.NotZero(t, p.Interval)
	require.Greater(t, *p.Mean-p.Interval[0], 0.)
	r := built(t, u)
	got := r.Trials[14].Predicted
	require.InEpsilon(t, *p.Mean, float64(got[0]), 1e-3)
	require.InEpsilon(t, p.Interval[0], float64(got[1]), 1e-3)
	require.InEpsilon(t, p.Interval[1], float64(got[2]), 1e-3)
}

// Standard deviations have an arbitrary unit while all values are equal.
func TestRecommendationOfEqualValues(t *testing.T) {
	var trials []store.Evaluated
	for i := range 3 {
		trials = append(trials, store.Evaluated{Params: map[string]any{"x": float64(i) / 2}, Numbers: map[string]float64{"loss": 5}})
	}
	d := &study.Definition{Version: 1, Name: "flat", Parameters: []space.Parameter{space.Float("x", 0, 1)}, Objectives: []study.Objective{{Name: "loss"}}}
	for _, n := range []int{1, 3} {
		r := built(t, stored(t, d, trials[:n]...))
		require.Contains(t, r.Summary, report.Line{Name: "Recommended", Text: "trial 1, predicted 5"})
	}
}
