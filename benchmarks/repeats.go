package benchmarks

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/functionspace/bo/internal/random"
)

// repeats assigns the k-th evaluation at a point the random stream of (seed, label,
// point, k), independent of evaluations at other points.
type repeats struct {
	seed  uint64
	label string
	mu    sync.Mutex
	count map[string]int
}

func newRepeats(seed uint64, label string) *repeats {
	return &repeats{seed: seed, label: label, count: map[string]int{}}
}

func (r *repeats) next(x []float64) *rand.Rand {
	b := []byte(r.label)
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	key := string(b)
	r.mu.Lock()
	k := r.count[key]
	r.count[key]++
	r.mu.Unlock()
	return random.New(r.seed, key, k)
}
