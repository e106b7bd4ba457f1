package loop

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

// The trials of several workers follow from the recorded pending trials.
func TestAsynchronousRunReplays(t *testing.T) {
	for name, sp := range map[string]*space.Space{"box": box(t), "mixed": mixed(t)} {
		t.Run(name, func(t *testing.T) {
			o := options(2)
			s := newStudy(t, sp, o)
			var running, most atomic.Int32
			r := run(t, s, func(ctx context.Context, p space.Point) (float64, error) {
				defer running.Add(-1)
				if n := running.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Duration(5+rand.IntN(10)) * time.Millisecond)
				return bowl(ctx, p)
			}, 14, 4)
			require.Len(t, r.Trials, 14)
			assert.Empty(t, r.Warnings)
			assert.LessOrEqual(t, most.Load(), int32(4))

			var saved bytes.Buffer
			require.NoError(t, s.Save(&saved))
			resumed, err := Resume(&saved, o)
			require.NoError(t, err)
			trials := resumed.Trials()
			initial := s.Options().Initial
			h := History{}
			for i, want := range trials {
				require.Equal(t, Complete, want.State)
				if i < initial {
					require.Equal(t, Design, want.Source)
					continue
				}
				h.Trials = append([]Trial(nil), trials[:i]...)
				for _, id := range want.Pending {
					h.Trials[id-1].State = Pending
				}
				p, err := Propose(t.Context(), sp, o, h, 1)
				require.NoError(t, err)
				assert.Equal(t, want.Point.Key(), p.Points[0].Point.Key(), "trial %d", want.ID)
				h.Warm = p.Warm
			}
		})
	}
}

// While all workers evaluate, the next trial is chosen.
func TestAsynchronousRunAsksAhead(t *testing.T) {
	const budget, workers = 12, 3
	o := options(1)
	var asked atomic.Int32
	o.OnEvent = func(e Event) {
		if e.Kind == TrialAsked {
			asked.Add(1)
		}
	}
	var ended atomic.Int32
	run(t, newStudy(t, box(t), o), func(ctx context.Context, p space.Point) (float64, error) {
		begun := time.Now()
		for want := min(budget, ended.Load()+workers+1); asked.Load() < want; time.Sleep(time.Millisecond) {
			if time.Since(begun) > 20*time.Second {
				t.Error("no trial is chosen while all workers evaluate")
				break
			}
		}
		ended.Add(1)
		return branin(ctx, p)
	}, budget, workers)
}

func TestOneWorkerNeedsNoBatch(t *testing.T) {
	o := options(1)
	want := outcomes(run(t, newStudy(t, box(t), o), bowl, 9, 1).Trials)
	o.Batch = 1
	assert.Equal(t, want, outcomes(run(t, newStudy(t, box(t), o), bowl, 9, 3).Trials))
}
