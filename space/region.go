package space

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// Bounds of the enumeration of a restricted space and of the search for feasible points.
const (
	maxListed  = 1 << 16 // points of a list
	maxVisited = 1 << 20 // partial points that an enumeration visits
	maxSeeds   = 64      // feasible points that a search keeps
	fewSeeds   = 16      // feasible points that stand for all
	fewDraws   = 1 << 12 // uniform points, before other methods
	fewListed  = 1 << 14 // combinations of values that are enumerated before descents
	manyDraws  = 1 << 17 // uniform points, after other methods
	repairs    = 256     // starts of the descent of violations
	descent    = 300     // moves of a descent
	walkSteps  = 30      // moves of a random walk between two samples
)

// region holds points of a restricted space, computed when they are needed.
type region struct {
	listing sync.Once
	listed  bool
	points  [][]float64 // codes of all points, if listed

	seeding    sync.Once
	seeds      [][]float64 // codes of feasible points; empty if none is found
	share      float64     // of uniform points that are feasible, estimated
	whole      bool        // seeds come from an enumeration: without seeds there are no points
	repairable bool        // descents find feasible points where uniform points are too rare
}

// list enumerates the points and reports whether it found all.
func (s *Space) list() bool {
	r := s.region
	r.listing.Do(func() {
		e := enumeration{s: s, order: s.activation.order, point: Point{space: s, codes: make([]float64, len(s.params))}}
		if e.order == nil {
			e.order = identity(len(s.params))
		}
		e.last = make([][]int, len(e.order))
		rank := make([]int, len(e.order))
		for k, i := range e.order {
			rank[i] = k
		}
		for k := range s.constraints {
			last := 0
			for _, i := range s.on[k] {
				last = max(last, rank[i])
			}
			e.last[last] = append(e.last[last], k)
		}
		if r.listed = e.visit(0); r.listed {
			r.points = e.found
		}
	})
	return r.listed
}

// enumeration is a depth-first search over the values of the parameters in an order. It
// leaves a branch as soon as a constraint is violated.
type enumeration struct {
	s       *Space
	order   []int
	last    [][]int // constraints to check after each parameter of the order
	point   Point
	found   [][]float64
	visited int
}

// visit extends the point by the parameters from rank on. It returns false at a bound.
func (e *enumeration) visit(rank int) bool {
	if rank == len(e.order) {
		e.found = append(e.found, slices.Clone(e.point.codes))
		return len(e.found) <= maxListed
	}
	i := e.order[rank]
	q := &e.s.params[i]
	n := q.count()
	if !e.s.active(e.point, i) {
		n = 1
	} else if n == 0 || n > maxVisited { // 0 is 2^64
		return false
	}
	for k := range n {
		if e.visited++; e.visited > maxVisited {
			return false
		}
		e.point.codes[i] = absent
		if e.s.active(e.point, i) {
			e.point.codes[i] = q.nth(k)
		}
		feasible := true
		for _, c := range e.last[rank] {
			feasible = feasible && e.s.holds(e.point, c)
		}
		if feasible && !e.visit(rank+1) {
			return false
		}
	}
	return true
}

// seeds returns feasible points of a space with constraints: uniform ones if these are
// frequent, else ends of descents of the violation or points of the enumeration. It depends
// on the space alone. The enumeration takes up to 0.1 s, so descents come first unless the
// combinations of values are few.
func (s *Space) seeds() [][]float64 {
	r := s.region
	r.seeding.Do(func() {
		rng := rand.New(rand.NewPCG(0x5eed, 0))
		r.share = s.draw(rng, fewDraws)
		if len(r.seeds) < fewSeeds && !(s.combinations() <= fewListed && s.list()) {
			uniform := len(r.seeds)
			for range repairs {
				if p := s.random(rng); s.repair(p, rng) {
					r.seeds = append(r.seeds, p.codes)
				}
				if len(r.seeds) >= fewSeeds {
					break
				}
			}
			r.repairable = len(r.seeds) > uniform
		}
		switch {
		case len(r.seeds) >= fewSeeds:
		case s.list():
			r.whole, r.seeds = true, nil
			for _, k := range rng.Perm(len(r.points))[:min(maxSeeds, len(r.points))] {
				r.seeds = append(r.seeds, r.points[k])
			}
		case len(r.seeds) == 0:
			r.share = s.draw(rng, manyDraws)
		}
	})
	return r.seeds
}

