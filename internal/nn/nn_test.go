package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
)

const tol = 2e-7

// eachNetwork runs f for every activation and for depths 0 to 3.
func eachNetwork(t *testing.T, f func(t *testing.T, n *Network, w []float64, rng *rand.Rand)) {
	for a := range names {
		for _, hidden := range [][]int{nil, {4}, {1}, {5, 3}, {3, 1, 4}} {
			n := &Network{In: 3, Hidden: hidden, Activation: Activation(a)}
			t.Run(fmt.Sprintf("%v%v", n.Activation, hidden), func(t *testing.T) {
				rng := random.New(1, t.Name(), 0)
				f(t, n, safeWeights(n, rng), rng)
			})
		}
	}
}

// safeWeights draws weights and biases of unit scale.
func safeWeights(n *Network, rng *rand.Rand) []float64 {
	w := normals(n.NumParams(), rng)
	for i := range w {
		w[i] *= 0.7
	}
	return w
}

func normals(n int, rng *rand.Rand) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// points draws m rows at which no ReLU is so near its kink that a central difference
// in inputs or weights crosses it.
func points(n *Network, w []float64, m int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(m, n.In, nil)
	for i := range m {
		for try := 0; ; try++ {
			x.SetRow(i, normals(n.In, rng))
			near := false
			for _, z := range n.Record(w, mat.NewDense(1, n.In, x.RawRowView(i))).z {
				for _, v := range data(&z) {
					near = near || math.Abs(v) < 0.02
				}
			}
			if !near {
				break
			}
			if try > 1000 {
				panic("no point clear of the kinks")
			}
		}
	}
	return x
}

func data(m *mat.Dense) []float64 { return m.RawMatrix().Data }

func dense(r, c int, rng *rand.Rand) *mat.Dense { return mat.NewDense(r, c, normals(r*c, rng)) }

func symmetric(n int, rng *rand.Rand) *mat.SymDense { return mat.NewSymDense(n, normals(n*n, rng)) }

func jacobian(t *Tape) *mat.Dense {
	j := mat.NewDense(t.Len(), t.NumParams(), nil)
	t.Jacobian(j)
	return j
}

func TestActivationDerivatives(t *testing.T) {
	z := []float64{-30, -5, -2.5, -1, -0.3, -1e-3, 1e-3, 0.01, 0.7, 1.9, 4, 30}
	for i := range names {
		f := Activation(i)
		a, d, c := make([]float64, len(z)), make([]float64, len(z)), make([]float64, len(z))
		f.apply(a, d, z)
		f.curve(c, z, a, d)
		for k := range z {
			if f == ReLU && math.Abs(z[k]) < 0.1 {
				continue
			}
			part := func(which int) func(x []float64) float64 {
				return func(x []float64) float64 {
					var a, d [1]float64
					f.apply(a[:], d[:], x)
					return []float64{a[0], d[0]}[which]
				}
			}
			require.NoError(t, gradcheck.Gradient(part(0), z[k:k+1], d[k:k+1], 1e-9), "%v′ at %v", f, z[k])
			require.NoError(t, gradcheck.Gradient(part(1), z[k:k+1], c[k:k+1], 1e-9), "%v″ at %v", f, z[k])
		}
		inPlace := slices.Clone(z)
		f.apply(inPlace, nil, inPlace)
		require.Equal(t, a, inPlace)
	}
}

// Values from the definitions, to 16 digits (mpmath 1.3).
func TestActivationValues(t *testing.T) {
	for f, want := range map[Activation][2]float64{
		Tanh: {-0.46211715726000976, 0.9640275800758169},
		ReLU: {0, 2},
		GELU: {-0.15426876936299345, 1.9544997361036416},
		Erf:  {-0.5204998778130465, 0.9953222650189527},
		Sin:  {-0.479425538604203, 0.9092974268256817},
	} {
		var a [2]float64
		f.apply(a[:], nil, []float64{-0.5, 2})
		require.InDeltaSlice(t, want[:], a[:], 1e-15, f.String())
	}
}

