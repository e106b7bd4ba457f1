package insight

import (
	"cmp"
	"slices"
	"time"

	"github.com/functionspace/bo/loop"
)

// Span is the time in which a worker evaluates a trial.
type Span struct {
	Trial    int        `json:"trial"`
	Worker   string     `json:"worker"` // empty if unknown
	State    loop.State `json:"state"`
	Started  time.Time  `json:"started"`
	Finished time.Time  `json:"finished,omitzero"` // zero while the trial runs
}

// Timeline is the use of workers over time.
type Timeline struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Lanes []Lane    `json:"lanes"`
	// Busy is the part of the time of all lanes in which they evaluate, between 0 and 1.
	Busy float64 `json:"busy"`
}

// Lane is the work of one worker. Spans of a lane do not overlap: a worker that evaluates several
// trials at a time has several lanes. Spans without a worker share as few lanes as possible.
type Lane struct {
	Worker string  `json:"worker"`
	Busy   float64 `json:"busy"` // part of the time from Start to End in which it evaluates
	Spans  []Span  `json:"spans"`
}

// Workers arranges spans in lanes, in the order in which workers begin. A span that is not
// finished ends at now. Spans without a start are left out. It costs O(n (log n + lanes)) for n
// spans.
func Workers(spans []Span, now time.Time) Timeline {
	spans = slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.Started.IsZero() })
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Trial, b.Trial))
	})
	var t Timeline
	if len(spans) == 0 {
		t.Lanes = []Lane{}
		return t
	}
	end := func(s Span) time.Time {
		if s.Finished.IsZero() {
			return now
		}
		return s.Finished
	}
	t.Start, t.End = spans[0].Started, end(spans[0])
	for _, s := range spans {
		if e := end(s); e.After(t.End) {
			t.End = e
		}
		k := slices.IndexFunc(t.Lanes, func(l Lane) bool {
			return l.Worker == s.Worker && !end(l.Spans[len(l.Spans)-1]).After(s.Started)
		})
		if k < 0 {
			k, t.Lanes = len(t.Lanes), append(t.Lanes, Lane{Worker: s.Worker})
		}
		t.Lanes[k].Spans = append(t.Lanes[k].Spans, s)
	}
	total := t.End.Sub(t.Start).Seconds()
	for k := range t.Lanes {
		l := &t.Lanes[k]
		for _, s := range l.Spans {
			l.Busy += max(0, end(s).Sub(s.Started).Seconds())
		}
		if l.Busy /= total; !(total > 0) {
			l.Busy = 1
		}
		t.Busy += l.Busy / float64(len(t.Lanes))
	}
	return t
}
