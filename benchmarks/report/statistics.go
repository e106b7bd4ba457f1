package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// quantile returns the q-quantile of sorted by linear interpolation between order
// statistics at 1+(n-1)q (type 7 of Hyndman and Fan 1996, "Sample quantiles in
// statistical packages").
func quantile(q float64, sorted []float64) float64 {
	h := q * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	if f := h - float64(i); f > 0 && sorted[i] < sorted[i+1] { // two infinities have no difference
		return sorted[i] + f*(sorted[i+1]-sorted[i])
	}
	return sorted[i]
}

// Summary describes a sample.
type Summary struct {
	Median float64 `json:"median"`
	Q1     float64 `json:"q1"`
	Q3     float64 `json:"q3"`
	Mean   float64 `json:"mean"`
	SE     float64 `json:"se"` // standard error of the mean; 0 for a single value
}

func summarize(x []float64) Summary {
	s := slices.Sorted(slices.Values(x))
	mean, sd := stat.MeanStdDev(s, nil)
	if len(s) == 1 {
		sd = 0
	}
	return Summary{quantile(0.5, s), quantile(0.25, s), quantile(0.75, s), mean, sd / math.Sqrt(float64(len(s)))}
}

// midranks returns the ranks of x from 1 for the smallest; ties share their mean
// rank.
func midranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case x[i] < x[j]:
			return -1
		case x[i] > x[j]:
			return 1
		}
		return 0
	})
	ranks := make([]float64, len(x))
	for from := 0; from < len(x); {
		to := from + 1
		for to < len(x) && x[order[to]] == x[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+to+1) / 2
		}
		from = to
	}
	return ranks
}

// maxExact is the largest number of differences for which signedRank is exact.
const maxExact = 200

// signedRank returns the two-sided p-value of Wilcoxon's signed-rank test that the
// differences are symmetric about 0 (Wilcoxon 1945, "Individual comparisons by
// ranking methods"). It omits zeros; ties share their mean rank. The null
// distribution uses the observed ranks, exactly up to maxExact differences and by a
// normal approximation beyond. Without differences the result is 1.
//
// Cost: O(n³) in the exact case.
func signedRank(differences []float64) float64 {
	d := slices.DeleteFunc(slices.Clone(differences), func(v float64) bool { return v == 0 })
	size := make([]float64, len(d))
	for i, v := range d {
		size[i] = math.Abs(v)
	}
	ranks := midranks(size)
	var plus, total, squares float64
	for i, r := range ranks {
		if d[i] > 0 {
			plus += r
		}
		total += r
		squares += r * r
	}
	low := min(plus, total-plus)
	if len(d) > maxExact {
		z := (low - total/2) / math.Sqrt(squares/4)
		return min(1, math.Erfc(-z/math.Sqrt2))
	}
	// prob[s] is the probability that the sum of the positive ranks, doubled to be whole
	// numbers, is s.
	prob := make([]float64, int(2*total)+1)
	prob[0] = 1
	top := 0
	for _, r := range ranks {
		step := int(2 * r)
		top += step
		for s := top; s >= 0; s-- {
			p := prob[s] / 2
			if s >= step {
				p += prob[s-step] / 2
			}
			prob[s] = p
		}
	}
	var tail float64
	for _, p := range prob[:int(2*low)+1] {
		tail += p
	}
	return min(1, 2*tail)
}

// bootstrap returns the interval between the (1-level)/2 and (1+level)/2 quantiles of
// a statistic over resamples. Each stratum is resampled with replacement by itself
// (Efron and Tibshirani 1993, An Introduction to the Bootstrap, §13.3). The argument
// of the statistic is the drawn indices of each stratum.
func bootstrap(strata []int, level float64, resamples int, rng *rand.Rand, statistic func(drawn [][]int) float64) (lo, hi float64) {
	if len(strata) == 0 {
		panic(fmt.Sprintf("report: bootstrap of %d strata", len(strata)))
	}
	drawn := make([][]int, len(strata))
	for k, n := range strata {
		drawn[k] = make([]int, n)
	}
	values := make([]float64, resamples)
	for b := range values {
		for k, n := range strata {
			for i := range drawn[k] {
				drawn[k][i] = rng.IntN(n)
			}
		}
		values[b] = statistic(drawn)
	}
	slices.Sort(values)
	return quantile((1-level)/2, values), quantile((1+level)/2, values)
}
