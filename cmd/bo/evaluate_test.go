package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// A program evaluates the trials of a study by pipes. Results of trials that are not under way are left out.
func TestEvaluations(t *testing.T) {
	s := store.New(store.NewMemory(), store.Options{})
	d := &study.Definition{Name: "s", Budget: 5, Parameters: []space.Parameter{space.Float("x", 0, 1)}}
	u, err := s.Create(t.Context(), d)
	require.NoError(t, err)
	in, results := io.Pipe()
	trials, out := io.Pipe()
	x := newEvaluations(d, out)
	ended := make(chan error, 1)
	go func() {
		ended <- x.run(t.Context(), in, u, store.RunOptions{Workers: 2})
		_ = out.Close()
	}()

	stored := map[int]store.State{}
	dec := json.NewDecoder(trials)
	for {
		var line struct {
			Trial  int
			Params map[string]float64
			Result *trialJSON
		}
		if err := dec.Decode(&line); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		if line.Result != nil {
			stored[line.Result.Trial] = line.Result.State
			continue
		}
		require.Contains(t, line.Params, "x")
		text := `{"trial": 99, "numbers": {"value": 1}} {"trial": %d, "numbers": {"value": 1, "more": 2}, "seconds": 3}`
		switch line.Trial {
		case 2:
			text = `{"trial": %d, "failure": "burnt"}`
		case 3: // as JavaScript writes NaN
			text = `{"trial": %d, "numbers": {"value": null}}`
		case 4:
			text = `{"trial": %d, "numbers": {"value": 1, "more": null}}`
		case 5: // without a step to stop at
			text = `{"trial": %d, "stop": "cold"}`
		}
		_, err := io.WriteString(results, strings.ReplaceAll(text, "%d", string(rune('0'+line.Trial))))
		require.NoError(t, err)
	}
	require.NoError(t, <-ended)
	require.Equal(t, map[int]store.State{1: "complete", 2: "failed", 3: "failed", 4: "complete", 5: "failed"}, stored)
	v, err := u.View(t.Context())
	require.NoError(t, err)
	require.Equal(t, "burnt", v.Trials[1].Message)
	require.Equal(t, map[string]float64{"value": 1, "more": 2}, v.Trials[0].Numbers)
	require.EqualValues(t, 3, v.Trials[0].Seconds)
	require.Equal(t, store.NotFinite, v.Trials[2].Failure)
	require.Equal(t, map[string]float64{"value": 1}, v.Trials[3].Numbers)
	require.Contains(t, v.Trials[4].Message, "cold")
}

// A faulty object ends a run with its error, also directly before the end of the input.
func TestFaultOfTheInput(t *testing.T) {
	const fault = `{"trial": 1}`
	check := func(in io.Reader) {
		s := store.New(store.NewMemory(), store.Options{})
		d := &study.Definition{Name: "s", Budget: 9, Parameters: []space.Parameter{space.Float("x", 0, 1)}}
		u, err := s.Create(t.Context(), d)
		require.NoError(t, err)
		err = servePipe(&env{ctx: t.Context(), stdin: in}, func(ctx context.Context, in io.Reader) error {
			return unlessInputEnded(newEvaluations(d, io.Discard).run(ctx, in, u, store.RunOptions{}))
		})
		require.ErrorAs(t, err, new(usageError))
		require.EqualError(t, err, `object 1 of the input has neither "numbers" nor "failure" nor "stop"`)
	}
	in, results := io.Pipe()
	defer results.Close()
	go func() { _, _ = io.WriteString(results, fault) }()
	check(in)
	for range 20 {
		check(strings.NewReader(fault))
	}
}

// A result that arrives with the end of the input is stored.
func TestResultsBeforeTheEnd(t *testing.T) {
	for range 20 {
		s := store.New(store.NewMemory(), store.Options{})
		d := &study.Definition{Name: "s", Budget: 9, Parameters: []space.Parameter{space.Float("x", 0, 1)}}
		u, err := s.Create(t.Context(), d)
		require.NoError(t, err)
		in, results := io.Pipe()
		begun := make(chan struct{}, 9)
		go func() {
			<-begun
			<-begun
			_, _ = io.WriteString(results, `{"trial": 1, "numbers": {"value": 1}} {"trial": 2, "failure": "burnt"}`)
			_ = results.Close()
		}()
		x := newEvaluations(d, signalling{begun})
		err = servePipe(&env{ctx: t.Context(), stdin: in}, func(ctx context.Context, in io.Reader) error {
			return x.run(ctx, in, u, store.RunOptions{Workers: 2})
		})
		if err != nil {
			require.ErrorIs(t, err, errInputEnded)
		}
		v, err := u.View(t.Context())
		require.NoError(t, err)
		require.Equal(t, store.Complete, v.Trials[0].State)
		require.Equal(t, "burnt", v.Trials[1].Message)
		for i := range v.Trials[2:] { // an idle worker may have claimed another one before the end
			require.Equal(t, store.Pending, v.Trials[2+i].State)
			require.Zero(t, v.Trials[2+i].Lease)
		}
	}
}

