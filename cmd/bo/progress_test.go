package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

func TestDuration(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0 ms", 0.0123: "12 ms", 0.9999: "1.0 s", 3.14: "3.1 s", 42.3: "42 s", 59.7: "0:59 min", 200: "3:20 min", 7384: "2:03 h",
	} {
		require.Equal(t, want, duration(s), s)
	}
}

// clocked returns a progress whose terminal is a buffer 60 columns wide.
func clocked(budget int) (*progress, *bytes.Buffer, *time.Time) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&out, budget, 0)
	p.now = func() time.Time { return now }
	p.ends, p.phaseStart = []time.Time{now}, now
	p.width = func() int { return 60 }
	return p, &out, &now
}

func TestLiveLine(t *testing.T) {
	p, out, now := clocked(10)
	trial := func(id int, value float64) {
		e := loop.Event{Trial: loop.Trial{ID: id, State: loop.Complete, Value: value, EvaluateSeconds: 2}}
		best := loop.Trial{Value: 0.5}
		e.Kind = loop.TrialAsked
		p.handle(e, nil)
		e.Kind = loop.TrialStarted
		p.handle(e, nil)
		*now = now.Add(2 * time.Second)
		require.Contains(t, p.line(), "evaluate 2.0 s")
		e.Kind = loop.TrialFinished
		p.handle(e, &best)
	}
	for id := range 3 {
		trial(id+1, 1)
	}
	p.handle(loop.Event{Kind: loop.FitStarted}, nil)
	*now = now.Add(1500 * time.Millisecond)
	p.handle(loop.Event{Kind: loop.Working, Progress: surrogate.Progress{Phase: "train", Done: 300, Total: 2000}}, nil)
	require.Equal(t, "3/10 trials   best 0.5   fit 1.5 s (train 300/2000)   about 12 s left", p.line())
	p.handle(loop.Event{Kind: loop.Working, Progress: surrogate.Progress{Phase: "acquisition", Total: 1}}, nil)
	*now = now.Add(time.Second)
	p.handle(loop.Event{Kind: loop.TrialAsked}, nil)
	require.Equal(t, map[string]float64{"fit": 1.5, "suggest": 1, "evaluate": 6}, p.spent)
	for line := range strings.SplitSeq(out.String(), "\r") {
		require.Less(t, len([]rune(strings.TrimSuffix(line, "\n"))), 60)
	}
}

func TestLinesThatStay(t *testing.T) {
	p, out, _ := clocked(10)
	s, err := space.New(space.Float("lr", 0, 1), space.Categorical("opt", "adam", "sgd"))
	require.NoError(t, err)
	at, err := s.PointOf(map[string]any{"lr": 1.0 / 3, "opt": "sgd"})
	require.NoError(t, err)
	p.handle(loop.Event{Kind: loop.TrialFinished, Improved: true, Trial: loop.Trial{ID: 1, Value: 3, Point: at}}, &loop.Trial{Value: 3})
	p.handle(loop.Event{Kind: loop.TrialFinished, Trial: loop.Trial{ID: 2, Value: 4}}, &loop.Trial{Value: 3})
	numbers := "validation_loss -0.165966  latency_ms 497.899  memory_mb 5120  (infeasible)"
	p.report(loop.Event{Kind: loop.TrialFinished, Trial: loop.Trial{ID: 2, Value: 4}}, numbers, nil)
	p.handle(loop.Event{Kind: loop.TrialFailed, Trial: loop.Trial{ID: 3, Error: "no\nluck"}}, nil)
	p.handle(loop.Event{Kind: loop.Warned, Warnings: []string{"jitter 1e-11 on 30×30", "jitter 2.5e-09 on 31×31", "lengthscale[1] ended on its bound 1e+04", "lengthscale[2] ended on its bound 1e+04", "lengthscale[2] ended on its bound 0.01"}}, nil)
	for id := range 2 {
		p.handle(loop.Event{Kind: loop.TrialAsked, Trial: loop.Trial{ID: 4 + id, Warnings: []string{"training stopped\x1b early"}}}, nil)
	}
	p.close()
	var lines []string
	for line := range strings.SplitSeq(out.String(), "\n") {
		lines = append(lines, line[strings.LastIndex(line, "\r")+1:])
	}
	require.Equal(t, []string{"trial  1/10  value 3            0 ms", "  best: lr=0.333333 opt=sgd", "trial  2/10  value 4            0 ms", "trial  2/10  " + numbers + "  0 ms", "trial  3/10  failed: no; luck", "bo: warning: jitter 1e-11 on 30×30",
		"bo: warning: lengthscale[1] ended on its bound 1e+04", "bo: warning: lengthscale[2] ended on its bound 1e+04",
		`bo: warning: trial 4: training stopped\x1b early`, `bo: warning: in 2 trials, the last 5: training stopped\x1b early`, ""}, lines)
}
