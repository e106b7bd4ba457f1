package network

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/gradcheck"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
)

// architectures have three inputs, and together every node.
func architectures() map[string]Func {
	rng := random.New(1, "architecture", 0)
	frequencies := mat.NewDense(3, 4, nil)
	random.Normal(frequencies.RawMatrix().Data, rng)
	square := func(dst, x *mat.Dense) {
		for i := range x.RawMatrix().Rows {
			r := x.RawRowView(i)
			dst.SetRow(i, []float64{r[0] * r[1], r[2] * r[2]})
		}
	}
	squareVJP := func(dx, x, bar *mat.Dense) {
		for i := range x.RawMatrix().Rows {
			r, b, d := x.RawRowView(i), bar.RawRowView(i), dx.RawRowView(i)
			d[0] += b[0] * r[1]
			d[1] += b[0] * r[0]
			d[2] += 2 * b[1] * r[2]
		}
	}
	gated := func(x Node) Node {
		h := x.Dense(4, 0.3).Apply(GELU)
		return h.Mul(x.Dense(4, 0.2).Apply(Erf)).Dense(1, 0)
	}
	return map[string]Func{
		"linear":   FullyConnected(nil, Tanh, 0.5),
		"tanh":     FullyConnected([]int{5, 4}, Tanh, 0.5),
		"sin":      FullyConnected([]int{5, 4}, Sin, 0.5),
		"erf":      FullyConnected([]int{5, 4}, Erf, 0.5),
		"gelu":     FullyConnected([]int{5, 4}, GELU, 0.5),
		"gated":    gated,
		"periodic": func(x Node) Node { return gated(x.Columns(0, 2).Periodic(1.5, 2).Concat(x.Columns(2, 3))) },
		"fourier":  func(x Node) Node { return gated(x.Fourier(frequencies)) },
		"map":      func(x Node) Node { return gated(x.Map(2, square, squareVJP)) },
		"residual": func(x Node) Node {
			h := x.Affine(mat.NewDiagDense(3, []float64{1, 2, 3}), []float64{0.1, 0, -0.1}).Dense(5, 0.5).Apply(Tanh)
			return h.Dense(5, 0.5).Apply(Sin).Add(h).Dense(1, 0)
		},
		"helmholtz": Helmholtz(FullyConnected([]int{4, 3}, Tanh, 0.5), FullyConnected([]int{5}, GELU, 0.5)),
		"periodic stream": Helmholtz(nil, func(p Node) Node {
			return FullyConnected([]int{4}, Erf, 0.5)(p.Periodic(3))
		}),
		"second derivative": func(x Node) Node {
			one := x.Columns(0, 1).Affine(mat.NewDense(1, 3, nil), []float64{1, 0, 0})
			u := FullyConnected([]int{4, 3}, Tanh, 0.5)(x)
			return u.Along(x, one).Along(x, one).Add(u.Mul(u))
		},
	}
}

func build(t *testing.T, f Func) (Network, []float64, *mat.Dense) {
	t.Helper()
	net, err := f.Network(3)
	require.NoError(t, err)
	x := mat.NewDense(6, 3, nil)
	random.Normal(x.RawMatrix().Data, random.New(2, "points", 0))
	w := net.Init(0.3, random.New(3, "weights", 0))
	require.Len(t, w, net.NumParams())
	return net, w, x
}

