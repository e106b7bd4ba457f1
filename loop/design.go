package loop

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// InitialDesign is a method that spreads the initial trials over the space.
type InitialDesign string

// The initial designs.
const (
	Sobol          InitialDesign = "sobol"   // scrambled Sobol' sequence
	Halton         InitialDesign = "halton"  // scrambled Halton sequence
	LatinHypercube InitialDesign = "lhs"     // Latin hypercube sample
	Uniform        InitialDesign = "uniform" // independent uniform points
)

// designs return n points of the unit cube, a row each.
var designs = map[InitialDesign]func(n, dim int, rng *rand.Rand) *mat.Dense{
	Sobol:          space.Sobol,
	Halton:         space.Halton,
	LatinHypercube: space.LatinHypercube,
	Uniform:        space.Uniform,
}

// design returns the next k points of the design that are not in seen, and adds
// them to seen. Blocks of Options.Initial points follow one another, each
// randomised by its own stream, so the result depends on seen alone. If the space
// has fewer than k points left, points repeat.
func (t *task) design(k, trial int, seen map[string]bool) []space.Point {
	out := make([]space.Point, 0, k)
	take := func(p space.Point) {
		if key := p.Key(); len(out) < k && !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	// Each point in seen may equal one of a block, and blocks may miss the last
	// points of a finite space.
	blocks := len(seen)/t.opts.Initial + k/t.opts.Initial + 8
	for b := 0; b < blocks && len(out) < k; b++ {
		t.eachOfBlock("design", b, take)
	}
	for len(out) < k && t.unseen(seen) > 0 {
		take(t.firstUnseen(trial, seen))
	}
	for b := 0; len(out) < k; b++ {
		t.eachOfBlock("repeat", trial+b, func(p space.Point) {
			if len(out) < k {
				out = append(out, p)
			}
		})
	}
	return out
}

// eachOfBlock visits the points of one block of the design.
func (t *task) eachOfBlock(label string, index int, visit func(space.Point)) {
	block := designs[t.opts.Design](t.opts.Initial, t.space.Dim(), random.New(t.opts.Seed, label, index))
	for i := range t.opts.Initial {
		visit(t.space.Decode(block.RawRowView(i)))
	}
}

// firstUnseen returns a point of the space that is not in seen: the first one in
// lexicographic order from a random start. There must be one. It visits at most
// len(seen)+1 points.
func (t *task) firstUnseen(trial int, seen map[string]bool) space.Point {
	i := random.New(t.opts.Seed, "unseen", trial).IntN(t.size)
	for {
		if p := pointAt(t.space, i); !seen[p.Key()] {
			return p
		}
		i = (i + 1) % t.size
	}
}

// points returns the number of points of s, at most math.MaxInt. Unlike
// space.Space.Size it counts the float64 numbers of a float parameter: bounds that
// are a few units in the last place apart leave few points.
func points(s *space.Space) int {
	total := uint64(1)
	for _, p := range s.Parameters() {
		high, low := bits.Mul64(total, levels(p))
		if total = low; high > 0 || low > math.MaxInt {
			return math.MaxInt
		}
	}
	return int(total)
}

// levels returns the number of values of p.
func levels(p space.Parameter) uint64 {
	switch p.Kind {
	case space.KindFloat:
		return uint64(order(p.Max)-order(p.Min)) + 1 // correct modulo 2^64 if the difference overflows
	case space.KindInt:
		return uint64(p.Max-p.Min) + 1
	case space.KindFixed:
		return 1
	default:
		return uint64(len(p.Values))
	}
}

// order numbers the finite float64 in ascending order: 0 is 0, and the number
// after x has order(x)+1.
func order(x float64) int64 {
	n := int64(math.Float64bits(math.Abs(x)))
	if x < 0 {
		return -n
	}
	return n
}

// unorder is the inverse of order.
func unorder(n int64) float64 {
	if n < 0 {
		return -math.Float64frombits(uint64(-n))
	}
	return math.Float64frombits(uint64(n))
}

// pointAt returns the point of s whose parameters are the digits of index, the
// last parameter running fastest. Distinct indices below points(s) give distinct
// points.
func pointAt(s *space.Space, index int) space.Point {
	params, i := s.Parameters(), uint64(index)
	values := make(map[string]any, len(params))
	for _, p := range slices.Backward(params) {
		n := levels(p)
		digit := i % n
		i /= n
		switch p.Kind {
		case space.KindFloat:
			values[p.Name] = unorder(order(p.Min) + int64(digit))
		case space.KindInt:
			values[p.Name] = p.Min + float64(digit)
		case space.KindFixed:
			values[p.Name] = p.Value
		default:
			values[p.Name] = p.Values[digit]
		}
	}
	p, err := s.PointOf(values)
	if err != nil {
		panic("loop: " + err.Error())
	}
	return p
}
