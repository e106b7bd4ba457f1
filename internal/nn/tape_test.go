package nn

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/functionspace/bo/internal/alloctest"
	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
)

func TestInit(t *testing.T) {
	n := &Network{In: 4, Hidden: []int{100, 200}, Activation: ReLU}
	w := n.Init(random.New(3, t.Name(), 0))
	require.Equal(t, w, n.Init(random.New(3, t.Name(), 0)))
	require.NotEqual(t, w, n.Init(random.New(4, t.Name(), 0)))

	var p params
	p.cut(n.In, n.Hidden, w)
	// The standard deviation of a normal truncated at ±2 is
	// √(1 - 4ϕ(2)/(2Φ(2)-1)) = 0.8796.
	want := math.Sqrt(1 - 4*math.Exp(-2)/math.Sqrt(2*math.Pi)/math.Erf(math.Sqrt2))
	require.InDelta(t, 0.8796, want, 1e-4)
	mean, sd := stat.MeanStdDev(data(&p.w[1]), nil) // 20 000 draws
	require.InDelta(t, 0, mean*10, 0.03)
	require.InDelta(t, want, sd*10, 0.02)
	require.LessOrEqual(t, mat.Max(&p.w[0]), 1.0) // two deviations, fan-in 4
	require.GreaterOrEqual(t, mat.Min(&p.w[0]), -1.0)
	require.Greater(t, mat.Max(&p.w[0]), 0.8)
	for _, b := range append(p.b, p.c) {
		require.Equal(t, make([]float64, len(b)), b)
	}
	require.Len(t, w, 4*100+100+100*200+200+200+1)
}

func TestLinearModel(t *testing.T) {
	n := &Network{In: 2}
	tape := n.Record([]float64{2, -3, 0.5}, mat.NewDense(2, 2, []float64{1, 4, -2, 1}))
	require.Equal(t, []float64{-9.5, -6.5}, tape.Value())
	k := mat.NewDense(2, 2, nil)
	Kernel(k, tape, tape)
	require.Equal(t, []float64{18, 3, 3, 6}, data(k)) // 1 + x·y
}

// everything returns the concatenated results of every method.
func everything(n *Network, s, u *Tape) []float64 {
	rng := random.New(5, "everything", 0)
	p, m := n.NumParams(), s.Len()
	dir, rows, kbar, sbar := normals(p, rng), dense(m, p, rng), dense(m, u.Len(), rng), symmetric(m, rng)
	fbar := normals(m, rng)
	out, dw := make([]float64, m), make([]float64, p)
	dx, k, sym := mat.NewDense(m, n.In, nil), mat.NewDense(m, u.Len(), nil), mat.NewSymDense(m, nil)
	s.InputGrad(dx)
	s.JVPInputGrad(dx, dir)
	s.TangentGrad(nil, dx, rows)
	KernelVJP(dx, s, u, kbar)
	KernelSymVJP(dx, s, sbar)
	KernelDiagVJP(dx, s, fbar)
	s.VJP(dw, fbar)
	s.TangentGrad(dw, nil, rows)
	s.JVP(out, dir)
	Kernel(k, s, u)
	KernelSym(sym, s)
	all := append(data(dx), dw...)
	all = append(append(all, out...), s.Value()...)
	all = append(append(all, data(k)...), sym.RawSymmetric().Data...)
	KernelDiag(out, s)
	return append(all, out...)
}

func TestReuse(t *testing.T) {
	rng := random.New(6, t.Name(), 0)
	var s Tape
	for _, n := range []*Network{
		{In: 3, Hidden: []int{6, 5}}, {In: 2}, {In: 4, Hidden: []int{2, 3, 9}, Activation: Sin}, {In: 3, Hidden: []int{6, 5}, Activation: Erf},
	} {
		for _, m := range []int{4, 1, 9} {
			w, x := n.Init(rng), dense(m, n.In, rng)
			u := n.Record(w, dense(5, n.In, rng))
			s.Record(n, w, x)
			want := everything(n, n.Record(w, x), u)
			require.Equal(t, want, everything(n, &s, u), "a used tape gives the bits of a new one")
			w[0], data(x)[0] = math.NaN(), math.NaN()
			require.Equal(t, want, everything(n, &s, u), "a tape owns what it records")
		}
	}
}