// The derivatives agree with differences of values and of Jacobians.
func TestDerivatives(t *testing.T) {
	for name, f := range architectures() {
		t.Run(name, func(t *testing.T) {
			net, w, x := build(t, f)
			m, d := x.Dims()
			p := net.NumParams()
			tape := net.Record(w, x)
			rng := random.New(4, "directions", 0)
			draw := func(n int) []float64 {
				v := make([]float64, n)
				random.Normal(v, rng)
				return v
			}
			bar, dir := draw(m), draw(p)
			u := mat.NewDense(m, p, draw(m*p))
			j := mat.NewDense(m, p, nil)
			tape.Jacobian(j)

			sum := func(a, b []float64) (s float64) {
				for i := range a {
					s += a[i] * b[i]
				}
				return s
			}
			ofWeights := func(w []float64) float64 { return sum(bar, net.Record(w, x).Value()) }
			dw := make([]float64, p)
			tape.VJP(dw, bar)
			require.NoError(t, gradcheck.Gradient(ofWeights, w, dw, 1e-6))
			for k := range p { // rows of J
				var s float64
				for i := range m {
					s += bar[i] * j.At(i, k)
				}
				require.InDelta(t, dw[k], s, 1e-10)
			}
			jvp := make([]float64, m)
			tape.JVP(jvp, dir)
			for i := range m {
				require.InDelta(t, sum(j.RawRowView(i), dir), jvp[i], 1e-10)
			}

			atPoints := func(v []float64) Tape { return net.Record(w, mat.NewDense(m, d, v)) }
			dx := mat.NewDense(m, d, nil)
			tape.InputGrad(dx)
			values := func(v []float64) (s float64) {
				for _, f := range atPoints(v).Value() {
					s += f
				}
				return s
			}
			require.NoError(t, gradcheck.Gradient(values, x.RawMatrix().Data, dx.RawMatrix().Data, 1e-6))

			tangents := func(t Tape) float64 {
				j := mat.NewDense(m, p, nil)
				t.Jacobian(j)
				return sum(j.RawMatrix().Data, u.RawMatrix().Data)
			}
			dw = make([]float64, p)
			dx.Zero()
			tape.TangentGrad(dw, dx, u)
			require.NoError(t, gradcheck.Gradient(func(w []float64) float64 { return tangents(net.Record(w, x)) }, w, dw, 1e-6))
			require.NoError(t, gradcheck.Gradient(func(v []float64) float64 { return tangents(atPoints(v)) }, x.RawMatrix().Data, dx.RawMatrix().Data, 1e-6))

			onlyW, onlyX := make([]float64, p), mat.NewDense(m, d, nil)
			tape.TangentGrad(onlyW, nil, u)
			tape.TangentGrad(nil, onlyX, u)
			require.Equal(t, dw, onlyW)
			require.True(t, mat.EqualApprox(dx, onlyX, 1e-12))

			// The network is affine in its last weights.
			k := net.Linear()
			if name == "second derivative" { // it contains a square
				require.Zero(t, k)
				return
			}
			require.Positive(t, k)
			moved := append([]float64(nil), w...)
			for i := p - k; i < p; i++ {
				moved[i] += dir[i]
			}
			other := mat.NewDense(m, p, nil)
			net.Record(moved, x).Jacobian(other)
			require.True(t, mat.EqualApprox(j.Slice(0, m, p-k, p), other.Slice(0, m, p-k, p), 1e-12))
		})
	}
}

// A fully connected Func and package nn are the same function of the same vector of weights.
func TestFullyConnectedAgreesWithNN(t *testing.T) {
	for _, name := range []string{"tanh", "relu", "gelu", "erf", "sin"} {
		f := map[string]Activation{"tanh": Tanh, "relu": ReLU, "gelu": GELU, "erf": Erf, "sin": Sin}[name]
		for _, hidden := range [][]int{nil, {7}, {6, 5}} {
			net, w, x := build(t, FullyConnected(hidden, f, 0.5))
			reference, err := nn.New(3, hidden, name)
			require.NoError(t, err)
			require.Equal(t, reference.NumParams(), net.NumParams())
			require.Equal(t, reference.Outputs(), net.Linear())
			tape, want := net.Record(w, x), reference.Record(w, x)
			require.InDeltaSlice(t, want.Value(), tape.Value(), 1e-12)
			j := mat.NewDense(6, net.NumParams(), nil)
			tape.Jacobian(j)
			require.True(t, mat.EqualApprox(want.NewJacobian(), j, 1e-12))
			u := mat.NewDense(6, net.NumParams(), nil)
			random.Normal(u.RawMatrix().Data, random.New(5, "u", 0))
			dx, wantDx := mat.NewDense(6, 3, nil), mat.NewDense(6, 3, nil)
			dw, wantDw := make([]float64, net.NumParams()), make([]float64, net.NumParams())
			tape.TangentGrad(dw, dx, u)
			want.TangentGrad(nil, wantDx, u)
			want.TangentGrad(wantDw, nil, u)
			require.True(t, mat.EqualApprox(wantDx, dx, 1e-11))
			require.InDeltaSlice(t, wantDw, dw, 1e-11)
		}
	}
}

