package vip

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// basis is the basis of S functions f_s drawn from the prior: m is their mean, and
// φ_s = (f_s - m)/√(S-1).
type basis struct {
	net     *nn.Network
	inputs  domain.Affine
	shift   float64
	weights [][]float64
}

func (b *basis) Dim() int { return b.net.In }
func (b *basis) Len() int { return len(b.weights) }

// Eval implements linear.Basis with one pass of each of the S networks.
func (b *basis) Eval(mean []float64, phi, x *mat.Dense) {
	u, value := b.inputs.Apply(x), make([]float64, len(mean))
	for s, w := range b.weights {
		b.net.Forward(value, w, u)
		for i, v := range value {
			phi.Set(i, s, v)
		}
	}
	centre(mean, phi)
	floats.AddConst(b.shift, mean)
}

// centre replaces the rows of values by rows of φ, and writes m.
func centre(mean []float64, values *mat.Dense) {
	for i := range mean {
		row := values.RawRowView(i)
		s, sum := float64(len(row)), 0.0
		for _, v := range row {
			sum += v
		}
		mean[i] = sum / s
		for j := range row {
			row[j] = (row[j] - mean[i]) / math.Sqrt(s-1)
		}
	}
}

// centreVJP replaces rows of adjoints of φ by rows of adjoints of the values. A nil mbar means
// zeros.
func centreVJP(mbar []float64, phibar *mat.Dense) {
	m, _ := phibar.Dims()
	for i := range m {
		row := phibar.RawRowView(i)
		s, sum := float64(len(row)), 0.0
		for _, v := range row {
			sum += v
		}
		var direct float64
		if mbar != nil {
			direct = mbar[i] / s
		}
		for j := range row {
			row[j] = (row[j]-sum/s)/math.Sqrt(s-1) + direct
		}
	}
}

// EvalVJP implements linear.Basis with a forward and a backward pass of each network.
func (b *basis) EvalVJP(dx, x *mat.Dense, mbar []float64, phibar *mat.Dense) {
	bar := mat.DenseCopyOf(phibar)
	centreVJP(mbar, bar)
	m, d := x.Dims()
	u, sum, grad := b.inputs.Apply(x), mat.NewDense(m, d, nil), mat.NewDense(m, d, nil)
	tape := new(nn.Tape)
	for s, w := range b.weights {
		tape.Record(b.net, w, u)
		tape.InputGrad(grad)
		for i := range m {
			linalg.Axpy(bar.At(i, s), grad.RawRowView(i), sum.RawRowView(i))
		}
	}
	b.inputs.Pull(sum)
	dx.Add(dx, sum)
}

func (b *basis) Path(w []float64) surrogate.Path {
	p := path{b, make([]float64, len(w))}
	copy(p.each, w)
	centreVJP([]float64{1}, mat.NewDense(1, len(w), p.each))
	return p
}

// path is the function shift + Σ_s each_s f_s(x).
type path struct {
	*basis
	each []float64
}

const chunk = 512 // rows to evaluate at once

func (p path) Eval(value []float64, grad, x *mat.Dense) {
	shape.Eval(value, grad, x, p.Dim())
	d := p.Dim()
	if grad != nil {
		grad.Zero()
	}
	tape := new(nn.Tape)
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		u, f, g := p.inputs.Apply(x), make([]float64, k-i), mat.NewDense(k-i, d, nil)
		out := value[i:k]
		linalg.Fill(out, p.shift)
		for s, c := range p.each {
			if grad == nil {
				p.net.Forward(f, p.weights[s], u)
				linalg.Axpy(c, f, out)
				continue
			}
			tape.Record(p.net, p.weights[s], u)
			linalg.Axpy(c, tape.Value(), out)
			tape.InputGrad(g)
			for r := range out {
				linalg.Axpy(c, g.RawRowView(r), grad.RawRowView(i+r))
			}
		}
		if grad != nil {
			p.inputs.Pull(shape.Rows(grad, i, k))
		}
	})
}