func TestByName(t *testing.T) {
	for _, name := range names {
		f, err := ByName(name)
		require.NoError(t, err)
		require.Equal(t, name, f.String())
	}
	_, err := ByName("gleu")
	require.ErrorIs(t, err, ErrActivation)
	require.ErrorContains(t, err, `did you mean gelu?`)
}

func TestForwardByHand(t *testing.T) {
	n := &Network{In: 2, Hidden: []int{2}, Activation: Sin}
	w := []float64{1, 2, 3, 4 /* W */, 0.1, 0.2 /* b */, 5, -6 /* v */, 0.5 /* c */}
	x := mat.NewDense(1, 2, []float64{0.3, -0.7})
	want := 5*math.Sin(0.3-2.1+0.1) - 6*math.Sin(0.6-2.8+0.2) + 0.5
	require.InDelta(t, want, n.Record(w, x).Value()[0], 1e-14)
}

func TestForwardIsRecord(t *testing.T) {
	rng := random.New(2, t.Name(), 0)
	for _, hidden := range [][]int{nil, {7}, {4, 6, 5}} {
		n := &Network{In: 3, Hidden: hidden, Activation: GELU}
		w := n.Init(rng)
		x := dense(forwardRows+9, 3, rng)
		out := make([]float64, forwardRows+9)
		n.Forward(out, w, x)
		require.InDeltaSlice(t, n.Record(w, x).Value(), out, 1e-13)
	}
}

func TestFirstDerivatives(t *testing.T) {
	eachNetwork(t, func(t *testing.T, n *Network, w []float64, rng *rand.Rand) {
		const m = 3
		x := points(n, w, m, rng)
		fbar := normals(m, rng)
		total := func() float64 { return linalg.Dot(fbar, n.Record(w, x).Value()) }
		tape := n.Record(w, x)

		dx := dense(m, n.In, rng)
		tape.InputGrad(dx)
		for i := range m {
			for j := range n.In {
				dx.Set(i, j, fbar[i]*dx.At(i, j))
			}
		}
		require.NoError(t, gradcheck.Gradient(func([]float64) float64 { return total() }, data(x), data(dx), tol))

		dw := make([]float64, n.NumParams())
		tape.VJP(dw, fbar)
		require.NoError(t, gradcheck.Gradient(func([]float64) float64 { return total() }, w, dw, tol))

		j := jacobian(tape)
		byJ := make([]float64, n.NumParams())
		linalg.MulVec(byJ, 1, linalg.T, j, fbar, 0)
		require.InDeltaSlice(t, byJ, dw, 1e-12)
		tape.VJP(dw, fbar)
		linalg.Axpy(-1, byJ, dw)
		require.InDeltaSlice(t, byJ, dw, 1e-12, "VJP adds")

		dir := normals(n.NumParams(), rng)
		out, want := make([]float64, m), make([]float64, m)
		tape.JVP(out, dir)
		linalg.MulVec(want, 1, linalg.N, j, dir, 0)
		require.InDeltaSlice(t, want, out, 1e-12)
	})
}

func TestJVPDerivatives(t *testing.T) {
	eachNetwork(t, func(t *testing.T, n *Network, w []float64, rng *rand.Rand) {
		const m = 3
		x := points(n, w, m, rng)
		dir := normals(n.NumParams(), rng)
		tape := n.Record(w, x)

		dx := mat.NewDense(m, n.In, nil)
		tape.JVPInputGrad(dx, dir)
		require.NoError(t, gradcheck.Gradient(func([]float64) float64 {
			out := make([]float64, m)
			n.Record(w, x).JVP(out, dir)
			return sum(out)
		}, data(x), data(dx), tol))

		same := mat.NewDense(m, n.NumParams(), nil)
		for i := range m {
			same.SetRow(i, dir)
		}
		rowwise := mat.NewDense(m, n.In, nil)
		tape.TangentGrad(nil, rowwise, same)
		require.True(t, mat.EqualApprox(dx, rowwise, 1e-12))

		u := dense(m, n.NumParams(), rng)
		contraction := func([]float64) float64 { return linalg.Dot(data(jacobian(n.Record(w, x))), data(u)) }
		dx.Zero()
		tape.TangentGrad(nil, dx, u)
		require.NoError(t, gradcheck.Gradient(contraction, data(x), data(dx), tol))
		dw := make([]float64, n.NumParams())
		tape.TangentGrad(dw, nil, u)
		require.NoError(t, gradcheck.Gradient(contraction, w, dw, tol))
	})
}

