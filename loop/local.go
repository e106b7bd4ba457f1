package loop

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
)

// Local selects whether suggestions alternate with suggestions of a local model.
type Local string

// The kinds of local search.
const (
	// LocalAuto, the default, chooses trials with an even ID by a local Gaussian process. It is fitted to the
	// trials in a trust region around the best trial. LocalAuto applies to one objective without outcome
	// constraints, with acquisition.Auto and gp.Model or fsplaplace.Model. The space must have a continuous
	// parameter, and no conditions or constraints. It must have no categorical of more than 16 values, because
	// a trust region holds one value of a categorical. LocalAuto does not apply if a prior, a prior mean or a
	// belief about the optimum is stated, because these describe the whole space. It does not apply if values
	// are given, because the best trial has others.
	LocalAuto Local = "auto"
	// LocalNone chooses all trials by the model of all trials.
	LocalNone Local = "none"
)

// The half-width of the trust region, in the unit cube, starts at firstHalf. It is doubled by
// an improvement, up to firstHalf, and halved by as many failures as there are columns. Below
// leastHalf it starts again.
const (
	firstHalf = 0.4
	leastHalf = 1e-6
	// reach is the distance, in half-widths, within which trials are fitted.
	reach = 2
	// maxLocal bounds the cost of the fit.
	maxLocal = 200
)

// candidate is a suggestion in the unit cube with the fit that predicts it.
type candidate struct {
	acquisition.Candidate
	fit *fitted
}

// candidates returns n suggestions, given the fit f to t. The pending trials of the second task
// are pending, and its next ID is the ID of the first suggestion. If the fit of the local model
// fails numerically, the model of all trials chooses instead.
func (t *task) candidates(ctx context.Context, f *fitted, pending *task, n int) ([]candidate, error) {
	var local int
	isLocal := make([]bool, n)
	if t.searchesLocally(n) {
		for i := range isLocal {
			if isLocal[i] = (pending.next()+i)%2 == 0; isLocal[i] {
				local++
			}
		}
	}
	wide, err := t.suggestFrom(counting(ctx, 0, n), f, t.problem(f, pending), t.domain, n-local, "suggest")
	if err != nil || local == 0 {
		return wide, err
	}
	pending = pending.with(t.proposals(wide))
	ctx = counting(ctx, n-local, n)
	near, err := t.suggestLocally(ctx, f, pending, local)
	if errors.Is(err, surrogate.ErrNotPositiveDefinite) || errors.Is(err, errPosterior) {
		near, err = t.suggestFrom(ctx, f, t.problem(f, pending), t.domain, local, "suggest instead")
	}
	if err != nil {
		return nil, err
	}
	out := make([]candidate, n)
	for i, l := range isLocal {
		from := &wide
		if l {
			from = &near
		}
		out[i], *from = (*from)[0], (*from)[1:]
	}
	return out, nil
}

// counting returns ctx with progress that counts suggestions after the first done of total. Other
// phases are not reported, because a local fit follows the fit of all trials.
func counting(ctx context.Context, done, total int) context.Context {
	return surrogate.WithProgress(ctx, func(p surrogate.Progress) {
		if p.Phase == "acquisition" {
			surrogate.Report(ctx, surrogate.Progress{Phase: p.Phase, Done: done + p.Done, Total: total})
		}
	})
}

// proposals returns the points of candidates.
func (t *task) proposals(cs []candidate) []Proposal {
	var out []Proposal
	for _, c := range cs {
		out = append(out, Proposal{Point: t.domain.Decode(c.X)})
	}
	return out
}

// suggestFrom returns the n points of dom that maximise the acquisition function, with random
// numbers of the given purpose.
func (t *task) suggestFrom(ctx context.Context, f *fitted, p acquisition.Problem, dom acquisition.Domain, n int, purpose string) ([]candidate, error) {
	if n == 0 {
		return nil, nil
	}
	found, err := acquisition.Suggest(ctx, t.opts.Acquisition, p, dom, n, t.opts.Maximizer, random.New(t.opts.Seed, purpose, t.next()))
	if err != nil {
		return nil, err
	}
	out := make([]candidate, n)
	for i, c := range found {
		out[i] = candidate{c, f}
	}
	return out, nil
}

// searchesLocally reports whether some of n suggestions come from a local model.
func (t *task) searchesLocally(n int) bool {
	o := &t.opts
	if _, ok := localModel(o.Surrogate); !ok {
		return false
	}
	joint := false
	switch a := o.Acquisition.(type) {
	case acquisition.Auto:
		joint = a.Joint
	case *acquisition.Auto:
		joint = a.Joint
	default:
		return false
	}
	return o.Local == LocalAuto && !t.sliced() && !(n > 1 && joint) &&
		!o.Several() && len(o.Require) == 0 && t.optimum == nil && o.PriorMean.isZero() &&
		!surrogate.StatesPrior(o.Surrogate) && !t.space.Restricted() && slices.Contains(t.space.Free(), true) &&
		!slices.ContainsFunc(Inputs(t.space), func(in prior.Input) bool { return in.Values > 0 })
}

// localModel returns the local model beside m, the model of all trials: a Gaussian process with the
// same statements about the prior. ok is false if there is none.
func localModel(m surrogate.Model) (local gp.Model, ok bool) {
	switch m := m.(type) {
	case gp.Model:
		return m, true
	case *gp.Model:
		return *m, true
	case fsplaplace.Model:
		return gp.Model{Spec: m.Spec}, true
	case *fsplaplace.Model:
		return gp.Model{Spec: m.Spec}, true
	}
	return gp.Model{}, false
}

