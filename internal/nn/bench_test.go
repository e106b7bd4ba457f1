package nn

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/stream"
)

// setup is the network 10-50-50-1 at 500 and at 20 points.
func setup() (n *Network, w []float64, x *mat.Dense, big, small *Tape) {
	rng := stream.New(1, "benchmark", 0)
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

// A training step: the passes and the gradient, without the optimiser.
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

func BenchmarkJVPInputGradRows20(b *testing.B) {
	n, _, _, _, s := setup()
	dx, u := mat.NewDense(20, 10, nil), dense(20, n.NumParams(), stream.New(2, "rows", 0))
	for b.Loop() {
		s.JVPInputGradRows(dx, u)
	}
}
