package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
)

// The share of the time in which a worker is busy counts the trials that the report leaves out.
func TestTimelineOfASample(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	b := &builder{
		Report: &Report{Trials: []Trial{{ID: 2}, {ID: 4}}},
		view:   &store.View{Now: at(100)},
		spans: []insight.Span{
			{Trial: 1, Worker: "a", State: loop.Complete, Started: at(0), Finished: at(10)},
			{Trial: 2, Worker: "a", State: loop.Complete, Started: at(10), Finished: at(20)},
			{Trial: 3, Worker: "a", State: loop.Complete, Started: at(20), Finished: at(40)},
			{Trial: 4, Worker: "b", State: loop.Failed, Started: at(0), Finished: at(20)},
		},
	}
	b.addTimeline()
	require.Equal(t, Timeline{Start: start, End: 40, Busy: 0.75, Lanes: []Lane{
		{Worker: "a", Busy: 1, Spans: []Span{{2, 10, 20, loop.Complete}}},
		{Worker: "b", Busy: 0.5, Spans: []Span{{4, 0, 20, loop.Failed}}},
	}}, b.Timeline)
}

// The note about a sample counts finished trials; pending ones are shown beside them.
func TestNoteOfASample(t *testing.T) {
	b := &builder{Report: &Report{}, view: &store.View{}}
	for i := range MaxTrials + 2 {
		b.history = append(b.history, loop.Trial{ID: i + 1, State: loop.Failed})
	}
	b.history[0].State = loop.Pending
	for i := range MaxTrials + 1 {
		b.Trials = append(b.Trials, Trial{ID: i + 1, State: b.history[i].State})
	}
	b.addNotes()
	require.Len(t, b.Notes, 2)
	require.Contains(t, b.Notes[1], fmt.Sprintf("%d of %d finished trials", MaxTrials, MaxTrials+1))
}
