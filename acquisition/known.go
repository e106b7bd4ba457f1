package acquisition

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/space"
)

// known is the set of evaluated and pending points.
type known struct {
	evaluated, pending [][]float64
	size               int // number of points of a finite domain; 0 if infinite
	distinct           map[string]bool
}

// same is the largest difference, in any coordinate, between equal points.
const same = 1e-9

// newKnown returns the known points of p.
func newKnown(p Problem, dom Domain) *known {
	k := &known{distinct: map[string]bool{}}
	if n, finite := dom.Size(); finite {
		k.size = n
	}
	for i := range rowCount(p.Observed) {
		k.evaluated = append(k.evaluated, p.Observed.RawRowView(i))
	}
	for i := range rowCount(p.Failed) {
		k.evaluated = append(k.evaluated, p.Failed.RawRowView(i))
	}
	for i := range rowCount(p.Pending) {
		k.pending = append(k.pending, p.Pending.RawRowView(i))
	}
	for _, x := range slices.Concat(k.evaluated, k.pending) {
		k.distinct[projectedKey(dom, x)] = true
	}
	return k
}

// projectedKey returns the key of the point of dom nearest to x.
func projectedKey(dom Domain, x []float64) string {
	u := slices.Clone(x)
	dom.Project(u)
	return key(u)
}

// add adds a pending point of the domain.
func (k *known) add(x []float64) {
	k.pending = append(k.pending, x)
	k.distinct[key(x)] = true
}

// exhausted reports whether all points of a finite domain are known.
func (k *known) exhausted() bool { return k.size > 0 && len(k.distinct) >= k.size }

// reject returns the test for points that are not suggested: the known points or, if all
// points are known, the pending points.
func (k *known) reject() func(x []float64) bool {
	points := k.pending
	if !k.exhausted() {
		points = slices.Concat(k.evaluated, k.pending)
	}
	return func(x []float64) bool {
		return slices.ContainsFunc(points, func(y []float64) bool { return equal(x, y) })
	}
}

// equal reports whether x and y differ by at most same in every coordinate.
func equal(x, y []float64) bool {
	for i, v := range x {
		if math.Abs(v-y[i]) > same {
			return false
		}
	}
	return true
}

// farthest returns the point with the largest distance to the known points. It compares all
// points of a small finite dom, else points that cover dom.
func (k *known) farthest(dom Domain, reject func([]float64) bool, rng *rand.Rand) []float64 {
	const tries = 512
	candidates := space.Sobol(tries, dom.Dim(), rng)
	if all := enumerate(dom, candidates.RawRowView(0)); all != nil {
		candidates = all
	} else if r := restricted(dom); r != nil {
		candidates = r.Sample(tries, rng)
	}
	points := slices.Concat(k.evaluated, k.pending)
	var best []float64
	far := math.Inf(-1)
	for i := range rowCount(candidates) {
		x := candidates.RawRowView(i)
		dom.Project(x)
		gap := math.Inf(1)
		for _, y := range points {
			var r2 float64
			for j, v := range x {
				r2 += (v - y[j]) * (v - y[j])
			}
			gap = min(gap, r2)
		}
		if reject(x) {
			gap = -1
		}
		if gap > far {
			best, far = x, gap
		}
	}
	return best
}

// unknown returns a point of dom that is not rejected, nil if it finds none. It first
// changes discrete parameters of x, nearest values first, and then draws at random.
func unknown(dom Domain, x []float64, reject func([]float64) bool, rng *rand.Rand) []float64 {
	const tries = 4096
	var found []float64
	walk(dom, x, tries, func(u []float64) bool {
		if !reject(u) {
			found = u
		}
		return found == nil
	})
	if found != nil {
		return found
	}
	if r := restricted(dom); r != nil {
		return unknownIn(r, reject, rng)
	}
	if _, finite := dom.Size(); finite {
		return nil
	}
	u := make([]float64, len(x))
	for range tries {
		for j := range u {
			u[j] = rng.Float64()
		}
		if dom.Project(u); !reject(u) {
			return u
		}
	}
	return nil
}

// maxListed is the largest number of points of a restricted domain that are searched for one
// that is not rejected.
const maxListed = 1 << 16

// unknownIn returns a point of a restricted domain that is not rejected, nil if it finds none.
func unknownIn(dom Restricted, reject func([]float64) bool, rng *rand.Rand) []float64 {
	const tries = 4096
	candidates := dom.List(maxListed)
	if candidates == nil {
		candidates = dom.Sample(tries, rng)
	}
	n := rowCount(candidates)
	first := rng.IntN(n)
	for i := range n {
		if u := candidates.RawRowView((first + i) % n); !reject(u) {
			return u
		}
	}
	return nil
}