func TestRecordReusesMemory(t *testing.T) {
	rng := random.New(7, t.Name(), 0)
	n := &Network{In: 3, Hidden: []int{8, 8}}
	w, x := n.Init(rng), dense(10, 3, rng)
	s := n.Record(w, x)
	require.Zero(t, alloctest.PerRun(200, func() { s.Record(n, w, x) }))
}

func TestConcurrentUse(t *testing.T) {
	rng := random.New(8, t.Name(), 0)
	n := &Network{In: 3, Hidden: []int{6, 5}, Activation: GELU}
	w := n.Init(rng)
	s, u := n.Record(w, dense(7, 3, rng)), n.Record(w, dense(9, 3, rng))
	want := everything(n, s, u)
	var group sync.WaitGroup
	got := make([][]float64, 8)
	for i := range got {
		group.Go(func() { got[i] = everything(n, s, u) })
	}
	group.Wait()
	for _, g := range got {
		require.Equal(t, want, g)
	}
}

func TestEmptyBatch(t *testing.T) {
	for _, hidden := range [][]int{nil, {4, 3}} {
		n := &Network{In: 2, Hidden: hidden}
		w := n.Init(random.New(9, t.Name(), 0))
		none, some := n.Record(w, new(mat.Dense)), n.Record(w, mat.NewDense(1, 2, nil))
		require.Zero(t, none.Len())
		require.Empty(t, none.Value())
		n.Forward(nil, w, new(mat.Dense))
		none.InputGrad(new(mat.Dense))
		none.JVP(nil, w)
		none.Jacobian(new(mat.Dense))
		none.JVPInputGrad(new(mat.Dense), w)
		none.TangentGrad(nil, new(mat.Dense), new(mat.Dense))
		Kernel(new(mat.Dense), none, some)
		Kernel(new(mat.Dense), some, none)
		KernelSym(new(mat.SymDense), none)
		KernelDiag(nil, none)
		KernelVJP(new(mat.Dense), none, some, new(mat.Dense))
		KernelSymVJP(new(mat.Dense), none, new(mat.SymDense))
		KernelDiagVJP(new(mat.Dense), none, nil)

		dw, dx := make([]float64, len(w)), mat.NewDense(1, 2, nil)
		none.VJP(dw, nil)
		none.HiddenVJP(dw, new(mat.Dense), new(mat.Dense))
		none.TangentGrad(dw, nil, new(mat.Dense))
		KernelVJP(dx, some, none, new(mat.Dense))
		require.Equal(t, make([]float64, len(w)), dw)
		require.Equal(t, []float64{0, 0}, data(dx))
	}
}

// Destinations and arguments may be parts of larger matrices.
func TestViews(t *testing.T) {
	rng := random.New(10, t.Name(), 0)
	n := &Network{In: 3, Hidden: []int{6, 5}}
	w := n.Init(rng)
	wide := dense(8, 5, rng)
	x := wide.Slice(2, 6, 1, 4).(*mat.Dense)
	s, u := n.Record(w, x), n.Record(w, dense(3, 3, rng))
	require.Equal(t, n.Record(w, mat.DenseCopyOf(x)).Value(), s.Value())

	want, in := mat.NewDense(4, 3, nil), dense(9, 9, rng)
	got := in.Slice(1, 5, 2, 5).(*mat.Dense)
	corner := in.At(0, 0)
	Kernel(want, s, u)
	Kernel(got, s, u)
	require.True(t, mat.Equal(want, got))
	k := dense(7, 7, rng).Slice(0, 4, 3, 6).(*mat.Dense)
	s.InputGrad(want)
	s.InputGrad(got)
	KernelVJP(want, s, u, mat.DenseCopyOf(k))
	KernelVJP(got, s, u, k)
	require.True(t, mat.Equal(want, got))
	require.Equal(t, corner, in.At(0, 0))
}

