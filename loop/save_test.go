package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
)

// saveAtEveryEvent runs a study to its budget and returns its trials, and the state saved
// at each event.
func saveAtEveryEvent(t *testing.T, sp *space.Space, o Options, f Objective, budget int) (states [][]byte, want []Trial) {
	t.Helper()
	var s *Study
	o.OnEvent = func(e Event) {
		if e.Kind == Working {
			return
		}
		var b bytes.Buffer
		assert.NoError(t, s.Save(&b))
		if len(states) == 0 || !bytes.Equal(states[len(states)-1], b.Bytes()) {
			states = append(states, b.Bytes())
		}
	}
	s = newStudy(t, sp, o)
	return states, run(t, s, f, budget, 1).Trials
}

func resumable() map[string]surrogate.Model {
	return map[string]surrogate.Model{
		"gp":          gp.Model{},
		"fsp-laplace": fsplaplace.Model{Network: surrogate.Network{Hidden: []int{8}}, Context: 30, Steps: 10},
	}
}

func TestKilledAtAnyEvent(t *testing.T) {
	racetest.SkipNumerical(t)
	f := func(ctx context.Context, p space.Point) (float64, error) {
		v, err := bowl(ctx, p)
		if v > 1.5 {
			return 0, errors.New("too far")
		}
		return v, err
	}
	for name, model := range resumable() {
		for batch, sp := range map[int]*space.Space{1: box(t), 3: mixed(t)} {
			t.Run(fmt.Sprint(name, batch), func(t *testing.T) {
				o := options(5)
				o.Surrogate, o.Batch = model, batch
				states, trials := saveAtEveryEvent(t, sp, o, f, 8)
				want := outcomes(trials)
				require.Greater(t, len(states), 8)
				for i, state := range states {
					s, err := Resume(bytes.NewReader(state), o)
					require.NoError(t, err)
					require.Equal(t, want, outcomes(run(t, s, f, 8, 1).Trials), "state %d of %d:\n%s", i, len(states), state)
				}
			})
		}
	}
}

// A study that is resumed between Ask and Tell, and between Tell and Ask, makes the same suggestions as an
// uninterrupted study. The study has batches and pending trials.
func TestResumeAskTell(t *testing.T) {
	for name, model := range resumable() {
		t.Run(name, func(t *testing.T) {
			o := options(7)
			o.Surrogate = model
			whole := newStudy(t, box(t), o)
			killed := newStudy(t, box(t), o)
			again := func() {
				var b bytes.Buffer
				require.NoError(t, killed.Save(&b))
				was := killed.Trials()
				var err error
				killed, err = Resume(&b, o)
				require.NoError(t, err)
				require.Equal(t, was, killed.Trials())
			}
			for round, size := range []int{4, 1, 3, 2, 1} {
				want, err := whole.Ask(t.Context(), size)
				require.NoError(t, err)
				got, err := killed.Ask(t.Context(), size)
				require.NoError(t, err)
				require.Equal(t, outcomes(want), outcomes(got), "round %d", round)
				again()
				got, err = killed.Ask(t.Context(), len(killed.pendingIDs()))
				require.NoError(t, err)
				require.Equal(t, outcomes(want), outcomes(got[len(got)-size:]), "round %d, asked again", round)
				for _, tr := range want[:(size+1)/2] {
					v, _ := branin(t.Context(), tr.Point)
					require.NoError(t, whole.Tell(tr.ID, v))
					require.NoError(t, killed.Tell(tr.ID, v))
				}
				left := killed.pendingIDs()
				again()
				if len(left) > 0 {
					got, err := killed.Ask(t.Context(), len(left))
					require.NoError(t, err)
					for i := range got {
						require.Equal(t, left[i], got[i].ID)
					}
				}
			}
			w, err := whole.Recommend(t.Context())
			require.NoError(t, err)
			k, err := killed.Recommend(t.Context())
			require.NoError(t, err)
			assert.Equal(t, w.Model.Mean, k.Model.Mean)
		})
	}
}

