package loop

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// snapshot is the state of a study at one moment: all that its next suggestion
// depends on besides the options.
type snapshot struct {
	records []record
	queue   []space.Point
	warm    surrogate.State
}

// snapshot copies the state. The caller holds s.mu.
func (s *Study) snapshot() snapshot {
	return snapshot{slices.Clone(s.records), slices.Clone(s.queue), s.warm}
}

// next is the ID of the next trial: the index of its random streams.
func (t *snapshot) next() int { return len(t.records) + 1 }

// seen returns the keys of all points asked, added or queued.
func (t *snapshot) seen() map[string]bool {
	seen := make(map[string]bool, len(t.records)+len(t.queue))
	for i := range t.records {
		seen[t.records[i].key()] = true
	}
	for _, p := range t.queue {
		seen[p.Key()] = true
	}
	return seen
}

// count returns the number of trials in a state.
func (t *snapshot) count(state State) int {
	n := 0
	for i := range t.records {
		if t.records[i].State == state {
			n++
		}
	}
	return n
}

// points returns the encoded points of the trials that keep selects, a row
// each; nil if there are none.
func (t *snapshot) points(keep func(State) bool) *mat.Dense {
	var rows []float64
	n := 0
	for i := range t.records {
		if r := &t.records[i]; keep(r.State) {
			rows = append(rows, r.x...)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return mat.NewDense(n, len(rows)/n, rows)
}
