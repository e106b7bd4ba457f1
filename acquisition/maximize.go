package acquisition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/space"
)

// MaximizeOptions configures Maximize. From the second point of a batch on, Suggest uses
// smaller numbers.
type MaximizeOptions struct {
	// Raw is the number of points of a scrambled Sobol sequence that are evaluated
	// first. 0 means 1024.
	Raw int `json:"raw" set:"raw" default:"1024" range:"[1,100000]" help:"points of a scrambled Sobol sequence evaluated first"`
	// Starts is the number of gradient ascents. 0 means 20.
	Starts int `json:"starts" set:"starts" default:"20" range:"[1,100000]" help:"gradient ascents"`
	// Iterations is the largest number of iterations of an ascent. 0 means 200.
	Iterations int `json:"iterations" set:"iterations" default:"200" range:"[1,100000]" help:"most iterations of an ascent"`
}

const (
	chunk     = 256 // candidates per call, so that cancellation is prompt
	polished  = 4   // discrete points from which neighbours are searched
	maxPolish = 64  // rounds of the search of neighbours

	manyNeighbors = 100 // of a point, above which their values are kept
)

// Maximize returns the best point of dom that it finds for f, and its value.
//
// It evaluates f at o.Raw points of a scrambled Sobol sequence and at the rows of
// starts. Bounded L-BFGS then ascends from o.Starts of these points. All ascents advance
// together, with one call of f per round. The result is the best of all points of dom at
// which f was evaluated.
//
// If dom has discrete parameters, the ascents treat them as continuous and their ends are
// projected. From the best projections, moves to better neighbours alternate with ascents
// in the continuous coordinates until neither improves the value. If three quarters of starts are infeasible, as
// copies of a mixture with noise are, these moves also begin at the first row of starts. A finite domain of up to
// 4096 points is searched exhaustively instead.
//
// The result depends only on the arguments and the state of rng. If f is flat, the error
// wraps ErrFlat and x is a point of dom. If no evaluated point of dom is feasible, the error wraps ErrProblem
// and x is nil. On cancellation the error comes from the
// context, and x is the best point so far or nil.
func Maximize(ctx context.Context, f Function, dom Domain, starts *mat.Dense, o MaximizeOptions, rng *rand.Rand) (x []float64, value float64, err error) {
	c, err := newClimb(f, dom, o)
	if err != nil {
		return nil, 0, err
	}
	return c.maximize(ctx, starts, rng, func([]float64) bool { return false })
}

// climb is one run of Maximize.
type climb struct {
	f   Function
	dom Domain
	o   MaximizeOptions

	rng    *rand.Rand // source of the search along the border of a restricted domain
	before *mat.Dense // ends of a climb for a similar function; nil for none. With them c is brief; see follow
	ends   *mat.Dense // ends of this climb's ascents

	met []visited // evaluated points of dom

	values map[string]float64 // at points with many neighbours, by key
}

// newClimb returns an error that wraps ErrProblem for bad options or an empty dom.
func newClimb(f Function, dom Domain, o MaximizeOptions) (*climb, error) {
	if f.Dim() != dom.Dim() {
		panic(fmt.Sprintf("acquisition: function of %d coordinates, domain of %d", f.Dim(), dom.Dim()))
	}
	if dom.Dim() == 0 {
		return nil, fmt.Errorf("%w: the domain has no coordinates", ErrProblem)
	}
	o, err := settings.Resolve("maximizer", o)
	return &climb{f: f, dom: dom, o: o}, err
}

// A brief climb follows a climb for a similar function. It evaluates a sixteenth of the raw points. It ascends from the best
// of them and from the best end of earlier ascents, until an iteration gains less than briefTolerance. Its ends are
// the best briefEnds of its own and of earlier ones, so that no maximum is forgotten.
const (
	briefIterations = 12
	briefTolerance  = 1e-3
	briefEnds       = 32
)

// follow makes c brief. before has the ends of an earlier climb.
func (c *climb) follow(before *mat.Dense) {
	c.before = before
	c.o = MaximizeOptions{Raw: max(1, c.o.Raw/16), Starts: 1, Iterations: min(c.o.Iterations, briefIterations)}
}

// maximize is Maximize over the points that skip does not reject. If skip rejects all
// evaluated points, it returns the best of them.
func (c *climb) maximize(ctx context.Context, starts *mat.Dense, rng *rand.Rand, skip func([]float64) bool) ([]float64, float64, error) {
	err := c.run(ctx, starts, rng)
	if errors.Is(err, ErrFlat) {
		if len(c.met) == 0 {
			return nil, 0, fmt.Errorf("%w: the search of the domain finds no feasible point", ErrProblem)
		}
		at := c.met[0]
		return at.x, at.value, err
	}
	x, value := c.best(skip)
	return x, value, err
}