// A step has a reply, which stops a trial that the rule stops or that is not under way.
func TestSteps(t *testing.T) {
	var out bytes.Buffer
	x := newEvaluations(nil, &out)
	reply := func(text string, report func(...loop.Step) error) string {
		out.Reset()
		var a evaluated
		require.NoError(t, json.Unmarshal([]byte(text), &a))
		require.NoError(t, a.check())
		var ctx context.Context
		if report != nil {
			ctx = loop.WithReporter(t.Context(), report)
		}
		x.step(ctx, &a)
		return strings.TrimSpace(out.String())
	}
	var seen []loop.Step
	goes := func(s ...loop.Step) error { seen = append(seen, s...); return nil }
	require.JSONEq(t, `{"trial": 1, "step": 2, "stop": false}`, reply(`{"trial": 1, "step": 2, "value": 0.5}`, goes))
	require.Equal(t, []loop.Step{{Step: 2, Value: 0.5}}, seen)
	require.JSONEq(t, `{"trial": 1, "step": 3, "stop": false}`, reply(`{"trial": 1, "step": 3, "value": null}`, goes))
	require.True(t, math.IsNaN(seen[1].Value))
	stops := func(...loop.Step) error { return loop.ErrStopped }
	require.JSONEq(t, `{"trial": 1, "step": 2, "stop": true}`, reply(`{"trial": 1, "step": 2, "value": 0.5}`, stops))
	require.JSONEq(t, `{"trial": 1, "step": 2, "stop": true}`, reply(`{"trial": 1, "step": 2, "value": 0.5}`, nil))
	told := func(...loop.Step) error { return store.ErrConflict }
	require.JSONEq(t, `{"trial": 1, "step": 2, "stop": true}`, reply(`{"trial": 1, "step": 2, "value": 0.5}`, told))
	fails := func(...loop.Step) error { return errors.New("no answer\nat all") }
	require.JSONEq(t, `{"trial": 1, "step": 2, "error": "no answer; at all"}`, reply(`{"trial": 1, "step": 2, "value": 0.5}`, fails))
}

// The end of an attempt leaves the next attempt at the trial.
func TestNextAttempt(t *testing.T) {
	begun := make(chan struct{}, 2)
	x := newEvaluations(nil, signalling{begun})
	first, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := x.evaluate(first, store.Trial{Number: 1}, space.Point{})
		ended <- err
	}()
	<-begun
	go func() {
		_, err := x.evaluate(t.Context(), store.Trial{Number: 1}, space.Point{})
		ended <- err
	}()
	<-begun
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.NoError(t, x.read(strings.NewReader(`{"trial": 1, "numbers": {"value": 1}}`)))
	require.NoError(t, <-ended)
}

// signalling sends for each line that is written.
type signalling struct{ lines chan<- struct{} }

func (s signalling) Write(p []byte) (int, error) {
	s.lines <- struct{}{}
	return len(p), nil
}

func TestResultsOfTheInput(t *testing.T) {
	for text, want := range map[string]string{
		"":                                            "",
		`{"trial": 1, "failure": "no"}`:               "",
		`{"trial": 1, "numbers": {}}`:                 "",
		`{"trial": 1, "numb`:                          "", // the program was killed
		`{"trial": 1, "stop": "why"}`:                 "",
		`{"trial": 1}`:                                `object 1 of the input has neither "numbers" nor "failure" nor "stop"`,
		`{"trial": 1, "step": 1}`:                     "",
		`{"trial": 1, "step": 1, "numbers": {}}`:      `object 1 of the input has a "step" and a result`,
		`{"trial": 1, "step": 1, "stop": "why"}`:      `object 1 of the input has a "step" and a result`,
		`{"trial": 1, "stop": "no", "numbers": {}}`:   `object 1 of the input has a "stop" and a result`,
		`{"trial": 1, "stop": "no", "failure": "no"}`: `object 1 of the input has a "stop" and a result`,
		`{"trial": 1, "number": {"a": 1}}`:            `object 1 of the input: json: unknown field "number", want {"trial": 3, "numbers": {…}}`,
		`{"trial": 1, "numbers": {}} nan`:             "object 2 of the input: invalid character",
		"{\n\"trial\": 1,\n\"numbers\": {}} nan":      "object 2 of the input: invalid character",
		`{"trial": "a", "numbers": {}}`:               "object 1 of the input: json: cannot unmarshal string",
	} {
		err := newEvaluations(nil, &bytes.Buffer{}).read(strings.NewReader(text))
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(usageError))
	}
}

func TestEndKind(t *testing.T) {
	require.Equal(t, "budget", endKind(nil))
	require.Equal(t, "failures", endKind(store.ErrFailures))
	require.Empty(t, endKind(context.Canceled))
	lost := &store.NotStored{Report: store.Report{Trial: 3}, Err: store.ErrUnavailable}
	require.Empty(t, endKind(errors.Join(store.ErrTarget, lost)), "a lost result is an error")
	require.Equal(t, "the budget is used up", endText(nil, &study.Definition{}))
}

