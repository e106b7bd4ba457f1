package fsplaplace

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// standardised is the kernel k(Tx, Tx') for the map T of the inputs to mean 0 and standard deviation 1 over
// the observations. A lengthscale that inputs share then counts standard deviations, as in the authors' code.
type standardised struct {
	prior.Kernel
	inputs domain.Affine
}

func (k standardised) Gram(dst *mat.SymDense, x *mat.Dense) { k.Kernel.Gram(dst, k.inputs.Apply(x)) }

func (k standardised) Cross(dst, x, y *mat.Dense) {
	k.Kernel.Cross(dst, k.inputs.Apply(x), k.inputs.Apply(y))
}

func (k standardised) Diag(dst []float64, x *mat.Dense) { k.Kernel.Diag(dst, k.inputs.Apply(x)) }

func (k standardised) CrossVJP(dx, x, y, kbar *mat.Dense) {
	du := mat.NewDense(dx.RawMatrix().Rows, dx.RawMatrix().Cols, nil)
	k.Kernel.CrossVJP(du, k.inputs.Apply(x), k.inputs.Apply(y), kbar)
	k.inputs.Pull(du)
	dx.Add(dx, du)
}

func (k standardised) DiagVJP(dx, x *mat.Dense, dbar []float64) {
	du := mat.NewDense(dx.RawMatrix().Rows, dx.RawMatrix().Cols, nil)
	k.Kernel.DiagVJP(du, k.inputs.Apply(x), dbar)
	k.inputs.Pull(du)
	dx.Add(dx, du)
}

func (k standardised) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	k.Kernel.ParamVJP(dtheta, k.inputs.Apply(x), kbar)
}

func (k standardised) WithParams(theta []float64) prior.Kernel {
	return standardised{k.Kernel.WithParams(theta), k.inputs}
}

// publishedSpec returns the prior of a fit to inputs x. With the published preset and several ordered inputs
// the kernel has standardised inputs, unless the settings give a lengthscale or a period, a kernel in Go, or one
// lengthscale for each input.
func (m Model) publishedSpec(x *mat.Dense) (prior.Spec, error) {
	if !m.published() || x == nil {
		return m.Spec, nil
	}
	_, dim := x.Dims()
	nominal := slices.ContainsFunc(m.Inputs, func(in prior.Input) bool { return in.Values > 0 })
	if dim == 1 || !*m.Isotropic || m.Custom != nil || m.Lengthscale != nil || nominal {
		return m.Spec, nil
	}
	k, _, err := m.Spec.Hyperparameters(dim, false)
	if err != nil {
		return m.Spec, err
	}
	for _, p := range k.Params() {
		if p.Fixed && !strings.Contains(p.Name, "variance") {
			return m.Spec, nil
		}
	}
	s := m.Spec
	s.Custom = standardised{k, domain.ZScore(x)}
	return s, nil
}