// visited is an evaluated point of the domain.
type visited struct {
	x     []float64
	value float64
}

// compare orders numbers, NaN last.
func compare(a, b float64) int {
	if math.IsNaN(a) || math.IsNaN(b) {
		return cmp.Compare(btoi(math.IsNaN(a)), btoi(math.IsNaN(b)))
	}
	return cmp.Compare(a, b)
}

// btoi returns 1 for true and 0 for false.
func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// best returns the best evaluated point that skip does not reject, or the best of all
// if skip rejects all. Of equal points it returns the first.
func (c *climb) best(skip func([]float64) bool) ([]float64, float64) {
	better := func(i, than int) bool { return than < 0 || compare(-c.met[i].value, -c.met[than].value) < 0 }
	all, kept := -1, -1
	for i := range c.met {
		if better(i, all) {
			all = i
		}
		if better(i, kept) && !skip(c.met[i].x) {
			kept = i
		}
	}
	switch {
	case kept >= 0:
		return c.met[kept].x, c.met[kept].value
	case all >= 0:
		return c.met[all].x, c.met[all].value
	}
	return nil, math.Inf(-1)
}

// eval evaluates f at the rows of x, which are points of dom, and records the feasible ones. The value of an
// infeasible row is NaN, and +Inf becomes NaN.
func (c *climb) eval(ctx context.Context, x *mat.Dense) ([]visited, error) {
	n := rowCount(x)
	value, found := make([]float64, min(n, chunk)), make([]visited, 0, n)
	for lo := 0; lo < n; lo += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+chunk, n)
		c.f.Eval(value[:hi-lo], nil, rows(x, lo, hi))
		for i, v := range value[:hi-lo] {
			at := visited{x.RawRowView(lo + i), v}
			ok := feasible(c.dom, at.x)
			if !ok || math.IsInf(v, 1) {
				at.value = math.NaN()
			}
			if found = append(found, at); ok {
				c.met = append(c.met, at)
			}
		}
	}
	return found, nil
}

// evalProjected projects the rows of x in place and evaluates f at the projections.
func (c *climb) evalProjected(ctx context.Context, x *mat.Dense) ([]visited, error) {
	for i := range rowCount(x) {
		c.dom.Project(x.RawRowView(i))
	}
	return c.eval(ctx, x)
}

// run evaluates raw points and the given starts, and ascends from the best, and from the best of the ends of an
// earlier climb.
func (c *climb) run(ctx context.Context, starts *mat.Dense, rng *rand.Rand) error {
	d := c.dom.Dim()
	raw := space.Sobol(c.o.Raw, d, random.Split(rng, "raw", 0))
	if restricted(c.dom) != nil {
		c.rng = random.Split(rng, "border", 0)
	}
	if all := enumerate(c.dom, raw.RawRowView(0)); all != nil {
		found, err := c.eval(ctx, all)
		if err == nil && flat(found) {
			err = ErrFlat
		}
		return err
	}
	if err := c.replaceInfeasible(ctx, raw); err != nil {
		return err
	}
	var before []visited
	if c.before != nil {
		var err error
		if before, err = c.eval(ctx, c.before); err != nil {
			return err
		}
	}
	found, err := c.evalProjected(ctx, stack(raw, starts))
	if err != nil {
		return err
	}
	again := apart(before, 1)
	if flat(slices.Concat(found, again)) {
		return ErrFlat
	}
	n := c.o.Raw
	chosen := slices.Concat(choose(found[:n], found[n:], c.o.Starts, random.Split(rng, "starts", 0)), again)
	lo, hi := bounds(c.dom)
	ends, err := c.ascend(ctx, chosen, lo, hi)
	if err != nil {
		return err
	}
	if c.dom.Discrete() || restricted(c.dom) != nil {
		more, err := c.polishBest(ctx, slices.Concat(ends, chosen), found[n:])
		if err != nil {
			return err
		}
		ends = append(ends, more...)
	}
	if kept := apart(slices.Concat(ends, before), briefEnds); c.before != nil && len(kept) > 0 {
		ends = kept
	}
	c.ends = points(ends)
	return nil
}

// points returns the points of vs, a row each.
func points(vs []visited) *mat.Dense {
	x := mat.NewDense(len(vs), len(vs[0].x), nil)
	for i, v := range vs {
		x.SetRow(i, v.x)
	}
	return x
}

