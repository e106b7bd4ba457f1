package surrogate

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Model fits surrogate models. It is an option struct whose zero value is a
// documented default. Fit leaves the Model unchanged, so several goroutines may use
// one Model.
//
// A struct that embeds a Model also has its optional interfaces. A wrapper of a WarmStarter therefore
// needs a FitFrom beside its Fit, or it holds the inner Model in a named field: later fits of a study
// call FitFrom.
type Model interface {
	// Fit conditions the model on d. The result depends only on the model, the
	// dataset and the state of rng. The error wraps ErrNoData or ErrNotFinite for
	// bad data. When ctx is cancelled, Fit returns the context's error within a
	// second.
	Fit(ctx context.Context, d Dataset, rng *rand.Rand) (Posterior, error)
}

// Posterior is a distribution over functions f: R^d → R given data. It is immutable
// and safe for concurrent use. All methods describe the latent function f; an
// observation has the variance of f plus Noise().
//
// Points are the rows of an m×d matrix x. Destinations are overwritten and must
// have the stated size; wrong sizes panic.
type Posterior interface {
	// Dim returns d, the number of inputs.
	Dim() int

	// Noise returns the variance σ² of the observation noise.
	Noise() float64

	// Predict writes the marginal mean and variance of f at the m rows of x.
	Predict(mean, variance []float64, x *mat.Dense)

	// PredictGrad is Predict with the gradients ∂mean/∂x and ∂variance/∂x, both
	// m×d.
	PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense)

	// Joint writes the mean and the m×m covariance of f at the rows of x.
	Joint(mean []float64, cov *mat.SymDense, x *mat.Dense)

	// JointVJP adds to dx (m×d) the gradient with respect to x of
	//
	//	Σ_i mbar_i mean_i + Σ_ij cbar_ij cov_ij
	//
	// where the second sum runs over all i and j. It is the reverse-mode
	// product of Joint.
	JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense)

	// Paths draws n whole functions from the posterior.
	Paths(n int, rng *rand.Rand) []Path

	// Warnings reports how the fit was degraded: by jitter, or by training that
	// stopped early. It is empty after a fit without degradation.
	Warnings() []string
}

// Path is one function drawn from a posterior. Its value at a point never changes.
// It is safe for concurrent use.
type Path interface {
	// Eval writes the value at the m rows of x and, if grad is not nil, the
	// m×d gradients.
	Eval(value []float64, grad, x *mat.Dense)
}

// Conditioner is a Posterior that can be conditioned on further observations, with
// the same hyperparameters, at a cost far below a fit.
type Conditioner interface {
	Posterior
	// Condition returns the posterior after also observing y (with noise) at
	// the rows of x.
	Condition(x *mat.Dense, y []float64) (Posterior, error)
}

// MeanPredictor is a Posterior whose mean alone costs far less than Predict.
type MeanPredictor interface {
	Posterior
	// PredictMean writes the mean of Predict at the m rows of x.
	PredictMean(mean []float64, x *mat.Dense)
}

// Means writes the mean of p at the rows of x, without variances if p is a MeanPredictor.
func Means(p Posterior, mean []float64, x *mat.Dense) {
	if m, ok := p.(MeanPredictor); ok {
		m.PredictMean(mean, x)
		return
	}
	p.Predict(mean, make([]float64, len(mean)), x)
}

// LeaveOneOut is a Posterior with leave-one-out predictions at its n training
// points.
type LeaveOneOut interface {
	Posterior
	// LeaveOneOut writes, for each training row, the mean and variance of the
	// latent f given all other rows, with the same hyperparameters.
	LeaveOneOut(mean, variance []float64)
}

// Whitener is a Posterior with the prediction errors of its n training targets one step
// ahead.
type Whitener interface {
	Posterior
	// Whiten writes, for each training row, the error of the prediction from the rows before it. The error is
	// divided by the predictive standard deviation of the observation. All rows have the same hyperparameters.
	// Under the model the results are independent standard normal numbers.
	Whiten(dst []float64)
}

// Evidence is a Posterior with the log marginal likelihood of its training data, in
// nats, without the priors on hyperparameters.
type Evidence interface {
	Posterior
	LogMarginalLikelihood() float64
}

// WarmStarter is a Model whose fits can start from an earlier posterior.
type WarmStarter interface {
	Model
	// FitFrom is Fit started from the State of an earlier posterior of the same
	// model. A state of the wrong length is ignored.
	FitFrom(ctx context.Context, start State, d Dataset, rng *rand.Rand) (Posterior, error)
}

// NoiseTaker is a Model whose fits use the noise variances of single targets, Dataset.Noise.
type NoiseTaker interface {
	Model
	TakesNoise()
}

// State holds the parameters from which a later fit starts: hyperparameters, network
// weights. It survives a round trip through JSON.
type State []float64

// Stater is a Posterior of a WarmStarter.
type Stater interface {
	Posterior
	State() State
}

// Selection is the result of a Model that selects one of several models. For several objectives package loop
// joins the selections to one, without Evidence, Deviation and Model.
type Selection struct {
	Surrogate string `json:"surrogate"` // name of the selected model, or "name for objective, …"
	Reason    string `json:"reason"`    // the evidence in words
	// Evidence is the log density by which the second model predicts observations better than the
	// first, in nats, and Deviation its standard error. Both are 0 before the first comparison.
	Evidence  float64 `json:"evidence"`
	Deviation float64 `json:"deviation"`
	Model     Model   `json:"-"` // the selected model
}

// Selected is a Posterior that reports how its model was selected: nil if there was no selection.
type Selected interface {
	Posterior
	Selection() *Selection
}

// Hyper is a named hyperparameter of a fitted posterior, for display.
type Hyper struct {
	Name  string
	Value float64
}

// Describer is a Posterior that lists its fitted hyperparameters.
type Describer interface {
	Posterior
	Hypers() []Hyper
}
