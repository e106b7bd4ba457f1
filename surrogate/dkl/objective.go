package dkl

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/hyper"
)

// objective is a function of a vector: the logarithms of the free hyperparameters, then the
// weights of the features.
type objective struct {
	Model
	features  *features
	precision []float64 // prior precision of each weight, for λ = 1
	hyper     hyper.Vector
	learnMean bool
	x         *mat.Dense
	y         []float64
}

func newObjective(m Model, d surrogate.Dataset) (*objective, error) {
	activation, err := nn.ByName(m.Activation)
	if err != nil {
		return nil, fmt.Errorf("dkl: %w", err)
	}
	_, dim := d.Dims()
	lo, hi := d.Box()
	o := &objective{Model: m, x: mat.DenseCopyOf(d.X), y: slices.Clone(d.Y), learnMean: m.Mean != prior.MeanZero}
	o.features = newFeatures(&nn.Network{In: dim, Hidden: slices.Clone(m.Hidden), Activation: activation}, lo, hi, m.Features)
	o.precision = o.features.precision()
	o.hyper, err = hyper.New(m.Spec, o.features.out, d.NoiseFree)
	return o, err
}

// parts splits v, or a gradient, into hyperparameters and weights.
func (o *objective) parts(v []float64) (hypers, w []float64) {
	return v[:len(o.hyper.Free)], v[len(o.hyper.Free):]
}

// bounds returns the bounds of v.
func (o *objective) bounds() (lo, hi []float64) {
	return o.hyper.Bounds(len(o.hyper.Free)+o.features.numWeights(), math.Inf(1))
}

// loss returns the objective of the package comment, with the log evidence of the given
// observations multiplied by scale, and writes its gradient. It returns +Inf if the covariance
// is not positive definite.
func (o *objective) loss(v, grad []float64, x *mat.Dense, y []float64, scale float64) float64 {
	hypers, w := o.parts(v)
	dhypers, dw := o.parts(grad)
	n := len(y)
	var t tape
	phi := mat.NewDense(n, o.features.out, nil)
	t.record(o.features, w, phi, x)
	p := o.hyper.Process(hypers)
	gram := mat.NewSymDense(n, nil)
	p.Covariance(gram, phi)
	chol, err := linalg.Factorize(gram)
	if err != nil {
		return math.Inf(1)
	}
	alpha := slices.Clone(y)
	if o.learnMean {
		ones := slices.Repeat([]float64{1}, n)
		chol.SolveVec(ones)
		var sum float64
		for _, v := range ones {
			sum += v
		}
		mean := linalg.Dot(ones, y) / sum
		floats.AddConst(-mean, alpha)
	}
	chol.SolveLowerVec(alpha)
	value := 0.5 * scale * (linalg.Dot(alpha, alpha) + chol.LogDet() + float64(n)*math.Log(2*math.Pi))
	chol.SolveUpperVec(alpha)

	// The adjoint of K + σ²I is ½ (A⁻¹ - ααᵀ).
	bar := mat.NewSymDense(n, nil)
	chol.Inverse(bar)
	trace := 0.0
	for i, a := range alpha {
		row := bar.RawSymmetric().Data[i*n+i : (i+1)*n]
		for j := range row {
			row[j] = 0.5 * scale * (row[j] - a*alpha[i+j])
		}
		trace += row[0]
	}
	dtheta := make([]float64, len(o.hyper.Params))
	last := len(dtheta) - 1
	p.Kernel.ParamVJP(dtheta[:last], phi, bar)
	dtheta[last] = trace * p.Noise
	value = o.hyper.Penalize(value, dhypers, hypers, dtheta)
	dphi := mat.NewDense(n, o.features.out, nil)
	kernelgrad.Gram(p.Kernel, dphi, phi, bar)
	for i, w := range w {
		value += 0.5 * *o.Decay * o.precision[i] * w * w
		dw[i] = *o.Decay * o.precision[i] * w
	}
	t.vjp(dw, nil, dphi)
	return value
}

// squares returns half the mean squared error of a linear output on the features and writes
// its gradient. v holds the weights of the features, the weights of the output, and its bias.
func (o *objective) squares(v, grad []float64, x *mat.Dense, y []float64) float64 {
	k, q := o.features.numWeights(), o.features.out
	var t tape
	phi := mat.NewDense(len(y), q, nil)
	t.record(o.features, v[:k], phi, x)
	clear(grad)
	bar, sum, each := mat.NewDense(len(y), q, nil), 0.0, 1/float64(len(y))
	for i, y := range y {
		e := linalg.Dot(phi.RawRowView(i), v[k:k+q]) + v[k+q] - y
		sum += 0.5 * each * e * e
		linalg.Axpy(each*e, v[k:k+q], bar.RawRowView(i))
		linalg.Axpy(each*e, phi.RawRowView(i), grad[k:k+q])
		grad[k+q] += each * e
	}
	t.vjp(grad[:k], nil, bar)
	return sum
}
