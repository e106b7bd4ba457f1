package benchmarks

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/functionspace/bo/internal/random"
)

// repeats gives the k-th evaluation at a point a random stream of (seed, label,
// point, k): the same numbers whatever other points are evaluated before it or at the same
// time.
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
