package prior

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// maxHidden bounds the width of the hidden layers before the last one of a random
// network.
const maxHidden = 256

// network has the features (√(σ_w²/n) relu(h), σ_b), where h are the pre-activations
// of the last hidden layer of a random ReLU network.
type network struct {
	dim     int
	weights []*mat.Dense // width×fan-in, variance σ_w²/fan-in included
	biases  [][]float64
	scale   float64
	bias    float64
}

func newNetwork(k arcCosine, variance float64, n int, rng *rand.Rand) Features {
	f := network{dim: k.dim, scale: math.Sqrt(variance * k.weight() / float64(n)), bias: math.Sqrt(variance * k.bias())}
	fanIn := k.dim
	for l := range k.depth {
		width := n
		if l < k.depth-1 {
			width = min(n, maxHidden)
		}
		w, b := mat.NewDense(width, fanIn, nil), make([]float64, width)
		for i := range width {
			for j := range fanIn {
				w.RawRowView(i)[j] = math.Sqrt(k.weight()/float64(fanIn)) * rng.NormFloat64()
			}
			b[i] = math.Sqrt(k.bias()) * rng.NormFloat64()
		}
		f.weights, f.biases, fanIn = append(f.weights, w), append(f.biases, b), width
	}
	return f
}

func (f network) Dim() int { return f.dim }
func (f network) Len() int { return len(f.biases[len(f.biases)-1]) + 1 }

// activations returns relu of the pre-activations of every layer.
func (f network) activations(x *mat.Dense) []*mat.Dense {
	m := checkPoints("points", x, f.dim)
	var out []*mat.Dense
	for l, w := range f.weights {
		h := mat.NewDense(m, w.RawMatrix().Rows, nil)
		linalg.Mul(h, 1, linalg.N, x, linalg.T, w, 0)
		for i := range m {
			row := h.RawRowView(i)
			floats.Add(row, f.biases[l])
			for j, v := range row {
				row[j] = max(0, v)
			}
		}
		out, x = append(out, h), h
	}
	return out
}

func (f network) Eval(phi, x *mat.Dense) {
	layers := f.activations(x)
	last := layers[len(layers)-1]
	n := f.Len() - 1
	for i := range last.RawMatrix().Rows {
		row := phi.RawRowView(i)
		floats.ScaleTo(row[:n], f.scale, last.RawRowView(i))
		row[n] = f.bias
	}
}

func (f network) EvalVJP(dx, x, phibar *mat.Dense) {
	layers, m, n := f.activations(x), x.RawMatrix().Rows, f.Len()-1
	bar := mat.NewDense(m, n, nil)
	for i := range m {
		floats.ScaleTo(bar.RawRowView(i), f.scale, phibar.RawRowView(i)[:n])
	}
	for l := len(layers) - 1; l >= 0; l-- {
		for i := range m {
			row := bar.RawRowView(i)
			for j, v := range layers[l].RawRowView(i) {
				if v <= 0 {
					row[j] = 0
				}
			}
		}
		if l == 0 {
			linalg.Mul(dx, 1, linalg.N, bar, linalg.N, f.weights[0], 1)
			return
		}
		below := mat.NewDense(m, f.weights[l].RawMatrix().Cols, nil)
		linalg.Mul(below, 1, linalg.N, bar, linalg.N, f.weights[l], 0)
		bar = below
	}
}