func sum(v []float64) (s float64) {
	for _, v := range v {
		s += v
	}
	return s
}

func TestKernelIsJacobianProduct(t *testing.T) {
	eachNetwork(t, func(t *testing.T, n *Network, w []float64, rng *rand.Rand) {
		s, u := n.Record(w, dense(kernelRows+5, n.In, rng)), n.Record(w, dense(7, n.In, rng))
		var want, wantSym mat.Dense
		want.Mul(jacobian(s), jacobian(u).T())
		wantSym.Mul(jacobian(s), jacobian(s).T())
		got := dense(s.Len(), u.Len(), rng)
		Kernel(got, s, u)
		require.True(t, mat.EqualApprox(&want, got, 1e-11))
		sym := symmetric(s.Len(), rng)
		KernelSym(sym, s)
		require.True(t, mat.EqualApprox(&wantSym, sym, 1e-11))
		diag := normals(s.Len(), rng)
		KernelDiag(diag, s)
		for i, d := range diag {
			require.InDelta(t, wantSym.At(i, i), d, 1e-11)
		}
	})
}

func TestKernelDerivatives(t *testing.T) {
	eachNetwork(t, func(t *testing.T, n *Network, w []float64, rng *rand.Rand) {
		const p, q = 3, 2
		x, y := points(n, w, p, rng), points(n, w, q, rng)
		s, u := n.Record(w, x), n.Record(w, y)
		kbar := dense(p, q, rng)
		cross := func([]float64) float64 {
			k := mat.NewDense(p, q, nil)
			Kernel(k, n.Record(w, x), n.Record(w, y))
			return linalg.Dot(data(k), data(kbar))
		}
		dx := mat.NewDense(p, n.In, nil)
		KernelVJP(dx, s, u, kbar)
		require.NoError(t, gradcheck.Gradient(cross, data(x), data(dx), tol))

		sbar := symmetric(p, rng)
		dx.Zero()
		KernelSymVJP(dx, s, sbar)
		require.NoError(t, gradcheck.Gradient(func([]float64) float64 {
			k := mat.NewSymDense(p, nil)
			KernelSym(k, n.Record(w, x))
			var total float64
			for i := range p {
				for j := range p {
					total += sbar.At(i, j) * k.At(i, j)
				}
			}
			return total
		}, data(x), data(dx), tol))

		dbar := normals(p, rng)
		dx.Zero()
		KernelDiagVJP(dx, s, dbar)
		require.NoError(t, gradcheck.Gradient(func([]float64) float64 {
			d := make([]float64, p)
			KernelDiag(d, n.Record(w, x))
			return linalg.Dot(d, dbar)
		}, data(x), data(dx), tol))
	})
}

// Transposes change the computation of products, not the kernel. Record drops them.
func TestTranspose(t *testing.T) {
	n, w, x, big, small := setup()
	kernels := func() (k, dx *mat.Dense) {
		k, dx = mat.NewDense(small.Len(), big.Len(), nil), mat.NewDense(small.Len(), n.In, nil)
		Kernel(k, small, big)
		KernelVJP(dx, small, big, k)
		return k, dx
	}
	k, dx := kernels()
	big.Transpose()
	kT, dxT := kernels()
	require.True(t, mat.EqualApprox(k, kT, 1e-12))
	require.True(t, mat.EqualApprox(dx, dxT, 1e-9))

	x.Scale(0.5, x)
	big.Record(n, w, x)
	k, _ = kernels()
	big.Transpose()
	kT, _ = kernels()
	require.True(t, mat.EqualApprox(k, kT, 1e-12))
}

func TestLayersCoverAllParameters(t *testing.T) {
	net := &Network{In: 3, Hidden: []int{5, 2}}
	require.Equal(t, []Layer{{0, 3, 5}, {20, 5, 2}, {32, 2, 1}}, net.Layers())
	require.Equal(t, 35, net.NumParams())
	require.Equal(t, []Layer{{0, 3, 1}}, (&Network{In: 3}).Layers())
}
