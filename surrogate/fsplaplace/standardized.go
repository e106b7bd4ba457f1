package fsplaplace

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// standardized is the kernel k(Tx, Tx') for the map T of the inputs to mean 0 and standard deviation 1 over
// the observations. A lengthscale that inputs share then counts standard deviations, as in the authors' code.
type standardized struct {
	prior.Kernel
	inputs domain.Affine
}

// Unwrap returns k, so that the fit of the prior has as many starts as a fit of k.
func (k standardized) Unwrap() prior.Kernel { return k.Kernel }

// at returns the standardised rows of x, in mem.
func (k standardized) at(mem *workspace.Memory, x *mat.Dense) *mat.Dense {
	u := mem.Dense(x.Dims())
	k.inputs.ApplyTo(u, x)
	return u
}

func (k standardized) Gram(dst *mat.SymDense, x *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	k.Kernel.Gram(dst, k.at(mem, x))
}

func (k standardized) Cross(dst, x, y *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	k.Kernel.Cross(dst, k.at(mem, x), k.at(mem, y))
}

func (k standardized) Diag(dst []float64, x *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	k.Kernel.Diag(dst, k.at(mem, x))
}

func (k standardized) CrossVJP(dx, x, y, kbar *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	du := mem.Zeros(dx.Dims())
	k.Kernel.CrossVJP(du, k.at(mem, x), k.at(mem, y), kbar)
	k.inputs.Pull(du)
	dx.Add(dx, du)
}

func (k standardized) DiagVJP(dx, x *mat.Dense, dbar []float64) {
	mem := workspace.Borrow()
	defer mem.Return()
	du := mem.Zeros(dx.Dims())
	k.Kernel.DiagVJP(du, k.at(mem, x), dbar)
	k.inputs.Pull(du)
	dx.Add(dx, du)
}

func (k standardized) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	mem := workspace.Borrow()
	defer mem.Return()
	k.Kernel.ParamVJP(dtheta, k.at(mem, x), kbar)
}

func (k standardized) WithParams(theta []float64) prior.Kernel {
	return standardized{k.Kernel.WithParams(theta), k.inputs}
}

// publishedSpec returns the prior of a fit to inputs x. With the published preset and several ordered inputs
// the kernel has standardised inputs. The exceptions are settings with a lengthscale or a period, a kernel in
// Go, or one lengthscale for each input. Another exception is the kernel of a velocity field, whose coordinates
// have one unit.
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
	if prior.HasComponent(k) {
		return m.Spec, nil
	}
	for _, p := range k.Params() {
		if p.Fixed && !strings.Contains(p.Name, "variance") {
			return m.Spec, nil
		}
	}
	s := m.Spec
	s.Custom = standardized{k, domain.ZScore(x)}
	return s, nil
}