// draw adds feasible uniform points to the seeds, from at most n points. It returns their
// share.
func (s *Space) draw(rng *rand.Rand, n int) float64 {
	for drawn := 1; drawn <= n; drawn++ {
		if p := s.random(rng); s.feasible(p) {
			s.region.seeds = append(s.region.seeds, p.codes)
			if len(s.region.seeds) == maxSeeds {
				return maxSeeds / float64(drawn)
			}
		}
	}
	return float64(len(s.region.seeds)) / float64(n)
}

// noSeeds is the fault of a space in which no feasible point is found.
func (s *Space) noSeeds() error {
	var texts []string
	for k := range s.constraints {
		texts = append(texts, fmt.Sprintf("%q", s.constraints[k].Text))
	}
	list := strings.Join(texts, ", ")
	if s.region.whole {
		return &Fault{Index: -1, Key: "constraints", Item: -1, Err: fmt.Errorf("constraints: no point of the space satisfies %s", list)}
	}
	err := fmt.Errorf("constraints: a search of %d points finds none that satisfies %s", fewDraws+repairs*descent+manyDraws, list)
	for k := range s.constraints {
		if strings.Contains(s.constraints[k].Text, "==") && slices.ContainsFunc(s.on[k], func(i int) bool { return s.params[i].continuous() }) {
			err = errors.Join(err, errors.New("almost no floats satisfy an equality: give the parameters a step (step: 0.01), or drop one of them, write a bound such as xA + xB <= 1, and compute it in the program"))
			err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
			break
		}
	}
	return &Fault{Index: -1, Key: "constraints", Item: -1, Err: err}
}

// random returns the point that a uniform random point of the cube encodes.
func (s *Space) random(rng *rand.Rand) Point {
	u := make([]float64, s.dim)
	for i := range u {
		u[i] = rng.Float64()
	}
	return s.Decode(u)
}

// violation returns the sum over the constraints of log(1 + excess), 0 at feasible points.
func (s *Space) violation(p Point) float64 {
	var sum float64
	for k := range s.constraints {
		if s.holds(p, k) {
			continue
		}
		excess := 1.0
		if f := s.constraints[k].Excess; f != nil {
			if e := f(p); e > 0 { // false for NaN
				excess = min(e, math.MaxFloat64)
			}
		}
		sum += math.Log1p(excess)
	}
	return sum
}

// repair changes p by random moves that do not raise the violation, and reports whether p is
// feasible at the end. The codes of p change in place.
func (s *Space) repair(p Point, rng *rand.Rand) bool {
	at := s.violation(p)
	for range descent {
		if at == 0 {
			return true
		}
		q := s.move(p, rng)
		if v := s.violation(q); v <= at {
			copy(p.codes, q.codes)
			at = v
		}
	}
	return at == 0
}

// move returns a random neighbour of p: one or two active parameters change, by a uniform
// value or by a step whose length is uniform in its logarithm. The move back has the same
// probability.
func (s *Space) move(p Point, rng *rand.Rand) Point {
	q := Point{space: s, codes: slices.Clone(p.codes)}
	u := make([]float64, s.dim)
	for range 1 + rng.IntN(2) {
		i := rng.IntN(len(s.params))
		par := &s.params[i]
		if inactive(q.codes[i]) || par.Kind == KindFixed || par.pin != nil {
			continue
		}
		cols := s.columns(u, i)
		if rng.IntN(2) == 0 || len(cols) > 1 {
			for j := range cols {
				cols[j] = rng.Float64()
			}
		} else {
			par.encode(cols, q.codes[i])
			length := math.Pow(10, -4*rng.Float64())
			if par.discrete() {
				length = max(length, 1/float64(par.levels()))
			}
			cols[0] += length * (2*rng.Float64() - 1)
			if cols[0] < 0 || cols[0] > 1 {
				continue
			}
		}
		q.codes[i] = par.decode(cols)
	}
	for i := range s.params { // parameters that become active have uniform values
		if inactive(q.codes[i]) {
			cols := s.columns(u, i)
			for j := range cols {
				cols[j] = rng.Float64()
			}
			q.codes[i] = s.params[i].decode(cols)
		}
	}
	s.deactivate(q)
	return q
}