// The derivatives of activations agree with differences, to order 4.
func TestActivations(t *testing.T) {
	for name, f := range map[string]Activation{"tanh": Tanh, "gelu": GELU, "erf": Erf, "sin": Sin} {
		at := func(z float64) [6]float64 {
			d := make([][]float64, 6)
			for k := range d {
				d[k] = make([]float64, 1)
			}
			f(d, []float64{z})
			var out [6]float64
			for k := range out {
				out[k] = d[k][0]
			}
			return out
		}
		const h = 1e-4
		for _, z := range []float64{-2.3, -0.4, 0, 0.7, 1.9} {
			lo, mid, hi := at(z-h), at(z), at(z+h)
			for k := range 5 {
				assert.InDelta(t, (hi[k]-lo[k])/(2*h), mid[k+1], 1e-5*math.Max(1, math.Abs(mid[k+1])), "%s, order %d at %v", name, k+1, z)
			}
		}
		for orders := 1; orders < 4; orders++ {
			d := make([][]float64, orders)
			for k := range d {
				d[k] = make([]float64, 1)
			}
			f(d, []float64{0.7})
			for k := range d {
				assert.Equal(t, at(0.7)[k], d[k][0])
			}
		}
	}
	d := [][]float64{make([]float64, 3), make([]float64, 3), make([]float64, 3)}
	ReLU(d, []float64{-1, 0, 2})
	assert.Equal(t, [][]float64{{0, 0, 2}, {0, 0, 1}, {0, 0, 0}}, d)
}

// The parts of a Helmholtz network have no curl and no divergence, for any weights.
func TestHelmholtz(t *testing.T) {
	potential, stream := FullyConnected([]int{6, 5}, Tanh, 0.5), FullyConnected([]int{6}, Sin, 0.5)
	for name, c := range map[string]struct {
		f          Func
		curl, flow bool // vanish
	}{"potential": {Helmholtz(potential, nil), true, false}, "stream": {Helmholtz(nil, stream), false, true}, "both": {Helmholtz(potential, stream), false, false}} {
		net, err := c.f.Network(3)
		require.NoError(t, err)
		w := net.Init(0, random.New(7, "weights", 0))
		x := mat.NewDense(2, 3, []float64{0.3, -0.7, 0, 0.3, -0.7, 1})
		dx := mat.NewDense(2, 3, nil)
		net.Record(w, x).InputGrad(dx)
		assert.Equal(t, c.curl, math.Abs(dx.At(1, 0)-dx.At(0, 1)) < 1e-12, name)
		assert.Equal(t, c.flow, math.Abs(dx.At(0, 0)+dx.At(1, 1)) < 1e-12, name)
	}

	// The velocity is the gradient of the potential.
	net, err := Helmholtz(potential, nil).Network(3)
	require.NoError(t, err)
	alone, err := potential.Network(2)
	require.NoError(t, err)
	w := net.Init(0, random.New(7, "weights", 0))
	dx := mat.NewDense(1, 2, nil)
	alone.Record(w, mat.NewDense(1, 2, []float64{0.3, -0.7})).InputGrad(dx)
	require.InDeltaSlice(t, dx.RawRowView(0), net.Record(w, mat.NewDense(2, 3, []float64{0.3, -0.7, 0, 0.3, -0.7, 1})).Value(), 1e-14)
}

// A periodic network has the same value one period on.
func TestPeriodic(t *testing.T) {
	net, err := Func(func(x Node) Node { return FullyConnected([]int{5}, Tanh, 0.5)(x.Periodic(0.7)) }).Network(1)
	require.NoError(t, err)
	v := net.Record(net.Init(0, random.New(1, "w", 0)), mat.NewDense(2, 1, []float64{0.2, 0.9})).Value()
	require.InDelta(t, v[0], v[1], 1e-12)
}

func TestInit(t *testing.T) {
	net, err := FullyConnected([]int{400}, Tanh, 0.5).Network(4)
	require.NoError(t, err)
	w := net.Init(2.5, random.New(1, "w", 0))
	require.Equal(t, 2.5, w[len(w)-1])
	var squares, biases float64
	for _, v := range w[:1600] {
		squares += v * v / 1600
		require.LessOrEqual(t, math.Abs(v), 1.0)
	}
	for _, v := range w[1600:2000] {
		biases += v * v / 400
	}
	require.InEpsilon(t, 0.8796/2, math.Sqrt(squares), 0.05)
	require.InEpsilon(t, 0.5, math.Sqrt(biases), 0.1)
}

