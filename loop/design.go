package loop

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
)

// InitialDesign is a method that spreads the initial trials over the space.
type InitialDesign string

// The initial designs.
const (
	Sobol          InitialDesign = "sobol"   // scrambled Sobol sequence
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

// constrained is the number of further design points that are tried in a space with
// constraints.
const constrained = 2048

// design returns the next k points of the design that are not in seen, and adds
// them to seen. Blocks of Options.Initial points follow one another, each
// randomised by its own stream, so the result depends on seen and the trials alone. A trial of the design that was
// evaluated at another point has used a point of the blocks too. Points that
// violate constraints are left out. If the space has fewer than k points left,
// points repeat; of a space that is not space.Space.Listed there may be fewer than k points. The error comes from
// the context.
func (t *task) design(ctx context.Context, k, trial int, seen map[string]bool) ([]space.Point, error) {
	out := make([]space.Point, 0, k)
	more := func() bool { return len(out) < k && ctx.Err() == nil }
	add := func(p space.Point, key string) {
		if len(out) < k && !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	take := func(p space.Point) { add(p, p.Key()) }
	if t.optimum != nil { // trials with odd IDs are drawn from the beliefs
		out = t.believed((k+trial%2)/2, trial, seen)
	}
	// Each point in seen may equal one of a block, and blocks may miss the last
	// points of a finite space.
	blocks := len(seen)/t.opts.Initial + k/t.opts.Initial + 8
	if len(t.domain.Constraints()) > 0 { // most points of a block may be infeasible
		blocks += constrained / t.opts.Initial
	}
	used, skipped := t.moved(), map[string]bool{}
	eachRow := func(skip func(space.Point) bool) {
		for b := 0; b < blocks && more(); b++ {
			points := t.designBlock(b)
			for i, key := range points.keys {
				switch {
				case skipped[key] || skip(points.points[i]):
				case used > 0 && !seen[key]:
					used--
					skipped[key] = true
				default:
					add(points.points[i], key)
				}
			}
		}
	}
	if t.sliced() {
		eachRow(t.likeTrial)
	}
	eachRow(func(space.Point) bool { return false })
	if t.domain.Restricted() {
		for b := 0; b < samples && more(); b++ {
			t.eachSample("feasible", trial+b, func(p space.Point) {
				if len(out) < k {
					take(t.spread(p, trial+len(out)))
				}
			})
		}
	}
	if more() && t.unseen(seen) > 0 {
		if !t.domain.Listed() {
			return out, nil
		}
		// The points in lexicographic order from a random start.
		for i := random.New(t.opts.Seed, "unseen", trial).IntN(t.size); more() && t.unseen(seen) > 0; i = (i + 1) % t.size {
			take(t.domain.At(i))
		}
	}
	return t.repeat(ctx, out, k, trial)
}

// likeTrial reports whether a trial has the values of p but for those given now or to the trial. The rows of the design
// that other contexts had come last, so that the contexts together have a design of the other parameters.
func (t *task) likeTrial(p space.Point) bool {
	return slices.ContainsFunc(t.trials, func(trial Trial) bool { return t.domain.Alike(p, trial.Point, trial.Given) })
}

// moved returns the number of trials of the design that are at no point of its blocks: their evaluation was at other
// values than suggested. It is 0 in restricted spaces and with beliefs, whose designs have other points too, and with given
// values; see likeTrial.
func (t *task) moved() int {
	if t.sliced() || t.optimum != nil || t.domain.Restricted() {
		return 0
	}
	elsewhere, trials := map[string]int{}, 0
	for i := range t.trials {
		if t.trials[i].Source == Design {
			elsewhere[t.trials[i].Point.Key()]++
			trials++
		}
	}
	for b := 0; b <= trials/t.opts.Initial+1 && len(elsewhere) > 0; b++ {
		for _, key := range t.designBlock(b).keys {
			delete(elsewhere, key)
		}
	}
	n := 0
	for _, k := range elsewhere {
		n += k
	}
	return n
}

// repeat appends points of the space to out, which may repeat, until there are k. The error comes from the context.
func (t *task) repeat(ctx context.Context, out []space.Point, k, trial int) ([]space.Point, error) {
	each := t.eachOfBlock
	if t.domain.Restricted() {
		each = t.eachSample
	}
	for b := 0; len(out) < k && ctx.Err() == nil; b++ {
		each("repeat", trial+b, func(p space.Point) {
			if len(out) < k {
				out = append(out, p)
			}
		})
	}
	return out, ctx.Err()
}

// samples is the number of samples of a restricted space that are searched for points
// without a trial.
const samples = 16

// eachSample visits feasible points drawn at random.
func (t *task) eachSample(label string, index int, visit func(space.Point)) {
	x := t.domain.Sample(t.opts.Initial, random.New(t.opts.Seed, label, index))
	for i := range t.opts.Initial {
		visit(t.domain.Decode(x.RawRowView(i)))
	}
}

// spread returns p with the values of parameters without constraints from the row of the design for a trial. It returns p
// if the space has conditions.
func (t *task) spread(p space.Point, trial int) space.Point {
	tied := map[string]bool{}
	for _, c := range t.domain.Constraints() {
		for _, name := range c.On {
			tied[name] = true
		}
	}
	parameters := t.domain.Parameters()
	if slices.ContainsFunc(parameters, func(q space.Parameter) bool { return len(q.When.On) > 0 }) {
		return p
	}
	block, row := (trial-1)/t.opts.Initial, (trial-1)%t.opts.Initial
	design := designs[t.opts.Design](t.opts.Initial, t.domain.Dim(), random.New(t.opts.Seed, "design", block))
	u := t.domain.Encode(p)
	for _, q := range parameters {
		if !tied[q.Name] {
			first, end := t.domain.Columns(q.Name)
			copy(u[first:end], design.RawRowView(row)[first:end])
		}
	}
	return t.domain.Decode(u)
}

// eachOfBlock visits the points of one block of the design.
func (t *task) eachOfBlock(label string, index int, visit func(space.Point)) {
	block := designs[t.opts.Design](t.opts.Initial, t.domain.Dim(), random.New(t.opts.Seed, label, index))
	for i := range t.opts.Initial {
		if row := block.RawRowView(i); t.domain.Feasible(row) {
			visit(t.domain.Decode(row))
		}
	}
}

// designBlock returns the points of one block of the design and their keys. A study asks for the points of
// a block one after another, so the last blocks are kept.
func (t *task) designBlock(index int) *block {
	compute := func() *block {
		b := &block{}
		t.eachOfBlock("design", index, func(p space.Point) {
			b.points, b.keys = append(b.points, p), append(b.keys, p.Key())
		})
		return b
	}
	if t.sliced() { // the next Ask has another slice
		return compute()
	}
	return designBlocks.get(blockKey{t.space, t.opts.Design, t.opts.Initial, t.opts.Seed, index}, compute)
}

// blockKey has all that the points of a block depend on.
type blockKey struct {
	space   *space.Space
	design  InitialDesign
	initial int
	seed    uint64
	index   int
}

// block has the points of a block and their keys. It is immutable.
type block struct {
	points []space.Point
	keys   []string
}

// blocks holds the last blocks of designs that were computed.
type blocks struct {
	mu    sync.Mutex
	kept  map[blockKey]*block
	order []blockKey // the oldest first
	made  int        // number of blocks that were computed
}

var designBlocks = blocks{kept: map[blockKey]*block{}}

// Bounds of the memory of designBlocks, about 10 MB.
const (
	maxBlocks = 8
	maxBlock  = 1 << 16 // numbers in a block that is kept
)

// get returns the block of a key, which compute returns if it is not kept.
func (c *blocks) get(key blockKey, compute func() *block) *block {
	c.mu.Lock()
	found := c.kept[key]
	c.mu.Unlock()
	if found != nil {
		return found
	}
	found = compute()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	if c.kept[key] != nil || key.initial*key.space.Dim() > maxBlock {
		return found
	}
	if len(c.order) == maxBlocks {
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
	c.kept[key], c.order = found, append(c.order, key)
	return found
}
