package surrogate

import "gonum.org/v1/gonum/mat"

// Moments predicts as the methods of Posterior do.
type Moments interface {
	Noise() float64
	Predict(mean, variance []float64, x *mat.Dense)
	Joint(mean []float64, cov *mat.SymDense, x *mat.Dense)
}

// Averager is a Posterior at one estimate of the hyperparameters that can also average over them.
type Averager interface {
	Posterior
	// Averaged returns the moments of f, and the mean noise variance, under a mixture over the hyperparameters.
	// Few observations determine hyperparameters badly, and Predict is then too confident. It costs a sampler at
	// the first call, and a prediction costs many times Predict.
	Averaged() Moments
}

// Averaged returns p.Averaged() of an Averager, else p. It is for predictions that are shown; searches use p
// (docs/adr/0044).
func Averaged(p Posterior) Moments {
	if a, ok := p.(Averager); ok {
		return a.Averaged()
	}
	return p
}
