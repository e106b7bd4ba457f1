package domain

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/network"
)

// Package nn computes the same for an architecture and for its own network with the same layers.
func TestArchitectureAgreesWithLayers(t *testing.T) {
	own, err := Build(surrogate.Network{Hidden: []int{6, 5}, Activation: "gelu"}, 3)
	require.NoError(t, err)
	other, err := Build(surrogate.Network{Architecture: network.FullyConnected([]int{6, 5}, network.GELU, 0.5)}, 3)
	require.NoError(t, err)
	require.Equal(t, own.NumParams(), other.NumParams())
	require.Equal(t, own.Outputs(), other.Outputs())
	require.Len(t, other.InitBiased(1, 1, 2, random.New(1, "w", 0)), own.NumParams())
	w, p, k := own.InitBiased(0.5, 1, 0.2, random.New(1, "w", 0)), own.NumParams(), own.Outputs()
	x, y := space.Uniform(5, 3, random.New(1, "x", 0)), space.Uniform(4, 3, random.New(1, "y", 0))
	draw := func(r, c int) *mat.Dense {
		m := mat.NewDense(r, c, nil)
		random.Normal(m.RawMatrix().Data, random.New(1, "draw", r*c))
		return m
	}

	// results returns everything that package nn computes.
	results := func(n *nn.Network) (out []*mat.Dense) {
		s, u := n.Record(w, x), n.Record(w, y)
		dense := func(r, c int) *mat.Dense {
			m := mat.NewDense(r, c, nil)
			out = append(out, m)
			return m
		}
		row := func(n int) []float64 { return dense(1, n).RawRowView(0) }
		n.Forward(row(5), w, x)
		copy(row(5), s.Value())
		s.InputGrad(dense(5, 3))
		s.Jacobian(dense(5, p))
		s.VJP(row(p), []float64{1, -2, 0.5, 3, 1})
		s.JVP(row(5), draw(1, p).RawRowView(0))
		s.JVPInputGrad(dense(5, 3), draw(1, p).RawRowView(0))
		s.TangentGrad(nil, dense(5, 3), draw(5, p))
		s.TangentGrad(row(p), nil, draw(5, p))
		nn.Kernel(dense(5, 4), s, u)
		u.Transpose()
		nn.Kernel(dense(5, 4), s, u)
		sym, bar := mat.NewSymDense(5, nil), mat.NewSymDense(5, nil)
		nn.KernelSym(sym, s)
		dense(5, 5).Copy(sym)
		nn.KernelDiag(row(5), s)
		nn.KernelVJP(dense(5, 3), s, u, draw(5, 4))
		bar.SymOuterK(1, draw(5, 2))
		nn.KernelSymVJP(dense(5, 3), s, bar)
		nn.KernelDiagVJP(dense(5, 3), s, []float64{1, 2, -1, 0.5, 2})
		s.OutputFeatures(dense(5, k), 1.5)
		s.OutputVJP(row(p), dense(5, 3), draw(5, k))
		empty := n.Record(w, new(mat.Dense))
		empty.VJP(row(p), nil)
		nn.Kernel(new(mat.Dense), empty, s)
		return out
	}
	want := results(own)
	for i, got := range results(other) {
		require.True(t, mat.EqualApprox(want[i], got, 1e-10), "result %d", i)
	}
	require.Panics(t, func() { nn.Kernel(mat.NewDense(5, 5, nil), own.Record(w, x), other.Record(w, x)) })

	// A tape is used for both in turn.
	tape := nn.BorrowTape()
	tape.Record(other, w, x)
	tape.Record(own, w, x)
	j := tape.NewJacobian()
	tape.Record(other, w, x)
	require.True(t, mat.EqualApprox(j, tape.NewJacobian(), 1e-12))
	tape.Return()

	a := ScaleInputs(nil, []float64{1, 1, 1}, []float64{1, 1, 1})
	require.Equal(t, []float64{1, 1, 1}, a.For(own).Shift)
	require.Equal(t, []float64{0, 0, 0}, a.For(other).Shift)
}

type failing struct{}

func (failing) Network(int) (network.Network, error) { return nil, errors.New("no network") }

type odd struct{}

func (o odd) Network(int) (network.Network, error) { return o, nil }

type absent struct{}

func (absent) Network(int) (network.Network, error) { return nil, nil }

func (odd) NumParams() int                            { return 3 }
func (odd) Linear() int                               { return 4 }
func (odd) Init(float64, *rand.Rand) []float64        { return nil }
func (odd) Record([]float64, *mat.Dense) network.Tape { return nil }

// faulty is a network of one weight with the given number of initial weights and the value at every row.
type faulty struct {
	weights int
	value   float64
}

func (f faulty) Network(int) (network.Network, error) { return f, nil }
func (faulty) NumParams() int                         { return 1 }
func (faulty) Linear() int                            { return 1 }
func (f faulty) Init(float64, *rand.Rand) []float64   { return make([]float64, f.weights) }
func (f faulty) Record(_ []float64, x *mat.Dense) network.Tape {
	return constant{value: f.value, rows: x.RawMatrix().Rows}
}

// constant is a Tape with one value.
type constant struct {
	network.Tape
	value float64
	rows  int
}

func (c constant) Value() []float64 { return slices.Repeat([]float64{c.value}, c.rows) }

func TestFaultyArchitectures(t *testing.T) {
	d := surrogate.Dataset{X: mat.NewDense(2, 2, []float64{0.5, 1, 2, 3}), Y: []float64{1, 2}}
	for want, f := range map[string]faulty{
		"": {1, 0},
		"the architecture has 2 initial weights, want 1":                                                     {2, 0},
		"the architecture is NaN at initial weights and the inputs [0.5 1] of observation 0, want a number":  {1, math.NaN()},
		"the architecture is -Inf at initial weights and the inputs [0.5 1] of observation 0, want a number": {1, math.Inf(-1)},
	} {
		_, err := Network(surrogate.Network{Architecture: f}, d)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, surrogate.ErrSetting)
	}
}

func TestBuildErrors(t *testing.T) {
	_, err := Build(surrogate.Network{Architecture: failing{}}, 2)
	require.EqualError(t, err, "no network")
	_, err = Build(surrogate.Network{Architecture: odd{}}, 2)
	require.ErrorIs(t, err, surrogate.ErrSetting)
	_, err = Build(surrogate.Network{Architecture: absent{}}, 2)
	require.EqualError(t, err, "the architecture returned no network for 2 inputs")
	_, err = Network(surrogate.Network{Architecture: failing{}}, surrogate.Dataset{})
	require.ErrorIs(t, err, surrogate.ErrNoData)
}
