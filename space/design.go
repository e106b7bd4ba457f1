package space

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Sobol returns the first n ≥ 1 points, a row each, of a Sobol' sequence in
// [0,1)^dim that rng scrambles; NewSobolSequence says how. It is best for n a
// power of two.
func Sobol(n, dim int, rng *rand.Rand) *mat.Dense {
	return NewSobolSequence(dim, rng).Points(n)
}

// Uniform returns n ≥ 1 independent uniform points of [0,1)^dim.
func Uniform(n, dim int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, dim, nil)
	for k, data := 0, x.RawMatrix().Data; k < len(data); k++ {
		data[k] = rng.Float64()
	}
	return x
}

// LatinHypercube returns n ≥ 1 points of [0,1)^dim of which every coordinate has
// one, at a uniform place, in each interval [k/n, (k+1)/n) (McKay, Beckman and Conover
// 1979).
func LatinHypercube(n, dim int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, dim, nil)
	for j := range dim {
		for i, k := range rng.Perm(n) {
			x.Set(i, j, below1((float64(k)+rng.Float64())/float64(n)))
		}
	}
	return x
}

// Halton returns the first n ≥ 1 points of the Halton sequence in [0,1)^dim: column j
// is the radical inverse in the j-th prime. An rng scrambles it by an
// independent random permutation of every digit (Owen 2017, arXiv 1706.02808), without
// which columns of large primes are strongly correlated; a nil rng leaves it plain,
// beginning at 0.
func Halton(n, dim int, rng *rand.Rand) *mat.Dense {
	x, column := mat.NewDense(n, dim, nil), make([]float64, n)
	for j, base := range primes(dim) {
		clear(column)
		for place, scale := 1, 1/float64(base); scale > 0x1p-54; place, scale = place*base, scale/float64(base) {
			perm := identity(base)
			if rng != nil {
				perm = rng.Perm(base)
			}
			for i := range column {
				column[i] += scale * float64(perm[i/place%base])
			}
		}
		for i, u := range column {
			x.Set(i, j, below1(u))
		}
	}
	return x
}

// below1 keeps a sum that rounded up to 1 in [0,1).
func below1(u float64) float64 { return min(u, 1-0x1p-53) }

func identity(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// primes returns the first n primes.
func primes(n int) []int {
	found := make([]int, 0, n)
	for k := 2; len(found) < n; k++ {
		prime := true
		for _, p := range found {
			if p*p > k {
				break
			}
			if k%p == 0 {
				prime = false
				break
			}
		}
		if prime {
			found = append(found, k)
		}
	}
	return found
}
