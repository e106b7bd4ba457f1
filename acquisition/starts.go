package acquisition

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// choose returns n starts: the best point; then up to n/4 of the best extra points; then
// raw points drawn without replacement, with probability proportional to exp(value/sd),
// so that several basins of attraction are searched.
func choose(raw, extra []visited, n int, rng *rand.Rand) []visited {
	raw, extra = finite(raw), finite(extra)
	byValue := func(a, b visited) int { return compare(-a.value, -b.value) }
	if all := slices.Concat(extra, raw); n == 1 && len(all) > 0 {
		return []visited{slices.MinFunc(all, byValue)}
	}
	slices.SortStableFunc(raw, byValue)
	slices.SortStableFunc(extra, byValue)
	extra = extra[:min(len(extra), max(1, n/4))]

	var mean, sd float64
	for _, v := range raw {
		mean += v.value / float64(len(raw))
	}
	for _, v := range raw {
		sd += (v.value - mean) * (v.value - mean) / float64(len(raw))
	}
	if sd = math.Sqrt(sd); !(sd > 0) {
		sd = 1
	}
	// The points with the largest sums of value/sd and Gumbel noise are such a draw.
	score := make([]float64, len(raw))
	for i, v := range raw {
		score[i] = (v.value-mean)/sd - math.Log(rng.ExpFloat64())
	}
	if len(raw) > 0 {
		score[0] = math.Inf(1)
	}
	order := make([]int, len(raw))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
	var out []visited
	if len(raw) > 0 && (len(extra) == 0 || byValue(raw[0], extra[0]) < 0) {
		out, order = append(out, raw[0]), order[1:]
	}
	out = append(out, extra...)
	for _, i := range order {
		out = append(out, raw[i])
	}
	return out[:min(n, len(out))]
}

// apart returns the best n of vs, leaving out points that are within 1e-3 of a better
// point in every coordinate: they are the same maximum.
func apart(vs []visited, n int) []visited {
	const near = 1e-3
	vs = finite(vs)
	slices.SortStableFunc(vs, func(a, b visited) int { return compare(-a.value, -b.value) })
	var out []visited
	for _, v := range vs {
		if len(out) == n {
			break
		}
		if !slices.ContainsFunc(out, func(w visited) bool { return floats.Distance(v.x, w.x, math.Inf(1)) <= near }) {
			out = append(out, v)
		}
	}
	return out
}

// finite returns the elements of vs with a finite value.
func finite(vs []visited) []visited {
	return slices.DeleteFunc(slices.Clone(vs), func(v visited) bool { return math.IsNaN(v.value) || math.IsInf(v.value, 0) })
}
