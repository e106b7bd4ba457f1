package space

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Sobol returns the first n ≥ 1 points, a row each, of a Sobol sequence in [0,1)^dim.
// It covers the cube best if n is a power of two.
//
// With an rng the sequence is scrambled to 53 binary digits. In every dimension a random lower-triangular
// matrix over GF(2) and a digital shift scramble it (Matoušek 1998). Each point is then uniform, digital nets
// stay nets, and an integral has the variance of Owen's scrambling. With a nil rng the sequence is plain and
// begins at 0.
//
// The direction numbers of Joe and Kuo (2008) serve 1111 dimensions. Further dimensions
// are independent uniform numbers. Sobol panics if n exceeds 2^32, or if dim exceeds 1111
// and rng is nil.
func Sobol(n, dim int, rng *rand.Rand) *mat.Dense {
	return newSobolSequence(n, dim, rng).points(n)
}

// Uniform returns n ≥ 1 independent uniform points of [0,1)^dim, a row each.
func Uniform(n, dim int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, dim, nil)
	for k, data := 0, x.RawMatrix().Data; k < len(data); k++ {
		data[k] = rng.Float64()
	}
	return x
}

// LatinHypercube returns n ≥ 1 points of [0,1)^dim, a row each. In every coordinate each
// interval [k/n, (k+1)/n) contains one point, uniformly distributed in it (McKay, Beckman
// and Conover 1979).
func LatinHypercube(n, dim int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, dim, nil)
	for j := range dim {
		for i, k := range rng.Perm(n) {
			x.Set(i, j, below1((float64(k)+rng.Float64())/float64(n)))
		}
	}
	return x
}

// Halton returns the first n ≥ 1 points, a row each, of the Halton sequence in [0,1)^dim:
// column j is the radical inverse in the j-th prime. With an rng every digit is scrambled
// by an independent random permutation (Owen 2017, arXiv 1706.02808); without scrambling,
// columns of large primes are strongly correlated. With a nil rng the sequence is plain
// and begins at 0.
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

// below1 bounds u by the largest number below 1, for sums that round up to 1.
func below1(u float64) float64 { return min(u, 1-0x1p-53) }

// identity returns the permutation 0, 1, …, n-1.
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
