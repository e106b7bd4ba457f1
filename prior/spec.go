package prior

import (
	"errors"
	"fmt"
	"math"

	"github.com/functionspace/bo/internal/settings"
)

// ErrSpec reports an invalid Spec.
var ErrSpec = errors.New("invalid prior")

// Spec is a prior as a user specifies it. A number fixes a hyperparameter; omitted
// hyperparameters are learned. The zero value is a Matérn-5/2 kernel with a constant mean.
// Its lengthscale per input, output variance, noise variance and mean are learned.
type Spec struct {
	Kernel      string    `set:"kernel" default:"matern52" help:"kernel expression, e.g. rbf*periodic+linear"`
	Lengthscale []float64 `set:"lengthscale" auto:"learned" range:"(0,inf)" help:"fixes the lengthscales: one number, or one per input"`
	Isotropic   *bool     `set:"isotropic" default:"false" help:"one lengthscale for all inputs instead of one per input"`
	Variance    *float64  `set:"variance" auto:"learned" range:"(0,inf)" help:"fixes the output variance of every term of the kernel, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit"`
	Noise       *float64  `set:"noise" auto:"learned" range:"[0,inf)" help:"fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit"`
	Mean        string    `set:"mean" default:"constant" oneof:"constant,zero" help:"mean of the prior: constant, which is learned, or zero"`
	Restarts    int       `set:"restarts" auto:"3, 2 or 10" range:"[1,1000]" help:"starts of the hyperparameter fit (2 from 500 observations; 10 for a kernel of several parts or with a learned period)"`

	// Custom replaces Kernel and Isotropic by any Kernel written in Go.
	Custom Kernel
	// Inputs are the inputs that Kernel may name. A study sets them.
	Inputs []Input

	byValue, byColumn, byLikelihood bool      // see ByValue, ByColumn and ByLikelihood
	noises                          []float64 // see WithNoises
}

// The values of Spec.Mean.
const (
	MeanConstant = "constant"
	MeanZero     = "zero"
)

// Process returns the prior before data, with mean 0: fixed hyperparameters have their
// values, and learned hyperparameters have the modes of their hyperpriors.
func (s Spec) Process(dim int) (Process, error) {
	m, err := s.model(dim, false)
	if err != nil {
		return Process{}, err
	}
	return m.process(m.start()), nil
}

// ByValue returns s for a model whose points are encodings of points of a space. A stationary
// kernel then compares the values of inputs without order, so that all values are equidistant.
// Otherwise it is a continuous function of their columns.
func (s Spec) ByValue() Spec {
	s.byValue = !s.byColumn
	return s
}

// ByColumn returns s for points that are no encodings of points of a space: ByValue then has no
// effect.
func (s Spec) ByColumn() Spec {
	s.byColumn = true
	return s
}

// ByLikelihood returns s for fits that maximise the marginal likelihood alone, without
// hyperpriors. Random starts are still draws from the hyperpriors.
func (s Spec) ByLikelihood() Spec {
	s.byLikelihood = true
	return s
}

// WithNoises returns s for fits to observations of which some have a known noise variance: entry i is the variance of
// observation i, or NaN for the noise variance of the Process, which is fitted to these observations alone.
// Nil is NaN for all.
func (s Spec) WithNoises(variances []float64) Spec {
	s.noises = variances
	return s
}

// Check validates s for dim inputs. It returns the error that a fit would return for any data, which
// wraps ErrSpec or ErrExpression.
func (s Spec) Check(dim int) error {
	_, err := s.model(dim, false)
	return err
}

// model is a Spec for a given number of inputs: the kernel, and its hyperparameters
// followed by the noise variance.
type model struct {
	kernel Kernel
	params []Param // hyperparameters of the kernel, then the noise
	free   []int   // indices of the fitted hyperparameters in params
	mean   bool    // the mean is learned
	flat   bool    // the fit omits the hyperpriors
	inputs []Input // the inputs with names
}

