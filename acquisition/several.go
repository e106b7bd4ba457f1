package acquisition

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/pareto"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
)

// CheckObjectives returns an error if a is an Acquisition of another number of objectives than n. One
// that is not Several takes several objectives as a random scalarisation in package loop.
func CheckObjectives(a Acquisition, n int) error {
	switch a.(type) {
	case LogNEHVI, *LogNEHVI:
		if n < 2 || n > maxBoxObjectives {
			return fmt.Errorf("takes 2 to %d objectives, and there are %d: use auto", maxBoxObjectives, n)
		}
	case LogNParEGO, *LogNParEGO:
		if n < 2 {
			return errors.New("takes several objectives, and there is one: use auto")
		}
	}
	return nil
}

// checkSeveral returns an error unless p has at least two objectives, a reference point and
// evaluated points, and q is 1.
func (p Problem) checkSeveral(name string, q int) error {
	if q != 1 {
		return fmt.Errorf("%w: %s with a batch of %d", ErrBatch, name, q)
	}
	if len(p.Objectives) < 2 {
		return fmt.Errorf("%w: %s takes several objectives: use auto for one", ErrProblem, name)
	}
	if len(p.Reference) != len(p.Objectives) {
		return fmt.Errorf("%w: reference point of %d values, %d objectives", ErrProblem, len(p.Reference), len(p.Objectives))
	}
	for _, v := range p.Reference {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: the reference point is %v, want finite numbers", ErrProblem, p.Reference)
		}
	}
	if rowCount(p.Observed) == 0 {
		return fmt.Errorf("%w: %s needs evaluated points", ErrProblem, name)
	}
	return nil
}

// jointSamples are joint samples of several objectives and constraints at some points.
type jointSamples struct {
	outputs    []*mat.Dense // S×n, the objectives before the constraints
	objectives int
	bounds     []float64 // the Bound of each constraint
}

// at returns the objectives at the points that are feasible in sample s, and the indices of
// these points.
func (j jointSamples) at(s int) (y [][]float64, index []int) {
	_, n := j.outputs[0].Dims()
	y, index = make([][]float64, 0, n), make([]int, 0, n)
	values := make([]float64, n*j.objectives)
next:
	for i := range n {
		for c, b := range j.bounds {
			if j.outputs[j.objectives+c].At(s, i) > b {
				continue next
			}
		}
		v := values[i*j.objectives : (i+1)*j.objectives]
		for m := range v {
			v[m] = j.outputs[m].At(s, i)
		}
		y, index = append(y, v), append(index, i)
	}
	return y, index
}

// contender returns the indices of the rows of y that limit the improvement by a new point.
type contender func(y [][]float64) []int

// maxContenders bounds the number of evaluated points in the joint sample of several
// objectives.
const maxContenders = 128

// sampleContenders returns joint samples at the points that may limit the improvement: the pending
// points and the contenders.
func (p Problem) sampleContenders(contenders *mat.Dense, samples int, rng *rand.Rand) (*conditional, jointSamples, error) {
	f, drawn, err := newConditional(p, contenders, samples, rng)
	if err != nil {
		return nil, jointSamples{}, err
	}
	f.anchor()
	return f, jointSamples{drawn, len(p.Objectives), f.bounds}, nil
}

// contenders returns the evaluated points that contend in a first joint sample of all points, at
// most maxContenders of them that contend most often.
func (p Problem) contenders(contend contender, samples int, rng *rand.Rand) (*mat.Dense, error) {
	f, drawn, err := newConditional(p, p.Observed, samples, random.Split(rng, "baseline", 0))
	if err != nil {
		return nil, err
	}
	first := jointSamples{drawn, len(p.Objectives), f.bounds}
	n := rowCount(p.Observed)
	wins, order := make([]int, rowCount(f.baseline)), subset.All(n)
	for s := range samples {
		y, index := first.at(s)
		for _, i := range contend(y) {
			wins[index[i]]++
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(wins[j], wins[i]) })
	keep := slices.DeleteFunc(order[:min(n, maxContenders)], func(i int) bool { return wins[i] == 0 && i != order[0] })
	slices.Sort(keep)
	return subset.Take(p.Observed, keep), nil
}

