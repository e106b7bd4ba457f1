package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// Network is the shape of a fully connected network with one linear output.
type Network struct {
	In         int        // d, the number of inputs
	Hidden     []int      // widths h_1 … h_D; empty is the linear model x·v + c
	Activation Activation // between layers; the zero value is Tanh

	// Custom, unless nil, replaces Hidden and Activation. Layers, Tape.Layer and Tape.HiddenVJP do
	// not support it.
	Custom Custom
}

// New returns the network of in inputs with the named activation.
func New(in int, hidden []int, activation string) (*Network, error) {
	a, err := ByName(activation)
	return &Network{In: in, Hidden: slices.Clone(hidden), Activation: a}, err
}

// NumParams returns p = Σ_l (h_{l-1}+1) h_l + h_D + 1.
func (n *Network) NumParams() int {
	if n.Custom != nil {
		return n.Custom.NumParams()
	}
	p, in := 0, n.In
	for _, h := range n.Hidden {
		p += (in + 1) * h
		in = h
	}
	return p + in + 1
}

// Outputs returns the number of parameters of the output layer, its bias included.
// They are the last parameters, and the network is linear in them.
func (n *Network) Outputs() int {
	if n.Custom != nil {
		return n.Custom.Linear()
	}
	if l := len(n.Hidden); l > 0 {
		return n.Hidden[l-1] + 1
	}
	return n.In + 1
}

// Layer is a layer of In inputs and Out units. Its parameters are In·Out weights from the
// index At on, a row for each input, then Out biases.
type Layer struct{ At, In, Out int }

// Layers returns the layers in order. The last layer is the output layer.
func (n *Network) Layers() []Layer {
	layers, at, in := make([]Layer, 0, len(n.Hidden)+1), 0, n.In
	for _, out := range append(slices.Clone(n.Hidden), 1) {
		layers = append(layers, Layer{at, in, out})
		at, in = at+(in+1)*out, out
	}
	return layers
}

// Init draws parameters. Weights are normal with standard deviation 1/√h_{l-1},
// truncated at two standard deviations, which leaves 0.8796/√h_{l-1}. Biases are 0.
// It is the default of haiku's Linear layer.
func (n *Network) Init(rng *rand.Rand) []float64 {
	w := make([]float64, n.NumParams())
	var p params
	p.cut(n.In, n.Hidden, w)
	for l := range p.w {
		TruncatedNormal(p.w[l].RawMatrix().Data, p.w[l].RawMatrix().Rows, rng)
	}
	TruncatedNormal(p.v, len(p.v), rng)
	return w
}

// InitBiased is Init with hidden biases of standard deviation bias and the output bias
// mean. In the first layer bias is relative to spread, half the width of the box of inputs. Units are therefore
// centred all over the box. Without biases a tanh network starts as an odd function about the centre of the
// box. Its tangent kernel then correlates each point with its mirror image. A Custom network uses mean alone.
func (n *Network) InitBiased(bias, spread, mean float64, rng *rand.Rand) []float64 {
	if n.Custom != nil {
		w := n.Custom.Init(mean, rng)
		checkLen("initial weights", len(w), n.NumParams())
		return w
	}
	w := n.Init(rng)
	at, in, sd := 0, n.In, bias*spread
	for _, h := range n.Hidden {
		at += in * h
		for i := range h {
			w[at+i] = sd * rng.NormFloat64()
		}
		at += h
		in, sd = h, bias
	}
	w[len(w)-1] = mean
	return w
}

// TruncatedNormal draws weights of a layer of fanIn inputs, as Init does.
func TruncatedNormal(dst []float64, fanIn int, rng *rand.Rand) {
	scale := 1 / math.Sqrt(float64(fanIn))
	for i := range dst {
		z := rng.NormFloat64()
		for math.Abs(z) > 2 {
			z = rng.NormFloat64()
		}
		dst[i] = scale * z
	}
}

// forwardRows is the number of rows that Forward evaluates at a time.
const forwardRows = 512

// Forward writes f at the m rows of x (m×d), in O(mp).
func (n *Network) Forward(out, w []float64, x *mat.Dense) {
	m := batch(n.In, x)
	checkLen("out", len(out), m)
	checkLen("w", len(w), n.NumParams())
	if n.Custom != nil {
		for i := 0; i < m; i += forwardRows {
			k := min(m, i+forwardRows)
			part := rows(x, i, k)
			copy(out[i:k], n.Custom.Record(w, &part).Value())
		}
		return
	}
	ws := grab()
	defer ws.release()
	ws.dir.cut(n.In, n.Hidden, w)
	for i := 0; i < m; i += forwardRows {
		k := min(m, i+forwardRows)
		a := rows(x, i, k)
		for l := range ws.dir.w {
			z := &ws.between[l%2]
			resize(z, k-i, n.Hidden[l])
			affine(z, &a, &ws.dir.w[l], ws.dir.b[l])
			data := z.RawMatrix().Data
			n.Activation.apply(data, nil, data)
			a = *z
		}
		ws.dir.head(out[i:k], &a)
	}
}

// params is a parameter vector or a gradient, divided into layers. Its parts share
// memory with the vector.
type params struct {
	w []mat.Dense // hidden weights, h_{l-1}×h_l
	b [][]float64 // hidden biases
	v []float64   // output weights
	c []float64   // output bias, of length 1
}

func (p *params) cut(in int, hidden []int, w []float64) {
	if in < 1 {
		panic(fmt.Sprintf("nn: network with %d inputs", in))
	}
	p.w, p.b = resizeSlice(p.w, len(hidden)), resizeSlice(p.b, len(hidden))
	for l, h := range hidden {
		if h < 1 {
			panic(fmt.Sprintf("nn: hidden layer of width %d", h))
		}
		p.w[l].SetRawMatrix(blas64.General{Rows: in, Cols: h, Stride: h, Data: w[:in*h]})
		p.b[l], w = w[in*h:(in+1)*h], w[(in+1)*h:]
		in = h
	}
	p.v, p.c = w[:in], w[in:in+1]
}

// head writes a·v + c.
func (p *params) head(out []float64, a *mat.Dense) {
	for i := range out {
		out[i] = p.c[0]
	}
	linalg.MulVec(out, 1, linalg.N, a, p.v, 1)
}

// affine writes a·w + b to z.
func affine(z, a, w *mat.Dense, b []float64) {
	repeat(z, b)
	linalg.Mul(z, 1, linalg.N, a, linalg.N, w, 1)
}