func (s *Study) pendingIDs() (ids []int) {
	for _, t := range s.Trials() {
		if t.State == Pending {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

func TestResumeKeepsQueueAndSpace(t *testing.T) {
	sp := mixed(t)
	s := newStudy(t, sp, options(1))
	p := sp.Decode(make([]float64, sp.Dim()))
	require.NoError(t, s.Enqueue(p, p))
	_, err := s.Ask(t.Context(), 1)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, s.Save(&b))
	s, err = Resume(&b, options(1))
	require.NoError(t, err)
	trials, err := s.Ask(t.Context(), 3)
	require.NoError(t, err)
	assert.Equal(t, []Source{Enqueued, Enqueued, Design}, []Source{trials[0].Source, trials[1].Source, trials[2].Source})
	assert.Equal(t, []int{1, 2, 3}, []int{trials[0].ID, trials[1].ID, trials[2].ID})
	assert.Equal(t, sp.Parameters(), s.Space().Parameters())
	// A pending trial may be told without a second Ask.
	s, err = Resume(bytes.NewReader(savedText(t, s)), options(1))
	require.NoError(t, err)
	require.NoError(t, s.Tell(1, 2))
}

func savedText(t testing.TB, s *Study) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, s.Save(&b))
	return b.Bytes()
}

func TestResumeComparesOptions(t *testing.T) {
	text := savedText(t, newStudy(t, box(t), options(1)))
	for name, change := range map[string]func(*Options){
		"seed is 2, saved 1":                              func(o *Options) { o.Seed = 2 },
		"batch is 2, saved 1":                             func(o *Options) { o.Batch = 2 },
		"initial is 9, saved 4":                           func(o *Options) { o.Initial = 9 },
		"design is lhs, saved sobol":                      func(o *Options) { o.Design = "lhs" },
		"maximize is true, saved false":                   func(o *Options) { o.Maximize = true },
		"noise-free is true, saved false":                 func(o *Options) { o.NoiseFree = true },
		"surrogate is loop.brittle":                       func(o *Options) { o.Surrogate = brittle{} },
		"acquisition is acquisition.MES, sav":             func(o *Options) { o.Acquisition = acquisition.MES{} },
		`maximizer is {"raw":7,`:                          func(o *Options) { o.Maximizer.Raw = 7 },
		"seed is 2, saved 1; maximize is true":            func(o *Options) { o.Seed, o.Maximize = 2, true },
		"standard error is se, saved none":                func(o *Options) { o.StandardError = "se" },
		`require is [{"name":"a","bound":0}], saved none`: func(o *Options) { o.Require = []Requirement{{Name: "a"}} },
		"prior mean is a function without a text, saved none": func(o *Options) {
			o.PriorMean.At = func(space.Point) float64 { return 0 }
		},
	} {
		o := options(1)
		change(&o)
		_, err := Resume(bytes.NewReader(text), o)
		require.ErrorIs(t, err, ErrMismatch, name)
		assert.ErrorContains(t, err, name)
	}
	o := options(1)
	o.Batch, o.Design, o.Surrogate = 1, "sobol", gp.Model{}
	_, err := Resume(bytes.NewReader(text), o)
	assert.NoError(t, err, "stated defaults are the defaults")
	older := regexp.MustCompile(`,"maximizer":\{.*?\}`).ReplaceAll(text, nil)
	require.NotEqual(t, text, older)
	o.Maximizer.Raw = 7
	_, err = Resume(bytes.NewReader(older), o)
	assert.NoError(t, err, "older files have no maximizer")
}

// Empty slices and maps equal nil, in the options and in the file.
func TestResumeWithEmptyOptions(t *testing.T) {
	empty := options(1)
	empty.Objectives, empty.Require, empty.Optimum, empty.First = []Goal{}, []Requirement{}, map[string]Belief{}, []map[string]any{}
	text := savedText(t, newStudy(t, box(t), empty))
	for _, o := range []Options{empty, options(1)} {
		_, err := Resume(bytes.NewReader(text), o)
		require.NoError(t, err)
		_, err = Resume(bytes.NewReader(bytes.Replace(text, []byte(`"options":{`), []byte(`"options":{"require":[],"optimum":{},`), 1)), o)
		require.NoError(t, err)
	}
}