func TestErrors(t *testing.T) {
	eval := func(dst, x *mat.Dense) { dst.Copy(x) }
	vjp := func(dx, _, bar *mat.Dense) { dx.Add(dx, bar) }
	var stray Node
	_, _ = Func(func(x Node) Node { stray = x; return x.Dense(1, 0) }).Network(2)
	for want, f := range map[string]Func{
		"network: the function did not return a node of its inputs":                                                  func(Node) Node { return Node{} },
		"network: the function returned a node of 2 columns, want 1":                                                 func(x Node) Node { return x },
		"network: the function has no weights":                                                                       func(x Node) Node { return x.Columns(0, 1) },
		"network: Dense of 0 columns, want at least 1":                                                               func(x Node) Node { return x.Dense(0, 1).Apply(Tanh).Dense(1, 0) },
		"network: a Func that is nil":                                                                                nil,
		"network: Dense with the bias NaN, want a number that is 0 or more":                                          func(x Node) Node { return x.Dense(3, math.NaN()).Apply(Tanh).Dense(1, 0) },
		"network: Dense with the bias -1, want a number that is 0 or more":                                           func(x Node) Node { return x.Dense(3, -1).Apply(Tanh).Dense(1, 0) },
		"network: Dense with the bias +Inf, want a number that is 0 or more":                                         func(x Node) Node { return x.Dense(1, math.Inf(1)) },
		"network: Apply of an Activation that is nil":                                                                FullyConnected([]int{3}, nil, 0),
		"network: Affine by a matrix that is nil":                                                                    func(x Node) Node { return x.Affine(nil, nil).Dense(1, 0) },
		"network: Fourier with frequencies that are nil":                                                             func(x Node) Node { return x.Fourier(nil).Dense(1, 0) },
		"network: Map of a function that is nil":                                                                     func(x Node) Node { return x.Map(2, eval, nil).Dense(1, 0) },
		"network: Add of 2 and 3 columns":                                                                            func(x Node) Node { return x.Add(x.Dense(3, 0)) },
		"network: Mul of 3 and 2 columns":                                                                            func(x Node) Node { return x.Dense(3, 0).Mul(x) },
		"network: Columns 1 to 3 of 2":                                                                               func(x Node) Node { return x.Columns(1, 3).Dense(1, 0) },
		"network: Affine of 2 columns by a 3×1 matrix and 0 numbers":                                                 func(x Node) Node { return x.Affine(mat.NewDense(3, 1, nil), nil) },
		"network: Fourier of 2 columns with 1 rows of frequencies":                                                   func(x Node) Node { return x.Fourier(mat.NewDense(1, 2, nil)) },
		"network: Periodic of 2 columns with 3 periods":                                                              func(x Node) Node { return x.Periodic(1, 2, 3) },
		"network: Periodic with the period -1, want a positive number":                                               func(x Node) Node { return x.Periodic(-1) },
		"network: Map of a node that depends on weights":                                                             func(x Node) Node { return x.Dense(2, 0).Map(2, eval, vjp).Dense(1, 0) },
		"network: Map to 0 columns, want at least 1":                                                                 func(x Node) Node { return x.Map(0, eval, vjp).Dense(1, 0) },
		"network: Along of a Map":                                                                                    func(x Node) Node { return x.Map(2, eval, vjp).Dense(1, 0).Along(x, x) },
		"network: Along 1 columns of a node of 2":                                                                    func(x Node) Node { return x.Dense(1, 0).Along(x, x.Columns(0, 1)) },
		"network: a node of another network":                                                                         func(x Node) Node { return x.Add(stray).Dense(1, 0) },
		"network: Helmholtz of 2 inputs, want 2 coordinates and the component, and a potential or a stream function": Helmholtz(FullyConnected(nil, Tanh, 0), nil),
	} {
		_, err := f.Network(2)
		assert.EqualError(t, err, want)
	}
	_, err := FullyConnected(nil, Tanh, 0).Network(0)
	require.EqualError(t, err, "network: 0 inputs, want at least 1")

	// A derivative with respect to what a node does not depend on is 0.
	net, err := Func(func(x Node) Node { return x.Dense(1, 0).Along(x.Columns(0, 1), x.Columns(1, 2)).Add(x.Dense(1, 0)) }).Network(2)
	require.NoError(t, err)
	require.Equal(t, 6, net.NumParams())
}

// No rows are accepted.
func TestNoRows(t *testing.T) {
	net, err := FullyConnected([]int{3}, Tanh, 0).Network(2)
	require.NoError(t, err)
	w := net.Init(0, rand.New(rand.NewPCG(1, 1)))
	tape := net.Record(w, new(mat.Dense))
	require.Empty(t, tape.Value())
	dw := make([]float64, len(w))
	tape.VJP(dw, nil)
	require.Equal(t, make([]float64, len(w)), dw)
}
