package scale

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/study"
)

var slow = flag.Int("slow", 1, "factor of the time of an evaluation")

// TestWorkers measures the share of the time of four workers that is spent on evaluations of uneven length. It
// measures from the start of the run until the last trial is issued. Evaluations sleep, and take no processor
// time. With -full they last 16 s in all, and the share must be at least 90 %. On a machine that is busy with
// other work, -slow 5 makes them five times as long.
func TestWorkers(t *testing.T) {
	for _, w := range []uneven{
		{16, 100 * time.Millisecond, 1900 * time.Millisecond},
		{40, 50 * time.Millisecond, 750 * time.Millisecond},
	} {
		factor := time.Duration(*slow)
		if !*full {
			w.shortest, w.longest = w.shortest/10, w.longest/10
		}
		w.shortest, w.longest = factor*w.shortest, factor*w.longest
		share := w.measure(t)
		load, _ := os.ReadFile("/proc/loadavg")
		t.Logf("%d trials of %v to %v on 4 workers: %.1f %% busy, load %s", w.trials, w.shortest, w.longest, 100*share, load)
		if *full {
			require.GreaterOrEqual(t, share, 0.9)
		}
	}
}

// uneven is a run whose trials last from shortest to longest, in equal steps and a scattered
// order.
type uneven struct {
	trials            int
	shortest, longest time.Duration
}

// span is the time of one evaluation.
type span struct{ begun, ended time.Time }

func (w uneven) lasts(trial int) time.Duration {
	step := (trial * 7) % w.trials // 7 has no factor in common with the numbers of trials
	return w.shortest + (w.longest-w.shortest)*time.Duration(step)/time.Duration(w.trials-1)
}

func (w uneven) measure(t *testing.T) float64 {
	ctx := context.Background()
	backend, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "bo.db"), true)
	require.NoError(t, err)
	var fits []time.Duration
	s := store.New(backend, store.Options{OnFit: func(_ loop.Fit, d time.Duration) { fits = append(fits, d.Round(time.Millisecond)) }})
	defer s.Close()
	d := &study.Definition{Version: 1, Name: "s", Budget: w.trials}
	d.Parameters = []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1), space.Float("z", 0, 1)}
	u, err := s.Create(ctx, d)
	require.NoError(t, err)

	var mu sync.Mutex
	var spans []span
	evaluate := func(_ context.Context, trial store.Trial, p space.Point) (store.Report, error) {
		begun := time.Now()
		time.Sleep(w.lasts(trial.Number))
		mu.Lock()
		spans = append(spans, span{begun, time.Now()})
		mu.Unlock()
		x, y, z := p.Float("x")-0.3, p.Float("y")-0.6, p.Float("z")-0.5
		return store.Report{Numbers: map[string]float64{"value": x*x + 2*y*y + x*z}}, nil
	}
	begun := time.Now()
	require.NoError(t, u.Run(ctx, evaluate, store.RunOptions{Workers: 4}))
	require.Len(t, spans, w.trials)
	t.Logf("proposals: %v", fits)
	return used(begun, spans, 4)
}

// used returns the share of the workers' time from begun to the last begin of a span.
func used(begun time.Time, spans []span, workers int) float64 {
	last := begun
	for _, s := range spans {
		if s.begun.After(last) {
			last = s.begun
		}
	}
	var busy time.Duration
	for _, s := range spans {
		if s.ended.After(last) {
			s.ended = last
		}
		busy += s.ended.Sub(s.begun)
	}
	return float64(busy) / float64(workers) / float64(last.Sub(begun))
}
