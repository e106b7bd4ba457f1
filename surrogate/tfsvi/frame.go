package tfsvi

import (
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/surrogate/internal/variational"
)

// frame holds coordinates in which the weights of an initial q are standard normal,
//
//	m = m₀ + S₀^½ μ,  U = U₀A.
//
// A step of Adam has the same size in all coordinates. It changes the function most in
// directions of large posterior variance, and little at the observations.
type frame struct {
	at, bar *variational.Gaussian // μ, log s, Aᵀ, log σ, and the gradient with respect to these
	origin  *variational.Gaussian
	scales  []float64 // s₀
}

func newFrame(v *variational.Gaussian) *frame {
	p, h := len(v.M), len(v.LogS)
	f := &frame{at: variational.NewOutput(p, p-h), bar: variational.NewOutput(p, p-h), origin: variational.NewOutput(p, p-h), scales: v.Scales()}
	copy(f.origin.Vector, v.Vector)
	copy(f.at.Vector, v.Vector)
	clear(f.at.M)
	linalg.SetIdentity(f.at.Ut)
	return f
}

// push sets v to the value of the frame's coordinates.
func (f *frame) push(v *variational.Gaussian) {
	copy(v.LogS, f.at.LogS)
	copy(v.LogSD, f.at.LogSD)
	copy(v.M, f.origin.M)
	for i, s := range f.scales {
		v.M[i] += s * f.at.M[i]
	}
	h := len(f.scales)
	linalg.MulVec(v.M[h:], 1, linalg.T, f.origin.Ut, f.at.M[h:], 1)
	linalg.Mul(v.Ut, 1, linalg.N, f.at.Ut, linalg.N, f.origin.Ut, 0)
}

// pull converts a gradient with respect to v to a gradient with respect to the frame's
// coordinates, in bar.
func (f *frame) pull(grad *variational.Gaussian) {
	copy(f.bar.LogS, grad.LogS)
	copy(f.bar.LogSD, grad.LogSD)
	for i, s := range f.scales {
		f.bar.M[i] = s * grad.M[i]
	}
	h := len(f.scales)
	linalg.MulVec(f.bar.M[h:], 1, linalg.N, f.origin.Ut, grad.M[h:], 0)
	linalg.Mul(f.bar.Ut, 1, linalg.N, grad.Ut, linalg.T, f.origin.Ut, 0)
}
