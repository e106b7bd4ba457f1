package dkl

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// features is the map g. Its weights form one vector: the weights of the hidden layers in the
// order of package nn, then V (h×q, row-major).
type features struct {
	net    *nn.Network // its output is not used
	inputs domain.Affine
	out    int       // q
	unit   []float64 // factor of the output added to each input; nil if g is the network
}

const (
	hiddenBias = 0.5 // standard deviation of the initial biases
	addedUnit  = 0.5 // unit of the added output, in standard deviations of a uniform input
)

// newFeatures returns the map into R^q or, for q = 0, the map that adds to each input. The
// network's inputs have the variance 1 for a uniform distribution over the box.
func newFeatures(net *nn.Network, lo, hi []float64, q int) *features {
	f := &features{net: net, out: q, inputs: domain.UnitVariance(lo, hi)}
	if q == 0 {
		f.out = len(lo)
		for _, s := range f.inputs.Scale {
			f.unit = append(f.unit, addedUnit/s)
		}
	}
	return f
}

// width returns the width of the last hidden layer.
func (f *features) width() int { return f.net.Outputs() - 1 }

// hidden returns the number of parameters of the hidden layers.
func (f *features) hidden() int { return f.net.NumParams() - f.net.Outputs() }

func (f *features) numWeights() int { return f.hidden() + f.width()*f.out }

// initial draws weights. The output that is added to the inputs starts at 0.
func (f *features) initial(rng *rand.Rand) []float64 {
	w := make([]float64, f.numWeights())
	copy(w[:f.hidden()], f.net.InitBiased(hiddenBias, 1, 0, rng))
	if f.unit == nil {
		v := w[f.hidden():]
		for i := range v {
			v[i] = rng.NormFloat64() / math.Sqrt(float64(f.width()))
		}
	}
	return w
}

// precision returns the precision of the prior on each weight for λ = 1: the fan-in for
// weights, 1 for biases.
func (f *features) precision() []float64 {
	p := slices.Repeat([]float64{1}, f.numWeights())
	for _, l := range f.net.Layers() {
		if l.At == f.hidden() {
			l.Out = f.out // V in place of the output layer
		}
		linalg.Fill(p[l.At:l.At+l.In*l.Out], float64(l.In))
	}
	return p
}

// tape holds the intermediate results of one evaluation for VJP.
type tape struct {
	f  *features
	t  nn.Tape
	v  *mat.Dense // V
	wv []float64  // weights of the network, outputs included
}

// record writes g to phi (m×q) at the rows of x.
func (t *tape) record(f *features, w []float64, phi, x *mat.Dense) {
	k := f.hidden()
	t.f = f
	t.v = mat.NewDense(f.width(), f.out, w[k:])
	t.wv = append(append(t.wv[:0], w[:k]...), make([]float64, f.width()+1)...)
	t.t.Record(f.net, t.wv, f.inputs.Apply(x))
	a, _ := t.t.Layer(len(f.net.Hidden))
	linalg.Mul(phi, 1, linalg.N, a, linalg.N, t.v, 0)
	if f.unit == nil {
		return
	}
	m, _ := phi.Dims()
	for i := range m {
		row := phi.RawRowView(i)
		for j, x := range x.RawRowView(i) {
			row[j] = x + f.unit[j]*row[j]
		}
	}
}

// vjp adds to dw and dx, either of which may be nil, the gradients of
// Σ_ij bar_ij g_j(x_i).
func (t *tape) vjp(dw []float64, dx, bar *mat.Dense) {
	f := t.f
	m, _ := bar.Dims()
	added := bar
	if f.unit != nil {
		added = mat.NewDense(m, f.out, nil)
		linalg.ScaleColumns(added, bar, f.unit)
	}
	a, _ := t.t.Layer(len(f.net.Hidden))
	abar := mat.NewDense(m, f.width(), nil)
	linalg.Mul(abar, 1, linalg.N, added, linalg.T, t.v, 0)
	var dwv []float64
	if dw != nil {
		linalg.Mul(mat.NewDense(f.width(), f.out, dw[f.hidden():]), 1, linalg.T, a, linalg.N, added, 1)
		dwv = make([]float64, f.net.NumParams())
	}
	var du *mat.Dense
	if dx != nil {
		du = mat.NewDense(m, f.net.In, nil)
	}
	t.t.HiddenVJP(dwv, du, abar)
	if dw != nil {
		linalg.Axpy(1, dwv[:f.hidden()], dw[:f.hidden()])
	}
	if dx == nil {
		return
	}
	f.inputs.Pull(du)
	if f.unit != nil {
		du.Add(du, bar)
	}
	dx.Add(dx, du)
}

// apply returns g at the rows of x.
func (f *features) apply(w []float64, x *mat.Dense) *mat.Dense {
	m, _ := x.Dims()
	phi := mat.NewDense(m, f.out, nil)
	new(tape).record(f, w, phi, x)
	return phi
}