func (s Spec) model(dim int, noiseFree bool) (model, error) {
	s, err := settings.Resolve("", s)
	if err != nil {
		return model{}, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	m := model{kernel: s.Custom, mean: s.Mean == MeanConstant, flat: s.byLikelihood, inputs: s.Inputs}
	if m.kernel == nil {
		inputs := s.Inputs
		if len(s.Lengthscale) > 1 { // a lengthscale per column
			inputs = ordered(inputs)
		}
		if m.kernel, err = parse(s.Kernel, dim, inputs, *s.Isotropic, s.byValue); err != nil {
			return m, err
		}
	}
	if m.kernel.Dim() != dim {
		return m, fmt.Errorf("%w: kernel of %d inputs, data of %d", ErrSpec, m.kernel.Dim(), dim)
	}
	if err := s.fixVariance(&m); err != nil {
		return m, err
	}
	if err := s.fixLengthscale(&m, dim); err != nil {
		return m, err
	}
	noise := Param{Name: "noise", Prior: NoisePrior(), Lo: noiseFloor, Hi: huge}
	if noiseFree {
		noise.Prior, noise.Lo = noiseFreePrior, noiseFreeFloor
	}
	noise.Value = max(noise.Prior.Mode(), noise.Lo)
	if s.Noise != nil {
		noise.Value, noise.Fixed = *s.Noise, true
	}
	m.params = append(m.params, noise)
	for i, p := range m.params {
		if !p.Fixed {
			m.free = append(m.free, i)
		}
	}
	return m, nil
}

// Stated reports whether the kernel, a lengthscale, the output variance, the noise or a
// zero mean was set explicitly. A named kernel counts even if it is the default.
func (s Spec) Stated() bool {
	return s.Kernel != "" || s.Custom != nil || s.Lengthscale != nil || s.Variance != nil || s.Noise != nil || s.Mean == MeanZero
}

func (s Spec) fixVariance(m *model) error {
	if v := s.Variance; v != nil {
		var found bool
		for _, p := range m.kernel.Params() {
			found = found || baseName(p.Name) == "variance"
		}
		if !found {
			m.kernel = ScaleBy(*v, m.kernel)
		}
	}
	m.params = m.kernel.Params()
	if s.Variance == nil {
		return nil
	}
	effect := false
	for i := range m.params {
		p := &m.params[i]
		if baseName(p.Name) != "variance" {
			continue
		}
		if !p.Fixed {
			p.Value, p.Fixed = *s.Variance, true
		}
		effect = effect || p.Value == *s.Variance
	}
	if !effect {
		return fmt.Errorf("%w: variance has no effect, because every term of the kernel %s has a number: remove one of them", ErrSpec, m.kernel)
	}
	return nil
}

func (s Spec) fixLengthscale(m *model, dim int) error {
	if len(s.Lengthscale) == 0 {
		return nil
	}
	if n := len(s.Lengthscale); n != 1 && n != dim {
		return fmt.Errorf("%w: %d lengthscales for %d inputs", ErrSpec, n, dim)
	}
	effect := false
	for i := range m.params {
		p := &m.params[i]
		if baseName(p.Name) != "lengthscale" || p.Fixed {
			continue
		}
		effect = true
		if named(m.kernel) {
			return fmt.Errorf("%w: lengthscale sets lengthscales in the unit cube, and the kernel names inputs: state lengthscales in the kernel, as in rbf[name](lengthscale=2)", ErrSpec)
		}
		j, indexed := inputIndex(p.Name)
		switch {
		case len(s.Lengthscale) == 1:
			j = 0
		case !indexed:
			return fmt.Errorf("%w: %d lengthscales for a kernel with one lengthscale", ErrSpec, len(s.Lengthscale))
		}
		p.Value, p.Fixed = s.Lengthscale[j], true
	}
	if !effect {
		return fmt.Errorf("%w: lengthscale has no effect, because the kernel %s has no lengthscale without a number: remove it", ErrSpec, m.kernel)
	}
	return nil
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// start returns all hyperparameters before data.
func (m model) start() []float64 {
	theta := make([]float64, len(m.params))
	for i, p := range m.params {
		theta[i] = p.Value
	}
	return theta
}

// process returns the prior with hyperparameters theta and mean 0.
func (m model) process(theta []float64) Process {
	last := len(theta) - 1
	return Process{Kernel: m.kernel.WithParams(theta[:last]), Noise: theta[last]}
}
