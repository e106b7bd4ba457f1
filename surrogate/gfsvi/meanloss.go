package gfsvi

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate/internal/domain"
)

// chunk is the number of points in one pass of the network.
const chunk = 256

// meanLoss is the part of F without covariances, at B of n observations and M measurement
// points,
//
//	G = (n/B) Σ_batch [ ½ log 2πσ² + (y - f)²/(2σ²) ] + ½ Δᵀ(K + γM I)⁻¹Δ,  Δ = f(C,m) - μ.
//
// It holds a workspace and serves one goroutine.
type meanLoss struct {
	net     *nn.Network
	inputs  domain.Affine
	process prior.Process
	gamma   float64
	n       int

	c    *mat.Dense      // measurement points in network units
	chol linalg.Cholesky // factor of K + γM I

	x *mat.Dense // batch inputs in network units
	y []float64

	tape     nn.Tape
	residual []float64
}

// measure sets the measurement points to the rows of c, in the dataset's units, in O(M³).
func (l *meanLoss) measure(c *mat.Dense) error {
	m, _ := c.Dims()
	k := mat.NewSymDense(m, nil)
	l.process.Kernel.Gram(k, c)
	linalg.AddDiagonal(k, l.gamma*float64(m))
	if err := l.chol.Factorize(k); err != nil {
		return fmt.Errorf("prior covariance at the measurement points: %w", err)
	}
	l.c = l.inputs.Apply(c)
	return nil
}

// value returns G.
func (l *meanLoss) value(m []float64, logSD float64) float64 {
	b, u := float64(len(l.y)), l.whitened(m)
	penalty := 0.5 * linalg.Dot(u, u)
	return l.weight()*(b*(logSD+0.5*math.Log(2*math.Pi))+0.5*math.Exp(-2*logSD)*l.squaredError(m)) + penalty
}

// gradient writes ∂G/∂m to dm and returns ∂G/∂log σ, in O((B+M)p + M²) for p
// weights.
func (l *meanLoss) gradient(dm, m []float64, logSD float64) (dlogSD float64) {
	clear(dm)
	r, precision := l.errors(m, 0, len(l.y)), math.Exp(-2*logSD)
	dlogSD = l.weight() * (float64(len(r)) - precision*linalg.Dot(r, r))
	floats.Scale(l.weight()*precision, r)
	l.tape.VJP(dm, r)
	u := l.whitened(m)
	l.chol.SolveUpperVec(u)
	l.tape.VJP(dm, u)
	return dlogSD
}

// weight returns n/B.
func (l *meanLoss) weight() float64 { return float64(l.n) / float64(len(l.y)) }

// errors records the network at rows i to k of the batch and returns f - y. The result is
// valid until the next call of errors or whitened.
func (l *meanLoss) errors(m []float64, i, k int) []float64 {
	l.tape.Record(l.net, m, shape.Rows(l.x, i, k))
	l.residual = append(l.residual[:0], l.tape.Value()...)
	linalg.Axpy(-1, l.y[i:k], l.residual)
	return l.residual
}

// whitened records the network at the measurement points and returns L⁻¹Δ, with
// L Lᵀ = K + γM I.
func (l *meanLoss) whitened(m []float64) []float64 {
	l.tape.Record(l.net, m, l.c)
	l.residual = append(l.residual[:0], l.tape.Value()...)
	floats.AddConst(-l.process.Mean, l.residual)
	l.chol.SolveLowerVec(l.residual)
	return l.residual
}

// squaredError returns the sum of squared errors on the batch.
func (l *meanLoss) squaredError(m []float64) float64 {
	var sum float64
	for i := 0; i < len(l.y); i += chunk {
		r := l.errors(m, i, min(len(l.y), i+chunk))
		sum += linalg.Dot(r, r)
	}
	return sum
}