// flat reports whether there are fewer than two distinct finite values.
func flat(found []visited) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range found {
		if !math.IsNaN(v.value) && !math.IsInf(v.value, 0) {
			low, high = min(low, v.value), max(high, v.value)
		}
	}
	return !(low < high)
}

// ascend ascends from each point within the box [lo, hi] and returns the projected ends.
func (c *climb) ascend(ctx context.Context, from []visited, lo, hi []float64) ([]visited, error) {
	set := optimize.Settings{MaxIter: c.o.Iterations, GradTol: 1e-6, FuncTol: 1e-9}
	if c.before != nil {
		set.GradTol, set.FuncTol = briefTolerance, briefTolerance
	}
	climbed, err := optimize.MinimizeBatch(ctx, func(value []float64, grad, x *mat.Dense) {
		c.f.Eval(value, grad, x)
		for i := range value {
			value[i] = -value[i]
			floats.Scale(-1, grad.RawRowView(i))
		}
	}, points(from), lo, hi, set)
	ends := mat.NewDense(len(climbed), c.dom.Dim(), nil)
	for i, r := range climbed {
		ends.SetRow(i, r.X)
		c.dom.Project(ends.RawRowView(i))
		c.retreat(from[i].x, ends.RawRowView(i))
	}
	if err != nil { // record the points reached so far
		_, _ = c.eval(context.WithoutCancel(ctx), ends)
		return nil, err
	}
	return c.eval(ctx, ends)
}

// near evaluates f at the neighbours of x. If there are more than manyNeighbors, values of earlier
// calls are reused: searches from several points meet, and each searches a line of a categorical
// twice.
func (c *climb) near(ctx context.Context, x []float64) ([]visited, error) {
	all := c.dom.Neighbors(x)
	if rowCount(all) <= manyNeighbors {
		return c.eval(ctx, all)
	}
	found, keys := make([]visited, rowCount(all)), make([]string, rowCount(all))
	var data []float64
	var at []int
	for i := range found {
		keys[i] = key(all.RawRowView(i))
		value, known := c.values[keys[i]]
		found[i] = visited{all.RawRowView(i), value}
		if !known {
			data, at = append(data, found[i].x...), append(at, i)
		}
	}
	if len(at) == 0 {
		return found, nil
	}
	fresh, err := c.eval(ctx, mat.NewDense(len(at), len(x), data))
	if c.values == nil {
		c.values = map[string]float64{}
	}
	for k, v := range fresh {
		found[at[k]] = v
		c.values[keys[at[k]]] = v.value
	}
	return found, err
}

// polishBest polishes the best points of from. If three quarters of the given starts have no finite value, it polishes
// the first of them too.
func (c *climb) polishBest(ctx context.Context, from, given []visited) ([]visited, error) {
	slices.SortStableFunc(from, func(a, b visited) int { return compare(-a.value, -b.value) })
	if 4*len(finite(given)) < len(given) && feasible(c.dom, given[0].x) {
		from = slices.Insert(from, 0, given[0])
	}
	var ends []visited
	seen := map[string]bool{}
	for _, v := range from {
		if k := key(v.x); !seen[k] && len(seen) < polished {
			seen[k] = true
			end, err := c.polish(ctx, v)
			if err != nil {
				return nil, err
			}
			ends = append(ends, end)
		}
	}
	return ends, nil
}

// polish alternates moves to the best neighbour and ascents in the continuous
// coordinates, from v, until neither improves the value. It returns the last point.
func (c *climb) polish(ctx context.Context, v visited) (visited, error) {
	for range maxPolish {
		before := v.value
		for {
			near, err := c.near(ctx, v.x)
			if err != nil {
				return v, err
			}
			at := v
			for _, w := range near {
				if compare(-w.value, -at.value) < 0 {
					at = w
				}
			}
			if key(at.x) == key(v.x) {
				break
			}
			v = at
		}
		free := c.dom.Free()
		if r := restricted(c.dom); r != nil {
			free = r.FreeAt(v.x)
			end, err := c.slide(ctx, v, free)
			if err != nil {
				return v, err
			}
			v = end
		}
		if slices.Contains(free, true) {
			lo, hi := bounds(c.dom)
			for i, f := range free {
				if !f {
					lo[i], hi[i] = v.x[i], v.x[i]
				}
			}
			end, err := c.ascend(ctx, []visited{v}, lo, hi)
			if err != nil {
				return v, err
			}
			if compare(-end[0].value, -v.value) < 0 {
				v = end[0]
			}
		}
		if !(v.value > before+1e-9*max(1, math.Abs(before))) {
			return v, nil
		}
	}
	return v, nil
}
