package surrogate

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// scaled is a posterior in the user's units. With u = (x-a)/b and y = mean + sd·z + m(x),
//
//	E y = mean + sd·E z + m(x),  var y = sd²·var z,  ∂/∂x_j = (1/b_j) ∂/∂u_j + ∂m/∂x_j
type scaled struct {
	inner  Posterior
	inputs InputMap
	output Standardization
	n      int // observations
	// m is the mean function, and trained its values at the observations; nil is 0.
	m       Path
	trained []float64
}

// shift adds m(x) to values, and its gradients to grad if that is not nil.
func (p *scaled) shift(values []float64, grad, x *mat.Dense) {
	if p.m == nil {
		return
	}
	v := make([]float64, len(values))
	if grad == nil {
		p.m.Eval(v, nil, x)
	} else {
		g := mat.NewDense(len(values), p.Dim(), nil)
		p.m.Eval(v, g, x)
		grad.Add(grad, g)
	}
	floats.Add(values, v)
}

// scale maps a number to the model's units.
func (s Standardization) scale(v float64) float64 { return (v - s.Mean) / s.SD }

// gradToUser multiplies a gradient in place by factor and by the slopes 1/b_j.
func (p *scaled) gradToUser(grad *mat.Dense, factor float64) {
	n, _ := grad.Dims()
	for i := range n {
		row := grad.RawRowView(i)
		for j := range row {
			row[j] *= factor / p.inputs[j].SD
		}
	}
}

func (p *scaled) momentsToUser(mean, variance []float64) {
	for i := range mean {
		mean[i] = p.output.Invert(mean[i])
		variance[i] *= p.output.SD * p.output.SD
	}
}

// jointToUser converts joint moments at x in place.
func (p *scaled) jointToUser(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	for i := range mean {
		mean[i] = p.output.Invert(mean[i])
	}
	cov.ScaleSym(p.output.SD*p.output.SD, cov)
	p.shift(mean, nil, x)
}

func (p *scaled) Dim() int           { return p.inner.Dim() }
func (p *scaled) Noise() float64     { return scaledMoments{p, p.inner}.Noise() }
func (p *scaled) Warnings() []string { return p.inner.Warnings() }

// Unscaled implements Unscaler.
func (p *scaled) Unscaled() (Posterior, InputMap, Standardization) {
	return p.inner, slices.Clone(p.inputs), p.output
}

// Selection implements Selected.
func (p *scaled) Selection() *Selection {
	if s, ok := p.inner.(Selected); ok {
		return s.Selection()
	}
	return nil
}

func (p *scaled) Predict(mean, variance []float64, x *mat.Dense) {
	scaledMoments{p, p.inner}.Predict(mean, variance, x)
}

// PredictMean implements MeanPredictor at the cost of Means for the inner posterior.
func (p *scaled) PredictMean(mean []float64, x *mat.Dense) {
	Means(p.inner, mean, p.inputs.Apply(x))
	for i := range mean {
		mean[i] = p.output.Invert(mean[i])
	}
	p.shift(mean, nil, x)
}

// Averaged implements Averager with Averaged for the inner posterior.
func (p *scaled) Averaged() Moments { return scaledMoments{p, Averaged(p.inner)} }

// scaledMoments has the moments of inner in the user's units.
type scaledMoments struct {
	p     *scaled
	inner Moments
}

func (s scaledMoments) Noise() float64 { return s.inner.Noise() * s.p.output.SD * s.p.output.SD }

func (s scaledMoments) Predict(mean, variance []float64, x *mat.Dense) {
	s.inner.Predict(mean, variance, s.p.inputs.Apply(x))
	s.p.momentsToUser(mean, variance)
	s.p.shift(mean, nil, x)
}

func (s scaledMoments) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	s.inner.Joint(mean, cov, s.p.inputs.Apply(x))
	s.p.jointToUser(mean, cov, x)
}

func (p *scaled) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p.inner.PredictGrad(mean, variance, dmean, dvariance, p.inputs.Apply(x))
	p.momentsToUser(mean, variance)
	p.gradToUser(dmean, p.output.SD)
	p.gradToUser(dvariance, p.output.SD*p.output.SD)
	p.shift(mean, dmean, x)
}

// Anchor implements Anchorer with Anchor for the inner posterior.
func (p *scaled) Anchor(z *mat.Dense) Jointer {
	return scaledJoint{p, Anchor(p.inner, p.inputs.Apply(z))}
}

func (p *scaled) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	scaledMoments{p, p.inner}.Joint(mean, cov, x)
}

func (p *scaled) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	scaledJoint{p, p.inner}.JointVJP(dx, mbar, cbar, x)
}

// scaledJoint has the joint moments of inner in the user's units.
type scaledJoint struct {
	p     *scaled
	inner Jointer
}

func (s scaledJoint) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	s.inner.Joint(mean, cov, s.p.inputs.Apply(x))
	s.p.jointToUser(mean, cov, x)
}

func (s scaledJoint) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	p := s.p
	sd := p.output.SD
	m := make([]float64, len(mbar))
	for i, v := range mbar {
		m[i] = v * sd
	}
	var c mat.SymDense
	c.ScaleSym(sd*sd, cbar)
	n, dim := dx.Dims()
	du := mat.NewDense(n, dim, nil)
	s.inner.JointVJP(du, m, &c, p.inputs.Apply(x))
	p.gradToUser(du, 1)
	dx.Add(dx, du)
	if p.m == nil {
		return
	}
	p.m.Eval(m, du, x)
	for i, w := range mbar {
		floats.AddScaled(dx.RawRowView(i), w, du.RawRowView(i))
	}
}

func (p *scaled) Paths(n int, rng *rand.Rand) []Path {
	paths := p.inner.Paths(n, rng)
	for i, inner := range paths {
		paths[i] = scaledPath{inner, p}
	}
	return paths
}

type scaledPath struct {
	inner Path
	p     *scaled
}

func (s scaledPath) Eval(value []float64, grad, x *mat.Dense) {
	s.inner.Eval(value, grad, s.p.inputs.Apply(x))
	for i := range value {
		value[i] = s.p.output.Invert(value[i])
	}
	if grad != nil {
		s.p.gradToUser(grad, s.p.output.SD)
	}
	s.p.shift(value, grad, x)
}

// State returns the state of the inner posterior, or an empty state.
func (p *scaled) State() State {
	if inner, ok := p.inner.(Stater); ok {
		return inner.State()
	}
	return nil
}

// Hypers returns the hyperparameters of the inner posterior in scaled units, or none.
func (p *scaled) Hypers() []Hyper {
	if inner, ok := p.inner.(Describer); ok {
		return inner.Hypers()
	}
	return nil
}
