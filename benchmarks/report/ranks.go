package report

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/functionspace/bo/benchmarks/runner"
)

// Rank has the mean ranks of a method among the ranked methods.
type Rank struct {
	Name string `json:"method"`
	// At has the mean ranks over all blocks after 25, 50, 75 and 100 % of the budget.
	// Rank 1 is the best; ties share their mean rank.
	At [4]Interval `json:"at"`
	// Solved[k] has, for each run that reached the fraction Targets[k] of the regret
	// after the design, the number of evaluations it needed, sorted. The count of
	// Solved[k] up to n evaluations, divided by Report.Profiled, is a data profile (Moré
	// and Wild 2009, "Benchmarking derivative-free optimization algorithms", eq. 2.1 and
	// 2.8, with evaluations instead of simplex gradients).
	Solved [][]int `json:"solved,omitempty"`
}

// Targets are the fractions of the regret after the design in data profiles.
var Targets = []float64{0.01, 0.001}

// Interval is a mean with a bootstrap interval over the seeds of each problem. In a suite of classes the
// interval is over the instances of each class.
type Interval struct {
	Mean float64 `json:"mean"`
	Lo   float64 `json:"lo"`
	Hi   float64 `json:"hi"`
}

// stratum has the blocks of one problem, or of the problems of one class: for each problem and seed
// the runs of all ranked methods.
type stratum [][]runner.Record

// common returns the ranked methods and the blocks that all of them finished. It compares the sets of the k ≥ 2
// methods with the most finished runs. It takes the set whose blocks hold the most comparisons of two runs.
func (a *results) common() (methods []string, strata []stratum, blocks int) {
	count := map[string]int{}
	for _, problem := range a.contests() {
		for _, method := range a.methods {
			count[method] += len(a.of(problem, method))
		}
	}
	order := slices.Clone(a.methods)
	slices.SortStableFunc(order, func(x, y string) int { return count[y] - count[x] })
	for k := 2; k <= len(order); k++ {
		chosen := slices.DeleteFunc(slices.Clone(a.methods), func(m string) bool { return !slices.Contains(order[:k], m) })
		if s, n := a.strata(chosen); n*k*(k-1) >= max(1, blocks*len(methods)*(len(methods)-1)) {
			methods, strata, blocks = chosen, s, n
		}
	}
	return methods, strata, blocks
}

func (a *results) strata(methods []string) (list []stratum, blocks int) {
	of := map[string]int{} // indices in list by group
	for _, problem := range a.contests() {
		var s stratum
		for _, seed := range a.seeds {
			var block []runner.Record
			for _, method := range methods {
				if r, ok := a.runs[runner.Key{Problem: problem, Method: method, Seed: seed}]; ok {
					block = append(block, r)
				}
			}
			if len(block) == len(methods) {
				s = append(s, block)
			}
		}
		if s == nil {
			continue
		}
		blocks += len(s)
		group := a.group(problem)
		if i, ok := of[group]; ok {
			list[i] = append(list[i], s...)
			continue
		}
		of[group] = len(list)
		list = append(list, s)
	}
	return list, blocks
}

// ranks adds the ranks of the methods to a report.
func (a *results) ranks(r *Report) {
	methods, strata, blocks := a.common()
	if blocks == 0 {
		return
	}
	for _, method := range a.methods {
		if !slices.Contains(methods, method) {
			r.Unranked = append(r.Unranked, method)
		}
	}
	list := rankAll(methods, strata)
	r.Profiled = solved(list, strata)
	slices.SortStableFunc(list, func(a, b Rank) int { return cmp.Compare(a.At[3].Mean, b.At[3].Mean) })
	r.Ranks, r.Blocks = list, blocks
}

// rankAll returns the mean ranks of the methods, without data profiles.
func rankAll(methods []string, strata []stratum) []Rank {
	list := make([]Rank, len(methods))
	for m := range list {
		list[m].Name = methods[m]
	}
	for k := range 4 {
		ranks := make([][][]float64, len(methods)) // indices: method, stratum, block
		for m := range ranks {
			ranks[m] = make([][]float64, len(strata))
		}
		for s := range strata {
			for _, block := range strata[s] {
				for m, rank := range midranks(each(block, func(r runner.Record) float64 { return score(r, checkpoints(r.Budget)[k]-1) })) {
					ranks[m][s] = append(ranks[m][s], rank)
				}
			}
		}
		for m := range methods {
			list[m].At[k] = meanInterval(ranks[m])
		}
	}
	return list
}

// meanInterval returns the mean of all values, with an interval that resamples each stratum.
func meanInterval(strata [][]float64) Interval {
	return interval(strata, func(drawn [][]int) float64 {
		var sum float64
		var n int
		for s, indices := range drawn {
			for _, i := range indices {
				sum += strata[s][i]
			}
			n += len(indices)
		}
		return sum / float64(n)
	})
}

// interval returns the value of a statistic of the indices in each stratum, with its bootstrap interval.
func interval[T any](strata [][]T, statistic func(drawn [][]int) float64) Interval {
	sizes := make([]int, len(strata))
	for s := range strata {
		sizes[s] = len(strata[s])
	}
	lo, hi := bootstrap(sizes, Level, resamples, rand.New(rand.NewPCG(1, 1)), statistic)
	return Interval{statistic(everyIndex(sizes)), lo, hi}
}

// grouped has numbers of pairs or blocks by the class of their problem, or by problem if there are no
// classes.
type grouped struct {
	names  []string
	values [][]float64
}

// add appends values to a group.
func (g *grouped) add(name string, values []float64) {
	i := slices.Index(g.names, name)
	if i < 0 {
		i = len(g.names)
		g.names, g.values = append(g.names, name), append(g.values, nil)
	}
	g.values[i] = append(g.values[i], values...)
}

// group returns the class of a problem, or the name of a problem without class.
func (a *results) group(problem string) string { return cmp.Or(a.class[problem], problem) }

// everyIndex returns every index of each stratum once.
func everyIndex(sizes []int) [][]int {
	all := make([][]int, len(sizes))
	for s, n := range sizes {
		for i := range n {
			all[s] = append(all[s], i)
		}
	}
	return all
}

// solved adds data profiles to the ranks. The profiles are over the blocks with a known
// minimum and a value in every design, whose number it returns.
func solved(list []Rank, strata []stratum) (profiled int) {
	for m := range list {
		list[m].Solved = make([][]int, len(Targets))
		for k := range Targets {
			list[m].Solved[k] = []int{}
		}
	}
	for _, s := range strata {
		for _, block := range s {
			from := start(block)
			if !hasValue(from) {
				continue
			}
			profiled++
			for m := range list {
				for k, target := range Targets {
					if n := reached(block[m].Regret, target*from); n > 0 {
						list[m].Solved[k] = append(list[m].Solved[k], n)
					}
				}
			}
		}
	}
	for m := range list {
		for k := range Targets {
			slices.Sort(list[m].Solved[k])
		}
	}
	return profiled
}

// start returns the regret after the design, the largest regret if the designs differ. It is not finite if a design
// has no value, and NaN if the minimum is unknown.
func start(block []runner.Record) float64 {
	if block[0].Minimum == nil {
		return math.NaN()
	}
	worst := 0.0
	for _, r := range block {
		worst = max(worst, r.Regret[max(r.Initial, 1)-1])
	}
	return worst
}

// reached returns the number of evaluations until the regret is at most target, or 0 if
// it stays above.
func reached(regret []float64, target float64) int {
	return 1 + slices.IndexFunc(regret, func(v float64) bool { return v <= max(target, Floor) })
}