// suggestLocally returns n points of the trust region. The surrogate model that chooses them is fitted to the
// trials near the region, in coordinates of the region.
func (t *task) suggestLocally(ctx context.Context, f *fitted, pending *task, n int) ([]candidate, error) {
	r := t.trustRegion(f)
	local := t.within(r)
	local.opts.Surrogate, _ = localModel(t.opts.Surrogate)
	g, err := local.fit(ctx, random.New(t.opts.Seed, "fit locally", t.next()))
	if err != nil {
		return nil, err
	}
	out, err := t.suggestFrom(ctx, g, local.problem(g, pending.within(r)), r, n, "suggest locally")
	for i := range out {
		out[i].X = r.outer(out[i].X)
	}
	return out, err
}

// trustRegion returns the region around the complete trial of lowest value; under noise, of lowest
// posterior mean. It replays the trials in the order of their IDs. A trial after the initial design and in the
// region enlarges it if the trial is the lowest so far. A trial there that is not, or that failed, shrinks it.
// An equal value, as on a plateau, changes nothing. If a trial elsewhere is the lowest so far, the half-width
// is firstHalf again.
func (t *task) trustRegion(f *fitted) *region {
	values := f.z
	if !t.opts.NoiseFree {
		values = f.mean
	}
	r := &region{space: t.space, half: firstHalf}
	shrink := math.Pow(0.5, 1/float64(t.space.Dim()))
	best, k, seen := math.Inf(1), 0, 0
	for i := range t.trials {
		value := math.Inf(1)
		switch t.trials[i].State {
		case Complete:
			value = values[k]
			k++
		case Failed:
		default:
			continue
		}
		seen++
		inside, later := r.centre != nil && r.distance(t.x[i]) <= r.half, seen > t.opts.Initial
		switch {
		case value < best:
			best, r.centre = value, t.x[i]
			if inside && later {
				r.half = min(2*r.half, firstHalf)
			} else {
				r.half = firstHalf
			}
		case inside && later && value > best:
			if r.half *= shrink; r.half < leastHalf {
				r.half = firstHalf
			}
		}
	}
	r.bound()
	return r
}

// within returns the task of the trials within reach of r, in coordinates of r. If fewer than 2(d+1) of them are
// complete, it has the 2(d+1) nearest complete trials, and those at the distance of the last one. It has at most maxLocal
// complete trials: the nearest, and of equal distances the earliest.
func (t *task) within(r *region) *task {
	distance := make([]float64, len(t.trials))
	var complete []int
	near := 0
	for i := range t.trials {
		distance[i] = r.distance(t.x[i])
		if t.trials[i].State == Complete {
			complete = append(complete, i)
			if distance[i] <= reach*r.half {
				near++
			}
		}
	}
	slices.SortStableFunc(complete, func(i, j int) int { return cmp.Compare(distance[i], distance[j]) })
	near = min(max(near, 2*(t.space.Dim()+1)), len(complete))
	for near < len(complete) && distance[complete[near]] == distance[complete[near-1]] {
		near++
	}
	fitted := make([]bool, len(t.trials))
	for _, i := range complete[:min(near, maxLocal)] {
		fitted[i] = true
	}
	out := *t
	out.trials, out.x, out.warm = nil, nil, nil
	for i := range t.trials {
		if fitted[i] || t.trials[i].State != Complete && distance[i] <= reach*r.half {
			out.trials, out.x = append(out.trials, t.trials[i]), append(out.x, r.inner(t.x[i]))
		}
	}
	return &out
}

// region is the part of a space whose encoded points are in a box, the acquisition.Domain of local
// suggestions. The inner coordinates of the box are the unit cube.
type region struct {
	space     *space.Space
	centre    []float64
	half      float64
	lo, width []float64
}

var _ acquisition.Domain = (*region)(nil)

// distance returns the largest difference between the coordinates of x and of the centre.
func (r *region) distance(x []float64) float64 {
	var d float64
	for j, v := range x {
		d = max(d, math.Abs(v-r.centre[j]))
	}
	return d
}

// bound sets the box to the part of the unit cube within the half-width of the centre.
func (r *region) bound() {
	for _, v := range r.centre {
		lo := max(0, v-r.half)
		r.lo, r.width = append(r.lo, lo), append(r.width, min(1, v+r.half)-lo)
	}
}

// inner returns the inner coordinates of x.
func (r *region) inner(x []float64) []float64 {
	u := make([]float64, len(x))
	for j, v := range x {
		u[j] = (v - r.lo[j]) / r.width[j]
	}
	return u
}

// outer returns the point with inner coordinates u.
func (r *region) outer(u []float64) []float64 {
	x := make([]float64, len(u))
	for j, v := range u {
		x[j] = min(max(r.lo[j]+v*r.width[j], 0), 1)
	}
	return x
}

func (r *region) Dim() int          { return r.space.Dim() }
func (r *region) Discrete() bool    { return r.space.Discrete() }
func (r *region) Free() []bool      { return r.space.Free() }
func (r *region) Size() (int, bool) { return 0, false }

// Project moves u to the nearest point of the space.
func (r *region) Project(u []float64) {
	x := r.outer(u)
	r.space.Project(x)
	copy(u, r.inner(x))
}

// Neighbors returns the neighbours in the space that are in the box.
func (r *region) Neighbors(u []float64) *mat.Dense {
	all := r.space.Neighbors(r.outer(u))
	if all == nil {
		return nil
	}
	var data []float64
	n, d := all.Dims()
	for i := range n {
		if x := all.RawRowView(i); r.distance(x) <= r.half {
			data = append(data, r.inner(x)...)
		}
	}
	if data == nil {
		return nil
	}
	return mat.NewDense(len(data)/d, d, data)
}
