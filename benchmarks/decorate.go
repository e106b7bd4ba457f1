package benchmarks

import (
	"fmt"
	"math/rand/v2"
)

// Noisy adds N(0, sd²) to every value of o. The noise of the k-th evaluation at a
// point depends on (seed, point, k) only. The order in which different points are
// evaluated does not matter. A new Noisy starts at k = 0. Minimum and Minimizers describe
// the noise-free function.
func Noisy(o Objective, sd float64, seed uint64) Objective {
	o = Perturbed(o, seed, func(_ []float64, f float64, rng *rand.Rand) float64 { return f + sd*rng.NormFloat64() })
	o.Name = "noisy-" + o.Name
	o.Summary += fmt.Sprintf(", with noise of standard deviation %v", sd)
	return o
}

// Perturbed replaces every value f of o at a point x by value(x, f, rng). The random
// stream is a function of (seed, point, k) as in Noisy.
func Perturbed(o Objective, seed uint64, value func(x []float64, f float64, rng *rand.Rand) float64) Objective {
	f, noise := o.Func, newRepeats(seed, "noise")
	o.NoiseFree, o.Latent = false, f
	o.Func = func(x []float64) float64 { return value(x, f(x), noise.next(x)) }
	return o
}

// Embedded places the coordinates of o among dim ≥ o.Dim() coordinates, at random
// places of the seed. The other coordinates lie in [0,1] and have no effect; they are
// ½ in Minimizers.
func Embedded(o Objective, dim int, seed uint64) Objective {
	d := o.Dim()
	if dim < d {
		panic(fmt.Sprintf("benchmarks: %d dimensions embedded in %d", d, dim))
	}
	place := rand.New(rand.NewPCG(seed, 0)).Perm(dim)[:d]
	spread := func(v []float64, idle float64) []float64 {
		out := repeat(idle, dim)
		for j, k := range place {
			out[k] = v[j]
		}
		return out
	}
	lo, hi := spread(o.Lo, 0), spread(o.Hi, 1)
	minimizers := make([][]float64, len(o.Minimizers))
	for i, m := range o.Minimizers {
		minimizers[i] = spread(m, 0.5)
	}
	o.Name, o.Minimizers = fmt.Sprintf("%s-in-%d", o.Name, dim), minimizers
	o.Summary += fmt.Sprintf(", among %d coordinates", dim)
	o = o.through(func(x []float64) []float64 {
		y := make([]float64, d)
		for j, k := range place {
			y[j] = x[k]
		}
		return y
	})
	return o.inBox(lo, hi)
}

// through returns o(inner(x)), with noise-free values likewise.
func (o Objective) through(inner func(x []float64) []float64) Objective {
	f, latent := o.Func, o.Latent
	o.Func = func(x []float64) float64 { return f(inner(x)) }
	if latent != nil {
		o.Latent = func(x []float64) float64 { return latent(inner(x)) }
	}
	return o
}