// boundsOfObjectives returns the lower confidence bounds of the objectives at each evaluated point.
func (p Problem) boundsOfObjectives() [][]float64 {
	y := make([][]float64, rowCount(p.Observed))
	for _, o := range p.Objectives {
		for i, v := range p.lowerBounds(o) {
			y[i] = append(y[i], v)
		}
	}
	return y
}

// amongFront is among for several objectives. It takes the Pareto front of the lower confidence bounds, then
// the front of the other points, and so on. Of each front it takes the points with the largest volume below the
// reference point first. Points that are not below it come after all that are.
func (p Problem) amongFront() Problem {
	return p.among(func(possible []bool) []float64 {
		y := p.boundsOfObjectives()
		volume, score := make([]float64, len(y)), make([]float64, len(y))
		for i, v := range y {
			score[i], volume[i] = math.Inf(1), 1
			for j, r := range p.Reference {
				volume[i] *= max(0, r-v[j])
			}
		}
		most := max(slices.Max(volume), math.SmallestNonzeroFloat64)
		depth, kept := 0.0, 0
		for _, in := range []func(i int) bool{
			func(i int) bool { return possible[i] && volume[i] > 0 },
			func(i int) bool { return possible[i] },
			func(int) bool { return true },
		} {
			left := make([][]float64, len(y)) // without the points of earlier fronts
			for i, v := range y {
				if math.IsInf(score[i], 1) && in(i) {
					left[i] = v
				} else {
					left[i] = onNoFront
				}
			}
			for kept < lowestKept {
				front := pareto.Front(left)
				if len(front) == 0 {
					break
				}
				for _, i := range front {
					score[i], left[i] = depth+(1-volume[i]/most)/2, onNoFront
				}
				depth, kept = depth+1, kept+len(front)
			}
		}
		return score
	})
}

// onNoFront is a point that pareto.Front leaves out.
var onNoFront = []float64{math.NaN()}

// frontKept is the number of points of the front from which ascents may start.
const frontKept = 64

// aroundFront returns the evaluated points on the front of the posterior means, with copies as incumbents makes
// them. If there are likely feasible points, only these count. It also returns the points midway between
// neighbours on the front, with respect to each objective, where the front has gaps.
func (p Problem) aroundFront(rng *rand.Rand) *mat.Dense {
	n, d := p.Observed.Dims()
	likely, mean, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	p.Feasibility(likely, p.Observed)
	probable := func(v float64) bool { return v >= 0.5 }
	all := !slices.ContainsFunc(likely, probable)
	var kept []int // rows of p.Observed
	for i, v := range likely {
		if all || probable(v) {
			kept = append(kept, i)
		}
	}
	y := make([][]float64, len(kept))
	for _, o := range p.Objectives {
		o.Predict(mean, variance, p.Observed)
		for k, i := range kept {
			y[k] = append(y[k], mean[i])
		}
	}
	front := pareto.Front(y)
	rng.Shuffle(len(front), func(i, j int) { front[i], front[j] = front[j], front[i] })
	front = front[:min(len(front), frontKept)]
	var data []float64
	add := func(x []float64, sd float64) {
		for _, v := range x {
			data = append(data, min(max(v+sd*rng.NormFloat64(), 0), 1))
		}
	}
	for _, k := range front {
		x := p.Observed.RawRowView(kept[k])
		for e := range 4 { // the point, and three copies
			add(x, []float64{0, 0.1, 0.01, 0.001}[e])
		}
	}
	for j := range p.Objectives {
		slices.SortStableFunc(front, func(a, b int) int { return compare(y[a][j], y[b][j]) })
		for k := range max(0, len(front)-1) {
			between := slices.Clone(p.Observed.RawRowView(kept[front[k]]))
			for l, v := range p.Observed.RawRowView(kept[front[k+1]]) {
				between[l] = (between[l] + v) / 2
			}
			add(between, 0)
		}
	}
	if len(data) == 0 {
		return nil
	}
	return mat.NewDense(len(data)/d, d, data)
}
