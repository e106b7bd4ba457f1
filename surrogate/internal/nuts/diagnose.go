package nuts

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// RHat returns the rank-normalised split R̂ of a quantity in chains of equal length: the
// larger R̂ of the ranks of its values and of the ranks of their distances from the
// median (Vehtari et al. 2021, section 4.1). Chains that agree have 1, and so does a
// constant.
func RHat(chains [][]float64) float64 {
	halves := split(chains)
	all := slices.Concat(halves...)
	slices.Sort(all)
	if constant(all) {
		return 1
	}
	n := len(all)
	median := (all[(n-1)/2] + all[n/2]) / 2
	folded := make([][]float64, len(halves))
	for i, h := range halves {
		folded[i] = make([]float64, len(h))
		for j, v := range h {
			folded[i][j] = math.Abs(v - median)
		}
	}
	return max(ratio(normalised(halves)), ratio(normalised(folded)))
}

// ESS returns the bulk effective sample size of a quantity in chains of equal length:
// the effective sample size of its normalised ranks, by Geyer's initial monotone
// sequence of autocorrelations (Vehtari et al. 2021, eq. 9 to 13). For a constant it is
// the number of draws.
func ESS(chains [][]float64) float64 {
	z := normalised(split(chains))
	m, n := float64(len(z)), float64(len(z[0]))
	if constant(slices.Concat(z...)) {
		return m * n
	}
	within, plus := variances(z)
	means := make([]float64, len(z))
	for i, c := range z {
		means[i] = stat.Mean(c, nil)
	}
	rho := func(lag int) float64 {
		if lag == 0 {
			return 1
		}
		var mean float64
		for i, c := range z {
			var sum float64
			for t, v := range c[lag:] {
				sum += (v - means[i]) * (c[t] - means[i])
			}
			mean += sum / (m * n)
		}
		return 1 - (within-mean)/plus
	}
	tau, least := -1.0, math.Inf(1)
	for lag := 0; lag+1 < len(z[0]); lag += 2 {
		even, odd := rho(lag), rho(lag+1)
		if !(even+odd > 0) || lag+4 >= len(z[0]) {
			tau += max(even, 0)
			break
		}
		least = min(least, even+odd)
		tau += 2 * least
	}
	return m * n / max(tau, 1/math.Log10(m*n))
}

// split divides each chain into halves, without the middle draw of an odd number.
func split(chains [][]float64) [][]float64 {
	var out [][]float64
	for _, c := range chains {
		h := len(c) / 2
		out = append(out, c[:h], c[len(c)-h:])
	}
	return out
}

func constant(v []float64) bool { return slices.Max(v)-slices.Min(v) < 1e-15 }

// normalised replaces values by the normal scores of their ranks among all values. Equal
// values get their mean rank.
func normalised(chains [][]float64) [][]float64 {
	type entry struct {
		value float64
		to    *float64
	}
	var all []entry
	out := make([][]float64, len(chains))
	for i, c := range chains {
		out[i] = make([]float64, len(c))
		for j, v := range c {
			all = append(all, entry{v, &out[i][j]})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.value, b.value) })
	for i := 0; i < len(all); {
		k := i + 1
		for k < len(all) && all[k].value == all[i].value {
			k++
		}
		rank := float64(i+1+k) / 2
		z := distuv.UnitNormal.Quantile((rank - 3./8) / (float64(len(all)) + 1./4))
		for ; i < k; i++ {
			*all[i].to = z
		}
	}
	return out
}

// variances returns the variance within chains and the pooled estimate.
func variances(chains [][]float64) (within, plus float64) {
	m, n := float64(len(chains)), float64(len(chains[0]))
	means := make([]float64, len(chains))
	for i, c := range chains {
		var v float64
		means[i], v = stat.MeanVariance(c, nil)
		within += v / m
	}
	return within, within*(n-1)/n + stat.Variance(means, nil)
}

// ratio returns R̂, 1 if all values are equal.
func ratio(chains [][]float64) float64 {
	within, plus := variances(chains)
	if plus == 0 {
		return 1
	}
	return math.Sqrt(plus / within)
}
