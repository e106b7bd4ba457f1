package acquisition

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Domain is the set of candidates: points of the unit cube. Some of their coordinates
// may encode discrete parameters. A *space.Space is a Domain.
type Domain interface {
	// Dim returns the number of coordinates.
	Dim() int
	// Discrete reports whether any coordinate is not continuous.
	Discrete() bool
	// Free reports for each coordinate whether it is continuous.
	Free() []bool
	// Project moves u to the nearest point of the domain.
	Project(u []float64)
	// Neighbors returns points that differ from the projected u in one discrete
	// parameter, or in two that a constraint ties together, a row each; nil if there are none.
	// Without constraints, repeated moves to neighbours reach all combinations of discrete values.
	Neighbors(u []float64) *mat.Dense
	// Size returns the number of points, if that is finite.
	Size() (n int, finite bool)
}

// Restricted is a Domain with coordinates that are inactive at some points, or with points of
// the cube that are not feasible. Maximize and Suggest return feasible points of it. A
// *space.Space is Restricted.
type Restricted interface {
	Domain
	// Restricted reports whether a coordinate may be inactive or a point infeasible. If not, the
	// methods below are not needed.
	Restricted() bool
	// FreeAt reports for each coordinate whether it is continuous and active at u.
	FreeAt(u []float64) []bool
	// Feasible reports whether the point at the projected u is feasible.
	Feasible(u []float64) bool
	// Sample returns n feasible points, a row each.
	Sample(n int, rng *rand.Rand) *mat.Dense
	// List returns all feasible points, a row each; nil if there are more than most or if
	// they are not known.
	List(most int) *mat.Dense
}

// restricted returns dom as a Restricted, nil if it is not restricted.
func restricted(dom Domain) Restricted {
	if r, ok := dom.(Restricted); ok && r.Restricted() {
		return r
	}
	return nil
}

// feasible reports whether the projected u is a feasible point.
func feasible(dom Domain, u []float64) bool {
	r := restricted(dom)
	return r == nil || r.Feasible(u)
}

// power is the domain of batches of q points of a base domain.
type power struct {
	base Domain
	q    int
}

func (p power) Dim() int       { return p.q * p.base.Dim() }
func (p power) Discrete() bool { return p.base.Discrete() }
func (p power) Free() []bool   { return slices.Repeat(p.base.Free(), p.q) }

// point returns the k-th point of the batch u.
func (p power) point(u []float64, k int) []float64 {
	d := p.base.Dim()
	return u[k*d : (k+1)*d]
}

func (p power) Project(u []float64) {
	for k := range p.q {
		p.base.Project(p.point(u, k))
	}
}

func (p power) Neighbors(u []float64) *mat.Dense {
	var data []float64
	at := slices.Clone(u)
	p.Project(at)
	n := 0
	for k := range p.q {
		near := p.base.Neighbors(p.point(u, k))
		for i := range rowCount(near) {
			data = append(data, at...)
			copy(p.point(data[n*len(u):], k), near.RawRowView(i))
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return mat.NewDense(n, len(u), data)
}

// Restricted reports whether the base is restricted.
func (p power) Restricted() bool { return restricted(p.base) != nil }

// FreeAt returns the base's FreeAt of each point of the batch, one after another.
func (p power) FreeAt(u []float64) []bool {
	var free []bool
	for k := range p.q {
		free = append(free, restricted(p.base).FreeAt(p.point(u, k))...)
	}
	return free
}

// Feasible reports whether all points of the batch are feasible.
func (p power) Feasible(u []float64) bool {
	for k := range p.q {
		if !feasible(p.base, p.point(u, k)) {
			return false
		}
	}
	return true
}

// Bounds returns the base's box of each point of the batch.
func (p power) Bounds() (lo, hi []float64) {
	lo, hi = bounds(p.base)
	return slices.Repeat(lo, p.q), slices.Repeat(hi, p.q)
}

// Sample returns batches of independent points.
func (p power) Sample(n int, rng *rand.Rand) *mat.Dense {
	return mat.NewDense(n, p.Dim(), restricted(p.base).Sample(n*p.q, rng).RawMatrix().Data)
}

// List returns nil: the batches are not listed.
func (p power) List(int) *mat.Dense { return nil }

func (p power) Size() (int, bool) {
	base, finite := p.base.Size()
	n := 1
	for range p.q {
		if !finite || base > math.MaxInt/max(n, 1) {
			return math.MaxInt, finite
		}
		n *= base
	}
	return n, finite
}

// maxEnumerate is the largest size of a finite domain that is searched exhaustively.
const maxEnumerate = 4096

// enumerate returns all points of a finite domain, a row each; nil if there are more than maxEnumerate. They are in
// the order of walk from u, or of Restricted.List.
func enumerate(dom Domain, u []float64) *mat.Dense {
	if r := restricted(dom); r != nil {
		return r.List(maxEnumerate)
	}
	n, finite := dom.Size()
	if !finite || n > maxEnumerate {
		return nil
	}
	var found []float64
	walk(dom, u, n, func(x []float64) bool {
		found = append(found, x...)
		return true
	})
	return mat.NewDense(len(found)/len(u), len(u), found)
}

// walk visits the projected u and points that differ from it in discrete parameters, in breadth-first order. It
// ends when it has visited most points or visit returns false. As soon as it has found most points, it needs no
// more neighbours: a parameter of n categories has n-1 at each point.
func walk(dom Domain, u []float64, most int, visit func(x []float64) bool) {
	first := slices.Clone(u)
	dom.Project(first)
	seen := map[string]bool{key(first): true}
	var k []byte
	queue := [][]float64{first}
	for at := 0; at < min(len(queue), most) && visit(queue[at]); at++ {
		if len(queue) >= most {
			continue
		}
		near := dom.Neighbors(queue[at])
		for i := range rowCount(near) {
			x := near.RawRowView(i)
			if k = appendKey(k[:0], x); !seen[string(k)] { // this conversion allocates nothing
				seen[string(k)] = true
				queue = append(queue, x)
			}
		}
	}
}

// key returns a string that is equal for equal points.
func key(x []float64) string { return string(appendKey(make([]byte, 0, 8*len(x)), x)) }

func appendKey(b []byte, x []float64) []byte {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v+0)) // -0 is 0
	}
	return b
}

// unitCube returns the bounds of the unit cube of dimension d.
func unitCube(d int) (lo, hi []float64) {
	return make([]float64, d), slices.Repeat([]float64{1}, d)
}
