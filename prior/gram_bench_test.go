package prior

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
)

// plainCross is a direct implementation of the Matérn-5/2 cross matrix.
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

// Matérn-5/2 with a lengthscale per input between 10 000 and 1 000 points, and the
// direct loops: medians of nanoseconds per pair on one core. They alternate every 0.1 ms,
// after 50 rows or 5 rows of the direct loops, so that other load affects all of them.
func BenchmarkMatern52(b *testing.B) {
	const n, m, d, rows, few = 10000, 1000, 6, 50, 5
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := points(rng, n, d), points(rng, m, d)
	all, bars, dxs := mat.NewDense(n, m, nil), mat.NewDense(n, m, normals(rng, n*m)), mat.NewDense(n, d, nil)
	k := varied(Matern52(d)).(stationary)
	square := points(rng, 320, d)
	gram, gbar, dtheta := mat.NewSymDense(320, nil), symmetric(rng, 320), make([]float64, d)
	inv, at := inverse(k.spread(0)), 0
	taped, theta := k.tape(square), k.spread(0)
	block := func(m *mat.Dense, rows int) *mat.Dense {
		_, c := m.Dims()
		return m.Slice(at, at+rows, 0, c).(*mat.Dense)
	}
	cases := []struct {
		name  string
		pairs float64
		f     func()
	}{
		{"plain", few * m, func() { plainCross(block(all, few), block(x, few), y, k.spread(0)) }},
		{"plain-reciprocal", few * m, func() { reciprocalCross(block(all, few), block(x, few), y, inv) }},
		{"cross", rows * m, func() { k.Cross(block(all, rows), block(x, rows), y) }},
		{"cross-vjp", rows * m, func() { k.CrossVJP(block(dxs, rows), block(x, rows), y, block(bars, rows)) }},
		{"gram", 320 * 321 / 2, func() { k.Gram(gram, square) }},
		{"gram-and-param-vjp", 320 * 321 / 2, func() { taped.gram(gram, theta); taped.pull(dtheta, gbar) }},
	}
	k.Cross(all, x, y) // touches all pages first
	times := make([][]float64, len(cases))
	for b.Loop() {
		for i, c := range cases {
			start := time.Now()
			c.f()
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/c.pairs)
		}
		at = (at + rows) % n
	}
	for i, t := range times {
		slices.Sort(t)
		b.ReportMetric(t[len(t)/2], cases[i].name+"-ns/pair")
	}
	b.ReportMetric(0, "ns/op")
}
