package nn

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
)

// setup returns the network 10-50-50-1 and tapes at 500 and at 20 points.
func setup() (n *Network, w []float64, x *mat.Dense, big, small *Tape) {
	rng := random.New(1, "benchmark", 0)
	n = &Network{In: 10, Hidden: []int{50, 50}}
	w, x = n.Init(rng), dense(500, 10, rng)
	return n, w, x, n.Record(w, x), n.Record(w, dense(20, 10, rng))
}

func BenchmarkForward500(b *testing.B) {
	n, w, x, _, _ := setup()
	out := make([]float64, 500)
	for b.Loop() {
		n.Forward(out, w, x)
	}
}

func BenchmarkRecord500(b *testing.B) {
	n, w, x, t, _ := setup()
	b.ReportAllocs()
	for b.Loop() {
		t.Record(n, w, x)
	}
}

// A training step without the optimiser: forward and backward pass, and gradient.
func BenchmarkStep500(b *testing.B) {
	n, w, x, t, _ := setup()
	dw, fbar := make([]float64, n.NumParams()), make([]float64, 500)
	b.ReportAllocs()
	for b.Loop() {
		t.Record(n, w, x)
		for i, f := range t.Value() {
			fbar[i] = f / 500
		}
		clear(dw)
		t.VJP(dw, fbar)
	}
}

// The same step with gonum's products and math.Tanh.
func BenchmarkStep500Gonum(b *testing.B) {
	n, _, x, _, _ := setup()
	rng := random.New(1, "gonum", 0)
	w := []*mat.Dense{dense(n.Hidden[0], n.In, rng), dense(n.Hidden[1], n.Hidden[0], rng), dense(1, n.Hidden[1], rng)}
	a := []*mat.Dense{x, mat.NewDense(500, n.Hidden[0], nil), mat.NewDense(500, n.Hidden[1], nil), mat.NewDense(500, 1, nil)}
	dw, da := make([]*mat.Dense, len(w)), make([]*mat.Dense, len(a))
	bias := make([][]float64, len(w))
	for l := range w {
		dw[l], da[l+1] = mat.DenseCopyOf(w[l]), mat.DenseCopyOf(a[l+1])
		bias[l] = make([]float64, w[l].RawMatrix().Rows)
	}
	for b.Loop() {
		for l := range w {
			a[l+1].Mul(a[l], w[l].T())
			for i := range 500 {
				row := a[l+1].RawRowView(i)
				for j, v := range row {
					row[j] = v + bias[l][j]
					if l < len(w)-1 {
						row[j] = math.Tanh(row[j])
					}
				}
			}
		}
		da[3].Scale(1.0/500, a[3])
		for l := len(w) - 1; ; l-- {
			dw[l].Mul(da[l+1].T(), a[l])
			clear(bias[l])
			for i := range 500 {
				for j, v := range da[l+1].RawRowView(i) {
					bias[l][j] += 1e-9 * v
				}
			}
			if l == 0 {
				break
			}
			da[l].Mul(da[l+1], w[l])
			for i := range 500 {
				row := da[l].RawRowView(i)
				for j, v := range a[l].RawRowView(i) {
					row[j] *= 1 - v*v
				}
			}
		}
	}
}

func BenchmarkJacobian500(b *testing.B) {
	n, _, _, t, _ := setup()
	j := mat.NewDense(500, n.NumParams(), nil)
	for b.Loop() {
		t.Jacobian(j)
	}
}

func BenchmarkKernel500x500(b *testing.B) {
	_, _, _, t, _ := setup()
	k := mat.NewDense(500, 500, nil)
	for b.Loop() {
		Kernel(k, t, t)
	}
}

func BenchmarkKernelSym500(b *testing.B) {
	_, _, _, t, _ := setup()
	k := mat.NewSymDense(500, nil)
	for b.Loop() {
		KernelSym(k, t)
	}
}

func BenchmarkKernel20x500(b *testing.B) {
	_, _, _, t, s := setup()
	k := mat.NewDense(20, 500, nil)
	for b.Loop() {
		Kernel(k, s, t)
	}
}

func BenchmarkKernelVJP20x500(b *testing.B) {
	_, _, _, t, s := setup()
	dx, kbar := mat.NewDense(20, 10, nil), mat.NewDense(20, 500, nil)
	Kernel(kbar, s, t)
	for b.Loop() {
		KernelVJP(dx, s, t, kbar)
	}
}

func BenchmarkTangentGrad20(b *testing.B) {
	n, _, _, _, s := setup()
	dx, u := mat.NewDense(20, 10, nil), dense(20, n.NumParams(), random.New(2, "rows", 0))
	for b.Loop() {
		s.TangentGrad(nil, dx, u)
	}
}

// The kernel between few and many points and its gradient, as in the gradient ascents
// of an acquisition function.
func BenchmarkKernelFew(b *testing.B) {
	for _, m := range []int{1, 4, 16} {
		n, w, x, t, _ := setup()
		s := n.Record(w, mat.DenseCopyOf(x.Slice(0, m, 0, n.In)))
		k, dx := mat.NewDense(m, 500, nil), mat.NewDense(m, n.In, nil)
		run := func(b *testing.B) {
			for b.Loop() {
				Kernel(k, s, t)
				KernelVJP(dx, s, t, k)
			}
		}
		b.Run(fmt.Sprintf("m=%d", m), run)
		t.Transpose()
		b.Run(fmt.Sprintf("m=%d/transposed", m), run)
	}
}
