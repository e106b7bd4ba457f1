package loop

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
)

// slowSuggestions makes a study take a suggestion for long in comparison to an evaluation, so that a
// run looks ahead. In a bubble of synctest, suggestions take no time.
func slowSuggestions(s *Study) {
	for range 20 {
		s.pace.Suggested(time.Hour, 1)
	}
}

// The trials of several workers follow from the recorded pending trials.
func TestAsynchronousRunReplays(t *testing.T) {
	for name, sp := range map[string]*space.Space{"box": box(t), "mixed": mixed(t)} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testReplay(t, sp) }) })
	}
}

func testReplay(t *testing.T, sp *space.Space) {
	o := options(2)
	s := newStudy(t, sp, o)
	slowSuggestions(s)
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
}

// mostPending returns the largest number of pending trials of a suggestion in a run of three
// workers. It runs in a bubble of synctest: the evaluations sleep until the suggestions that the
// run prepares are ready, however slow the machine is.
func mostPending(t *testing.T, s *Study) int {
	r := run(t, s, func(ctx context.Context, p space.Point) (float64, error) {
		time.Sleep(20 * time.Millisecond)
		return branin(ctx, p)
	}, 14, 3)
	require.Len(t, r.Trials, 14)
	most := 0
	for _, trial := range r.Trials {
		if trial.Source == Suggested {
			most = max(most, len(trial.Pending))
		}
	}
	return most
}

// Trials are chosen while all workers evaluate only if the choice takes long in comparison.
func TestAsynchronousRunLooksAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStudy(t, box(t), options(1))
		slowSuggestions(s)
		most := mostPending(t, s)
		assert.GreaterOrEqual(t, most, 3)
		assert.LessOrEqual(t, most, 5, "three running trials and two prepared ones")
	})
	synctest.Test(t, func(t *testing.T) {
		s := newStudy(t, box(t), options(1))
		for range 20 {
			s.pace.Evaluated(time.Hour)
		}
		assert.LessOrEqual(t, mostPending(t, s), 2)
	})
}

// A trial that is prepared but not issued when a run ends is no trial of the study. A new trial of
// another kind comes first, and the prepared trials are then outdated.
func TestPreparedTrials(t *testing.T) { synctest.Test(t, testPrepared) }

func testPrepared(t *testing.T) {
	s := newStudy(t, box(t), options(1))
	run(t, s, branin, 8, 1)
	prepare := func() []prepared {
		var ahead []prepared
		for range 2 {
			p, err := s.prepare(t.Context(), ahead)
			require.NoError(t, err)
			ahead = append(ahead, p)
		}
		return ahead
	}
	ahead := prepare()
	require.Len(t, s.Trials(), 8)
	require.Equal(t, []int{9}, ahead[1].trial.Pending)

	issued := s.issue(t.Context(), &ahead)
	require.Len(t, issued, 1)
	require.Equal(t, s.Trials()[8], issued[0])
	require.Len(t, ahead, 1)
	require.NoError(t, s.Enqueue(issued[0].Point))
	require.Nil(t, s.issue(t.Context(), &ahead), "an enqueued point comes first")
	require.Empty(t, ahead)

	next, err := s.Ask(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, Enqueued, next[0].Source)
	ahead = prepare()
	_, err = s.Add(ahead[0].trial.Point, 1)
	require.NoError(t, err)
	require.Nil(t, s.issue(t.Context(), &ahead), "the point has a trial")
	require.Len(t, s.Trials(), 11)

	slowSuggestions(s)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = s.Run(ctx, func(ctx context.Context, _ space.Point) (float64, error) {
		time.Sleep(10 * time.Millisecond)
		if len(s.Trials()) > 14 {
			cancel()
		}
		return 1, ctx.Err()
	}, 30, 3)
	require.ErrorIs(t, err, context.Canceled)
	started := 0
	for _, trial := range s.Trials() {
		if trial.State == Complete || s.idle[trial.ID] {
			started++
		}
	}
	require.Len(t, s.Trials(), started+2, "trials 9 and 10 are not told")
}

func TestOneWorkerNeedsNoBatch(t *testing.T) {
	o := options(1)
	want := outcomes(run(t, newStudy(t, box(t), o), bowl, 9, 1).Trials)
	o.Batch = 1
	assert.Equal(t, want, outcomes(run(t, newStudy(t, box(t), o), bowl, 9, 3).Trials))
}