// An indented file, with other forms of texts and numbers, has the same space.
func TestResumeInIndentedFile(t *testing.T) {
	s := newRestricted(t, []space.Parameter{space.LogFloat("x", 1e-7, 1), space.Float("y", 0, 1)}, "x + y < 1")
	text := savedText(t, newStudy(t, s, options(1)))
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, text, "", "  "))
	indented := bytes.Replace(bytes.Replace(b.Bytes(), []byte(`\u003c`), []byte("<"), 1), []byte("1e-7"), []byte("1.0e-07"), 1)
	require.Contains(t, string(indented), "x + y < 1")
	_, err := ResumeIn(bytes.NewReader(indented), s, options(1))
	require.NoError(t, err)
	_, err = ResumeIn(bytes.NewReader(bytes.Replace(indented, []byte("1.0e-07"), []byte("1.1e-07"), 1)), s, options(1))
	require.ErrorIs(t, err, ErrMismatch)
}

func TestResumeBadFiles(t *testing.T) {
	s := newStudy(t, box(t), options(1))
	_, err := s.Ask(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, s.Tell(1, 2))
	good := string(savedText(t, s))
	for want, text := range map[string]string{
		"unexpected end":                 "",
		"unexpected end of":              good[:len(good)/2],
		"after top-level value":          good + "x",
		`format is ""`:                   "{}",
		"version 2 is newer":             strings.Replace(good, `"version":1`, `"version":2`, 1),
		"version is 0":                   strings.Replace(good, `"version":1`, `"version":0`, 1),
		"invalid search space":           strings.Replace(good, `"min":-5`, `"min":50`, 1),
		"initial is 0":                   strings.Replace(good, `"initial":4`, `"initial":0`, 1),
		"trial 1: id is 2, want 1":       strings.Replace(good, `"id":1`, `"id":2`, 1),
		`state is "done"`:                strings.Replace(good, `"complete"`, `"done"`, 1),
		`source is "moon"`:               strings.Replace(good, `"source":"design"`, `"source":"moon"`, 1),
		"a complete trial needs a value": strings.Replace(good, `"complete"`, `"failed"`, 1),
		"1e+307 is beyond ±1e+300":       strings.Replace(good, `"value":2`, `"value":1e307`, 1),
		"invalid point":                  strings.Replace(good, `"params":{"x":`, `"params":{"x":1e6,"z":`, 1),
		"queued point 1":                 strings.Replace(good, `"trials":[`, `"queue":[3],"trials":[`, 1),
		"cannot unmarshal":               strings.Replace(good, `"trials":[`, `"trials":7,"old":[`, 1),
		"cannot unmarshal numbe":         strings.Replace(good, `"seed":1`, `"seed":-1`, 1),
	} {
		_, err := Resume(strings.NewReader(text), options(1))
		require.ErrorIs(t, err, ErrState, want)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n")
	}
}

func FuzzResume(f *testing.F) {
	sp, err := space.New(space.Float("x", -5, 10), space.Int("n", 1, 3), space.Categorical("c", "a", "b", "c"))
	require.NoError(f, err)
	s := newStudy(f, sp, options(1))
	trials, err := s.Ask(context.Background(), 3)
	require.NoError(f, err)
	require.NoError(f, s.Tell(1, 2))
	require.NoError(f, s.Fail(2, "no"))
	require.NoError(f, s.Enqueue(trials[0].Point))
	f.Add(savedText(f, s))
	f.Add([]byte(`{"format":"bo-study","version":1,"space":{"parameters":[]},"options":{"initial":1,"batch":1}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Resume(bytes.NewReader(text), options(1))
		if err != nil {
			if !errors.Is(err, ErrState) && !errors.Is(err, ErrMismatch) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		again, err := Resume(bytes.NewReader(savedText(t, s)), options(1))
		require.NoError(t, err)
		assert.Equal(t, outcomes(s.Trials()), outcomes(again.Trials()))
	})
}
