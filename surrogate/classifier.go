package surrogate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// ErrLabel reports a label outside the classes.
var ErrLabel = errors.New("surrogate: label is not a class")

// Labels holds n observations of a class, such as whether a trial was feasible.
type Labels struct {
	X       *mat.Dense // n×d inputs, a row each
	Y       []int      // n classes in 0 … Classes-1; some may be absent
	Classes int        // C, at least 2

	// Lo and Hi bound the box of later predictions, as in Dataset.
	Lo, Hi []float64
}

// Dims returns the number of observations and of inputs.
func (l Labels) Dims() (n, dim int) { return l.inputs().Dims() }

// Validate returns an error that wraps ErrNoData, ErrShape, ErrBox, ErrNotFinite or
// ErrLabel if no classifier can be fitted to l.
func (l Labels) Validate() error {
	d := l.inputs()
	d.Y = make([]float64, len(l.Y))
	if err := d.Validate(); err != nil {
		return err
	}
	if l.Classes < 2 {
		return fmt.Errorf("%w: %d classes, want 2 or more", ErrLabel, l.Classes)
	}
	for i, y := range l.Y {
		if y < 0 || y >= l.Classes {
			return fmt.Errorf("%w: label %d is %d, want 0 to %d", ErrLabel, i+1, y, l.Classes-1)
		}
	}
	return nil
}

func (l Labels) inputs() Dataset { return Dataset{X: l.X, Lo: l.Lo, Hi: l.Hi} }

// Classifier fits probabilities of classes. Like a Model it is an option struct. Two
// classes have one latent function and the likelihood p(1|f) = 1/(1+e^{-f}). More
// classes have one latent function each and p(c|f) = e^{f_c}/Σ_j e^{f_j}.
type Classifier interface {
	// FitLabels conditions the model on d. The result depends only on the model,
	// the labels and the state of rng. For bad data it returns the error of
	// Labels.Validate. When ctx is cancelled, it returns the context's error within
	// a second.
	FitLabels(ctx context.Context, d Labels, rng *rand.Rand) (ClassPosterior, error)
}

// ClassPosterior is a distribution over latent functions given labels, Gaussian at
// each point. It is immutable and safe for concurrent use. Points are the rows of
// an m×d matrix x; wrong sizes panic.
type ClassPosterior interface {
	// Dim returns d, the number of inputs.
	Dim() int

	// Classes returns C, the number of classes.
	Classes() int

	// Latents returns the number of latent functions: 1 for two classes, else C.
	Latents() int

	// Predict writes the probability of each class, m×C, with the latent functions
	// integrated out: for two classes by quadrature to 1e-9, for more by 1024 fixed
	// quasi-random draws.
	Predict(prob, x *mat.Dense)

	// PredictGrad writes the probability of class 1 of two classes and its gradient,
	// m×d. It panics if there are more classes.
	PredictGrad(prob []float64, dprob, x *mat.Dense)

	// Latent writes the marginal means and variances of the latent functions,
	// m×Latents().
	Latent(mean, variance, x *mat.Dense)

	// Hypers lists the fitted hyperparameters, for display.
	Hypers() []Hyper

	// Warnings reports how the fit was degraded.
	Warnings() []string
}

// ClassEvidence is a ClassPosterior with Laplace's approximation of the log marginal
// likelihood of its labels, in nats, without the priors on hyperparameters.
type ClassEvidence interface {
	ClassPosterior
	LogMarginalLikelihood() float64
}
