package tfsvi

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// frame holds coordinates in which the weights of a q were standard normal,
//
//	m = m₀ + S₀^½ μ,  U = U₀A.
//
// A step of Adam, which is of one length in all of them, moves the function where the
// data have left it free and hardly at the observations.
type frame struct {
	at, bar *variational // μ, log s, Aᵀ, log σ, and the gradient with respect to these
	origin  *variational
	scales  []float64 // s₀
}

func newFrame(v *variational) *frame {
	p, h := len(v.m), len(v.logS)
	f := &frame{at: newVariational(p, p-h), bar: newVariational(p, p-h), origin: newVariational(p, p-h), scales: v.scales()}
	copy(f.origin.vector, v.vector)
	copy(f.at.vector, v.vector)
	clear(f.at.m)
	setIdentity(f.at.ut)
	return f
}

// push sets v to where the frame is.
func (f *frame) push(v *variational) {
	copy(v.logS, f.at.logS)
	copy(v.logSD, f.at.logSD)
	copy(v.m, f.origin.m)
	for i, s := range f.scales {
		v.m[i] += s * f.at.m[i]
	}
	h := len(f.scales)
	linalg.MulVec(v.m[h:], 1, linalg.T, f.origin.ut, f.at.m[h:], 1)
	linalg.Mul(v.ut, 1, linalg.N, f.at.ut, linalg.N, f.origin.ut, 0)
}

// pull turns a gradient at v into bar, with respect to the frame's coordinates.
func (f *frame) pull(grad *variational) {
	copy(f.bar.logS, grad.logS)
	copy(f.bar.logSD, grad.logSD)
	for i, s := range f.scales {
		f.bar.m[i] = s * grad.m[i]
	}
	h := len(f.scales)
	linalg.MulVec(f.bar.m[h:], 1, linalg.N, f.origin.ut, grad.m[h:], 0)
	linalg.Mul(f.bar.ut, 1, linalg.N, grad.ut, linalg.T, f.origin.ut, 0)
}

func setIdentity(a *mat.Dense) {
	a.Zero()
	for i := range a.RawMatrix().Rows {
		a.Set(i, i, 1)
	}
}