// writerFunc is a function as an io.Writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// An interrupt names the way to continue, because the trials under way are issued again.
func TestInterruptedEvaluate(t *testing.T) {
	file, path := filepath.Join(t.TempDir(), "s.yaml"), filepath.Join(t.TempDir(), "bo.db")
	require.NoError(t, os.WriteFile(file, []byte("name: s\nparameters: [{name: x, type: float, min: 0, max: 1}]\n"), 0o600))
	require.Zero(t, run(t.Context(), []string{"study", "create", file, "--store", path}, strings.NewReader(""), io.Discard, io.Discard))
	for range 2 {
		ctx, interrupt := context.WithCancel(t.Context())
		var printed, warned bytes.Buffer
		in, results := io.Pipe()
		code := run(ctx, []string{"evaluate", "s", "--store", path}, in, writerFunc(func(b []byte) (int, error) {
			interrupt()
			return printed.Write(b)
		}), &warned)
		require.NoError(t, results.Close())
		require.Equal(t, 130, code)
		require.Equal(t, "bo: interrupted; the same command continues study s\n", warned.String())
		require.Contains(t, printed.String(), `"trial":1`)
	}
}

// A program evaluates the trials of a service by pipes.
func TestServedEvaluations(t *testing.T) {
	backend := store.NewMemory()
	d := &study.Definition{
		Name: "s", Budget: 5, Initial: 5, Parameters: []space.Parameter{space.Float("x", 0, 1)}, Require: []string{"cost <= 1"},
		Stop: loop.Stop{Rule: loop.Median, Startup: 1},
	}
	u, err := store.New(backend, store.Options{}).Create(t.Context(), d)
	require.NoError(t, err)
	s := server.New(backend, server.Options{})
	defer s.Close()
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	in, results := io.Pipe()
	lines, out := io.Pipe()
	var failed bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(t.Context(), []string{"evaluate", "s", "--server", h.URL}, in, out, &failed)
		_ = out.Close()
	}()
	var ended map[string]any
	stored, progress := map[int]trialJSON{}, []int{}
	for dec := json.NewDecoder(lines); ; {
		var line struct {
			Trial, Finished int
			Step            *float64
			Stop            bool
			Result          *trialJSON
			Ended, Kind     string
			Source          string
		}
		if err := dec.Decode(&line); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		if line.Trial > 0 && line.Step == nil {
			require.Equal(t, "design", line.Source)
		}
		answer := `{"trial": %d, "numbers": {"value": 1, "cost": 2}, "seconds": 3}`
		switch {
		case line.Ended != "":
			ended = map[string]any{"ended": line.Ended, "kind": line.Kind}
			continue
		case line.Result != nil:
			stored[line.Result.Trial], progress = *line.Result, append(progress, line.Finished)
			continue
		case line.Step != nil:
			require.Equal(t, line.Trial > 1, line.Stop)
		case line.Trial == 2:
			answer = `{"trial": %d, "failure": "burnt"}`
		case line.Trial == 4:
			answer = `{"trial": %d, "numbers": {"value": 1}}`
		default:
			answer = `{"trial": %d, "step": 1, "value": %[1]d}`
		}
		_, err := fmt.Fprintf(results, answer, line.Trial)
		require.NoError(t, err)
	}
	require.Zero(t, <-code, failed.String())
	require.Equal(t, map[string]any{"ended": "the budget is used up", "kind": "budget"}, ended)
	require.Equal(t, []int{1, 2, 3, 4, 5}, progress)
	v, err := u.View(t.Context())
	require.NoError(t, err)
	for i, state := range []store.State{"complete", "failed", "stopped", "failed", "stopped"} {
		require.Equal(t, state, stored[i+1].State)
		require.Equal(t, state, v.Trials[i].State)
		require.Equal(t, v.Trials[i].Message, stored[i+1].Message)
	}
	require.False(t, *stored[1].Feasible)
	require.EqualValues(t, 3, v.Trials[0].Seconds)
	require.Contains(t, stored[4].Message, `no number named "cost"`)
}

func TestServedEnd(t *testing.T) {
	require.NoError(t, servedEnd("the budget is used up: 6 trials count"))
	err := servedEnd("the target is reached: trial 3")
	require.ErrorIs(t, err, store.ErrTarget)
	require.EqualError(t, err, "the target is reached: trial 3")
	require.Equal(t, "exhausted", endKind(servedEnd(loop.ErrExhausted.Error())))
	var stderr bytes.Buffer
	args := []string{"evaluate", "s", "--server", "http://localhost:1", "--target", "3"}
	require.Equal(t, 2, run(t.Context(), args, strings.NewReader(""), io.Discard, &stderr))
	require.Contains(t, stderr.String(), "--target and --max-failures are for a study in a store")
	stderr.Reset()
	require.Equal(t, 2, run(t.Context(), []string{"evaluate", "s", "--ca", "ca.pem"}, strings.NewReader(""), io.Discard, &stderr))
	require.Contains(t, stderr.String(), "--token-file and --ca are for a study of a service")
}