// restore visits encoded feasible points that differ from the projected u in one discrete number that is not
// kept. The value of the number is a root of the excess of the first constraint that u violates. The excess
// must be the absolute value of a function that is linear in the index of the value, as in mixtures. restore
// visits none if u decodes to a feasible point, by rounding.
func (s *Space) restore(u []float64, kept func(i int) bool, visit func(u []float64)) {
	p, k := s.Decode(u), 0
	for k < len(s.constraints) && s.holds(p, k) {
		k++
	}
	if k == len(s.constraints) || s.constraints[k].Excess == nil {
		return
	}
	excess := func(p Point) float64 {
		if slices.ContainsFunc(s.on[k], func(i int) bool { return inactive(p.codes[i]) }) {
			return math.NaN()
		}
		return s.constraints[k].Excess(p)
	}
	was := excess(p)
	for _, j := range s.on[k] {
		q := &s.params[j]
		if kept(j) || q.pin != nil || !q.discrete() || q.Kind == KindCategorical || q.Kind == KindBool {
			continue
		}
		to := func(index float64) []float64 {
			moved := slices.Clone(u)
			q.encode(s.columns(moved, j), q.level(index))
			s.Project(moved)
			return moved
		}
		at, last, step := q.index(p.codes[j]), float64(q.levels()-1), 1.0
		if at == last {
			step = -1
		}
		is, tried := excess(s.Decode(to(at+step))), at
		for _, slope := range []float64{was - is, was + is} { // the sign of the function may change in a step
			index := at + step*math.Round(was/slope)
			if index == tried || !(0 <= index && index <= last) {
				continue
			}
			tried = index
			if moved := to(index); s.Feasible(moved) {
				visit(moved)
			}
		}
	}
}

// step returns a feasible point after a random move of the feasible p: the moved point, else one of its restored points,
// else the end of a descent from it, else p.
func (s *Space) step(p Point, rng *rand.Rand) Point {
	q := s.move(p, rng)
	if s.feasible(q) {
		return q
	}
	n := 0
	s.restore(s.Encode(q), func(int) bool { return false }, func(u []float64) {
		if n++; rng.IntN(n) == 0 {
			p = s.Decode(u)
		}
	})
	if n == 0 && s.region.repairable && s.repair(q, rng) {
		return q
	}
	return p
}

// List returns all encoded points, a row each, if s is Listed and has at most most points;
// else nil.
func (s *Space) List(most int) *mat.Dense {
	if !s.Listed() || s.Count() > most {
		return nil
	}
	x := mat.NewDense(s.Count(), s.dim, nil)
	for i := range s.Count() {
		x.SetRow(i, s.Encode(s.At(i)))
	}
	return x
}

// Sample returns n ≥ 1 encoded points of the space, a row each. Unless constraints are hard
// to satisfy, they are independent and uniform; else they are states of random walks among
// the feasible points, and may repeat.
func (s *Space) Sample(n int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, s.dim, nil)
	set := func(k int, p Point) { x.SetRow(k, s.Encode(p)) }
	if len(s.constraints) == 0 {
		for k := range n {
			set(k, s.random(rng))
		}
		return x
	}
	seeds, k := s.seeds(), 0
	const easy = 1.0 / 64
	if s.region.share >= easy {
		for range int(4 * float64(n) / s.region.share) {
			if p := s.random(rng); k < n && s.feasible(p) {
				set(k, p)
				k++
			}
		}
	} else if s.list() {
		for ; k < n; k++ {
			set(k, s.At(rng.IntN(s.Count())))
		}
	}
	for ; k < n; k++ {
		p := Point{space: s, codes: slices.Clone(seeds[rng.IntN(len(seeds))])}
		for range walkSteps {
			p = s.step(p, rng)
		}
		set(k, p)
	}
	return x
}
