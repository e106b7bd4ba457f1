package insight

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/functionspace/bo/loop"
)

// Parallel is the data of a plot in parallel coordinates.
type Parallel struct {
	Axes []Axis `json:"axes"` // a parameter each, without fixed ones
	// Objectives are the objectives of a study of several; nil for one objective.
	Objectives []loop.Goal    `json:"objectives,omitempty"`
	Lines      []ParallelLine `json:"lines"`
}

// ParallelLine is a trial in parallel coordinates.
type ParallelLine struct {
	Trial int        `json:"trial"`
	State loop.State `json:"state"`
	// Value is the value of the only objective, null unless the trial is complete. Numbers are the values of
	// several Objectives instead.
	Value   Number   `json:"value"`
	Numbers []Number `json:"numbers,omitempty"`
	// Feasible reports that the trial is complete and meets the requirements.
	Feasible bool `json:"feasible"`
	// Rank is the position of a feasible trial among the feasible trials, from 0 for the best
	// to 1 for the worst; null otherwise. Trials of several objectives are in the order of the number of
	// feasible trials that dominate them. Equal trials have equal ranks.
	Rank Number `json:"rank"`
	// Values are the values of the Axes, nil for an inactive parameter. Positions are their
	// positions on the scales of the axes between 0 and 1, and null for nil.
	Values    []any    `json:"values"`
	Positions []Number `json:"positions"`
}

// ParallelCoordinates returns every trial as a line over the parameters that are not fixed. It
// costs O(n log n) for n trials, and O(n²) with several objectives.
func ParallelCoordinates(v *loop.View) Parallel {
	var out Parallel
	params := free(v.Space)
	for _, p := range params {
		out.Axes = append(out.Axes, axisOf(p))
	}
	if v.Options.Several() {
		out.Objectives = v.Options.Objectives
	}
	losses := losses(v)
	sorted := slices.DeleteFunc(slices.Clone(losses), math.IsNaN)
	slices.Sort(sorted)
	for i := range v.Trials {
		t := &v.Trials[i]
		line := ParallelLine{Trial: t.ID, State: t.State, Value: valueOf(t), Feasible: v.Options.Feasible(t), Rank: Number(math.NaN())}
		if out.Objectives != nil {
			line.Value = Number(math.NaN())
			for _, g := range out.Objectives {
				x := math.NaN()
				if t.State == loop.Complete {
					x = t.Numbers[g.Name]
				}
				line.Numbers = append(line.Numbers, Number(x))
			}
		}
		if line.Feasible {
			k, _ := slices.BinarySearch(sorted, losses[i])
			line.Rank = Number(float64(k) / float64(max(1, len(sorted)-1)))
		}
		for k, p := range params {
			x := t.Point.Value(p.Name)
			line.Values = append(line.Values, x)
			line.Positions = append(line.Positions, out.Axes[k].position(x))
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}

// losses returns a number for each trial that orders the feasible trials, smaller for better ones: the
// value, its negative if it is maximised, or the number of feasible trials that dominate the trial. It is
// NaN for other trials.
func losses(v *loop.View) []float64 {
	sign := func(maximize bool, x float64) float64 {
		if maximize {
			return -x
		}
		return x
	}
	out, rows := make([]float64, len(v.Trials)), make([][]float64, len(v.Trials))
	for i := range v.Trials {
		t := &v.Trials[i]
		if out[i] = math.NaN(); !v.Options.Feasible(t) {
			continue
		}
		out[i] = sign(v.Options.Maximize, t.Value)
		for _, g := range v.Options.Objectives {
			rows[i] = append(rows[i], sign(g.Maximize, t.Numbers[g.Name]))
		}
	}
	if !v.Options.Several() {
		return out
	}
	for i, a := range rows {
		if a == nil {
			continue
		}
		out[i] = 0
		for _, b := range rows {
			if b != nil && dominates(b, a) {
				out[i]++
			}
		}
	}
	return out
}

// dominates reports that a is nowhere larger than b and somewhere smaller.
func dominates(a, b []float64) bool {
	smaller := false
	for k := range a {
		if a[k] > b[k] {
			return false
		}
		smaller = smaller || a[k] < b[k]
	}
	return smaller
}

// Strongest returns the indices of the at most n axes that separate good from bad trials best, in the
// order of Axes. The measure is the part of the variance of the ranks between groups of trials, as in the test
// of Kruskal and Wallis (1952). It is adjusted for the number of groups. A group is a category, a quarter of
// the trials in the order of a number, or the trials with an inactive parameter. Infeasible trials count as the
// worst. The measure needs no surrogate model and misses interactions, which Importance finds.
func (p *Parallel) Strongest(n int) []int {
	index := make([]int, len(p.Axes))
	for k := range index {
		index[k] = k
	}
	if len(index) <= n {
		return index
	}
	separation := make([]float64, len(p.Axes))
	for k := range separation {
		separation[k] = p.separation(k)
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(separation[b], separation[a]) })
	index = index[:n]
	slices.Sort(index)
	return index
}

// separation returns the adjusted part of the variance of the ranks between groups along an axis.
func (p *Parallel) separation(axis int) float64 {
	var ranks, positions []float64
	for _, l := range p.Lines {
		r := float64(l.Rank)
		if l.State == loop.Complete && math.IsNaN(r) {
			r = 1
		}
		if !math.IsNaN(r) {
			ranks, positions = append(ranks, r), append(positions, float64(l.Positions[axis]))
		}
	}
	n := float64(len(ranks))
	sorted := slices.DeleteFunc(slices.Clone(positions), math.IsNaN)
	slices.Sort(sorted)
	type group struct{ n, sum float64 }
	groups := map[float64]group{}
	total, squares := 0.0, 0.0
	for i, x := range positions {
		key := -1.0 // inactive
		if !math.IsNaN(x) {
			key = x
			if p.Axes[axis].Ticks == nil {
				k, _ := slices.BinarySearch(sorted, x)
				key = float64(4 * k / len(sorted))
			}
		}
		g := groups[key]
		groups[key] = group{g.n + 1, g.sum + ranks[i]}
		total, squares = total+ranks[i], squares+ranks[i]*ranks[i]
	}
	all := squares - total*total/n
	if k := float64(len(groups)); n > k && all > 0 {
		between := -total * total / n
		for _, key := range slices.Sorted(maps.Keys(groups)) {
			between += groups[key].sum * groups[key].sum / groups[key].n
		}
		return 1 - (1-between/all)*(n-1)/(n-k)
	}
	return 0
}

// position returns the position of a value on the axis between 0 and 1, NaN for nil.
func (a *Axis) position(x any) Number {
	if x == nil {
		return Number(math.NaN())
	}
	if a.Ticks != nil {
		return Number(float64(slices.Index(a.Ticks, x)) / float64(max(1, len(a.Ticks)-1)))
	}
	y, ok := x.(float64)
	if !ok {
		y = float64(x.(int))
	}
	lo, hi := a.Min, a.Max
	if a.Log {
		y, lo, hi = math.Log(y), math.Log(lo), math.Log(hi)
	}
	if hi == lo {
		return 0.5
	}
	return Number((y - lo) / (hi - lo))
}
