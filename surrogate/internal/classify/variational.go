package classify

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/specfn"
)

const (
	// Each step of Variational goes a share of the way to the fixed point, at first and at most firstShare. The
	// share is halved, down to leastShare, after a step against the direction of the last one, and else grows.
	firstShare, leastShare, shareGrowth = 0.5, 0.02, 1.2

	// The distance is the largest of a mean, in posterior standard deviations. The steps end at enough. After the last
	// one the result is accepted up to atMost: in several classes of a large output variance the quadrature is not
	// smooth.
	enough, atMost   = 1e-3, 0.1
	variationalSteps = 100
)

// ErrNoFixedPoint reports that Variational did not converge.
var ErrNoFixedPoint = errors.New("the variational approximation of the labels did not converge")

// Variational returns the variational Gaussian approximation q = N(m + Ka, (K⁻¹ + W)⁻¹) of the latent functions
// at n labelled points, given Laplace's approximation. At a maximum of the lower bound of the evidence (Opper
// and Archambeau, Neural Computation 21, 2009)
//
//	a_i = E_q[∂log p(y_i|f_i)],  W_i = -E_q[∂²log p(y_i|f_i)].
//
// Laplace's approximation has the values at the maximum f̂ instead of the expectations. With a large output
// variance f̂ is much nearer to m than the mean of f is, and probabilities are too close to ½ (Nickisch and
// Rasmussen, JMLR 9, 2008). For L > 1 W is restricted to D - D11ᵀD/1ᵀD1 with D_i = s_i E_q[π_i], and s_i gives W_i
// the trace of the expectation, so only a is at its fixed point. The steps are by Khan and Lin (AISTATS 2017) and
// cost O(Ln³). The evidence of the result is Laplace's. The error is ErrNoFixedPoint if the steps do not converge,
// as can happen with an output variance of 1e4 or more.
func Variational(ctx context.Context, k []*mat.SymDense, m []float64, y []int, start *Approximation) (*Approximation, error) {
	l, n := start.F.Dims()
	s := &Approximation{F: mat.DenseCopyOf(start.F), A: mat.DenseCopyOf(start.A), D: mat.DenseCopyOf(start.D), Factor: start.Factor, Evidence: start.Evidence}
	grad, step, rise := mat.NewDense(l, n, nil), mat.NewDense(l, n, nil), mat.NewDense(l, n, nil)
	expected := newExpectations(l)
	last := mat.NewDense(l, n, nil)
	share, distance := firstShare, math.Inf(1)
	for range variationalSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cov := s.covariances(k)
		for j, label := range y {
			expected.at(s.F, cov.RawRowView(j), j)
			for c, p := range expected.prob {
				grad.Set(c, j, -p)
				s.D.Set(c, j, (1-share)*s.D.At(c, j)+share*expected.d[c])
			}
			switch {
			case l > 1:
				grad.Set(label, j, 1+grad.At(label, j))
			case label == 1:
				grad.Set(0, j, 1+grad.At(0, j))
			}
		}
		var err error
		if s.Factor, err = NewFactor(k, s.D); err != nil {
			return nil, err
		}
		s.newton(step, rise, k, m, grad)
		step.Scale(share, step)
		s.A.Add(s.A, step)
		mulBlocks(rise, k, step)
		s.F.Add(s.F, rise)
		along := 0.0 // product with the last step
		distance = 0
		for c := range l {
			before := last.RawRowView(c)
			for j, v := range rise.RawRowView(c) {
				variance := cov.At(j, c*l+c)
				if variance <= 0 { // the prior fixes the value
					continue
				}
				distance = max(distance, math.Abs(v)/math.Sqrt(variance)/share)
				along += v * before[j] / variance
			}
		}
		if distance < enough {
			break
		}
		last.Copy(rise)
		if along < 0 {
			share = max(share/2, leastShare)
		} else {
			share = min(share*shareGrowth, firstShare)
		}
	}
	if !(distance < atMost) {
		return nil, ErrNoFixedPoint
	}
	return s, nil
}

// expectations computes expectations under the Gaussian of L latent functions at a point.
type expectations struct {
	prob, d []float64 // E[π], and D of the restricted W
	mean    []float64
	*integral
}

// expectationDraws is the number of points of the quadrature in a step, for L > 1.
const expectationDraws = 256

func newExpectations(l int) *expectations {
	e := &expectations{prob: make([]float64, l), d: make([]float64, l), mean: make([]float64, l)}
	if l > 1 {
		e.integral = newIntegral(l)
	}
	return e
}

// at computes the expectations at labelled point j, given the means of the latent functions, L×n, and their
// covariance at the point, which it may change.
func (e *expectations) at(f *mat.Dense, cov []float64, j int) {
	l := len(e.mean)
	for c := range l {
		e.mean[c] = f.At(c, j)
		cov[c*l+c] = max(cov[c*l+c], 0)
	}
	if l == 1 {
		e.prob[0], e.d[0], _ = specfn.LogisticNormal(e.mean[0], cov[0])
		return
	}
	squares := e.integral.mean(e.prob, e.mean, cov, expectationDraws)
	scale := 1.0 // tr E[diag(π) - ππᵀ] / tr(diag(E[π]) - E[π]E[π]ᵀ)
	if own := linalg.Dot(e.prob, e.prob); own < 1 {
		scale = (1 - squares) / (1 - own)
	}
	for c, p := range e.prob {
		e.d[c] = scale * p
	}
}
