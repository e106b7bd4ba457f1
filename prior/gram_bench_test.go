package prior

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// plainCross is the Matérn-5/2 cross matrix as one writes it down.
func plainCross(dst, x, y *mat.Dense, ls []float64) {
	n, d := x.Dims()
	m, _ := y.Dims()
	for i := range n {
		xi, row := x.RawRowView(i), dst.RawRowView(i)
		for j := range m {
			yj := y.RawRowView(j)
			var s float64
			for c := range d {
				t := (xi[c] - yj[c]) / ls[c]
				s += t * t
			}
			a := math.Sqrt(5 * s)
			row[j] = (1 + a + a*a/3) * math.Exp(-a)
		}
	}
}

// reciprocalCross is plainCross with 1/ℓ computed once.
func reciprocalCross(dst, x, y *mat.Dense, inv []float64) {
	n, _ := x.Dims()
	m, _ := y.Dims()
	for i := range n {
		xi, row := x.RawRowView(i), dst.RawRowView(i)
		for j := range m {
			yj := y.RawRowView(j)
			var s float64
			for c, v := range xi {
				t := (v - yj[c]) * inv[c]
				s += t * t
			}
			a := math.Sqrt(5 * s)
			row[j] = (1 + a + 5*s/3) * math.Exp(-a)
		}
	}
}

// Matérn-5/2 with a lengthscale per input between 10 000 and 1 000 points, and
// plain loops in the same run; one core.
func BenchmarkMatern52(b *testing.B) {
	const n, m, d = 10000, 1000, 6
	rng := rand.New(rand.NewPCG(1, 1))
	x, y, dst := points(rng, n, d), points(rng, m, d), mat.NewDense(n, m, nil)
	k := varied(Matern52(d)).(stationary)
	square, sym, kbar := points(rng, m, d), mat.NewSymDense(m, nil), symmetric(rng, m)
	bar, dx, dtheta := mat.NewDense(n, m, normals(rng, n*m)), mat.NewDense(n, d, nil), make([]float64, d)
	perPair := func(name string, pairs int, f func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pairs), "ns/pair")
		})
	}
	perPair("Cross", n*m, func() { k.Cross(dst, x, y) })
	perPair("Cross plain", n*m, func() { plainCross(dst, x, y, k.spread(0)) })
	perPair("Cross reciprocal", n*m, func() { reciprocalCross(dst, x, y, inverse(k.spread(0))) })
	perPair("Gram", m*m/2, func() { k.Gram(sym, square) })
	perPair("Gram and ParamVJP", m*m/2, func() { k.tape(nil, sym, square)(dtheta, kbar) })
	perPair("CrossVJP", n*m, func() { k.CrossVJP(dx, x, y, bar) })
}