func TestShapePanics(t *testing.T) {
	n := &Network{In: 2, Hidden: []int{3}}
	w := make([]float64, n.NumParams())
	s := n.Record(w, mat.NewDense(2, 2, nil))
	other := (&Network{In: 2, Hidden: []int{4}}).Record(make([]float64, 17), mat.NewDense(2, 2, nil))
	for want, f := range map[string]func(){
		"nn: x has 3 columns, want 2":     func() { n.Record(w, mat.NewDense(1, 3, nil)) },
		"nn: w has length 12, want 13":    func() { n.Record(w[1:], mat.NewDense(1, 2, nil)) },
		"nn: out has length 1, want 2":    func() { s.JVP(make([]float64, 1), w) },
		"nn: dx is 2×3, want 2×2":         func() { s.InputGrad(mat.NewDense(2, 3, nil)) },
		"nn: dst is 0×0, want 2×2":        func() { Kernel(new(mat.Dense), s, s) },
		"nn: kbar is 1×2, want 2×2":       func() { KernelVJP(mat.NewDense(2, 2, nil), s, s, mat.NewDense(1, 2, nil)) },
		"nn: tapes of different networks": func() { Kernel(mat.NewDense(2, 2, nil), s, other) },
		"nn: hidden layer of width 0":     func() { (&Network{In: 1, Hidden: []int{0}}).Init(nil) },
		"nn: network with 0 inputs":       func() { (&Network{}).Init(nil) },
		"nn: activation(9)":               func() { (&Network{In: 2, Hidden: []int{3}, Activation: 9}).Record(w, mat.NewDense(1, 2, nil)) },
		"nn: u is 2×2, want 2×13":         func() { s.TangentGrad(nil, mat.NewDense(2, 2, nil), mat.NewDense(2, 2, nil)) },
		"nn: fbar has length 3, want 2":   func() { s.VJP(w, make([]float64, 3)) },
	} {
		require.PanicsWithValue(t, want, f)
	}
}

func TestLayer(t *testing.T) {
	net := &Network{In: 2, Hidden: []int{3, 4}}
	rng := random.New(1, "layer", 0)
	x := mat.NewDense(2, 2, []float64{0.1, -0.4, 0.7, 0.2})
	tape := net.Record(net.Init(rng), x)
	want := mat.NewDense(2, net.NumParams(), nil)
	tape.Jacobian(want)
	for i := range 2 {
		var got []float64
		for l := range 3 {
			a, delta := tape.Layer(l)
			d := []float64{1}
			if delta != nil {
				d = delta.RawRowView(i)
			}
			for _, v := range append(append([]float64{}, a.RawRowView(i)...), 1) {
				for _, g := range d {
					got = append(got, v*g)
				}
			}
		}
		require.InDeltaSlice(t, want.RawRowView(i), got, 1e-15)
	}
}

func TestHiddenVJP(t *testing.T) {
	eachNetwork(t, func(t *testing.T, n *Network, w []float64, rng *rand.Rand) {
		const m = 4
		x := points(n, w, m, rng)
		a, _ := n.Record(w, x).Layer(len(n.Hidden))
		_, width := a.Dims()
		abar := dense(m, width, rng)
		f := func(w []float64, x *mat.Dense) float64 {
			a, _ := n.Record(w, x).Layer(len(n.Hidden))
			return linalg.Dot(data(mat.DenseCopyOf(a)), data(abar))
		}
		dw, dx := make([]float64, len(w)), mat.NewDense(m, n.In, nil)
		n.Record(w, x).HiddenVJP(dw, dx, abar)
		require.NoError(t, gradcheck.Gradient(func(w []float64) float64 { return f(w, x) }, w, dw, tol))
		require.NoError(t, gradcheck.Gradient(func(v []float64) float64 { return f(w, mat.NewDense(m, n.In, v)) }, data(x), data(dx), tol))
		n.Record(w, x).HiddenVJP(nil, nil, abar)
	})
}
