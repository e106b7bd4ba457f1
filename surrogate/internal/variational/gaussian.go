package variational

import (
	"math"

	"github.com/functionspace/bo/internal/linalg"
	"gonum.org/v1/gonum/mat"
)

// PublishedScale is softplus(-5), the published initial value of s.
const PublishedScale = 0.006715348489118068

// LeastSD returns the lower bound of a learned noise standard deviation.
func LeastSD(noiseFree bool) float64 {
	if noiseFree {
		return 1e-3
	}
	return 1e-2
}

// Gaussian is q(w) = N(m, S) of p weights, with the noise standard deviation σ. All its
// parameters are parts of one vector: m, log s, the rows of Uᵀ, log σ.
type Gaussian struct {
	M, LogS []float64
	Ut      *mat.Dense // Uᵀ; nil if S is diagonal
	LogSD   []float64  // log σ, of length 1
	Vector  []float64
}

// NewLowRank returns a q with S = diag(s²) + UUᵀ, where U has the given rank.
func NewLowRank(p, rank int) *Gaussian { return New(p, p, rank, p) }

// NewOutput returns a q with S = diag(s²) for all weights but the last k. For the last k weights S = UUᵀ with a
// k×k matrix U.
func NewOutput(p, k int) *Gaussian { return New(p, p-k, k, k) }

// New returns a q with p means, scales for the first h weights, and a rank×width matrix Uᵀ
// for the last width weights.
func New(p, h, rank, width int) *Gaussian {
	return cut(make([]float64, p+h+rank*width+1), p, h, rank, width)
}

func cut(vector []float64, p, h, rank, width int) *Gaussian {
	u := p + h
	q := &Gaussian{Vector: vector, M: vector[:p], LogS: vector[p:u], LogSD: vector[u+rank*width:]}
	if rank > 0 {
		q.Ut = mat.NewDense(rank, width, vector[u:u+rank*width])
	}
	return q
}

// With returns a q of the same shape with the given vector.
func (q *Gaussian) With(vector []float64) *Gaussian {
	rank, width := 0, 0
	if q.Ut != nil {
		rank, width = q.Ut.Dims()
	}
	return cut(vector, len(q.M), len(q.LogS), rank, width)
}

// Like returns a q of the same shape with a vector of zeros, to hold a gradient.
func (q *Gaussian) Like() *Gaussian { return q.With(make([]float64, len(q.Vector))) }

// Rank returns the number of columns of U.
func (q *Gaussian) Rank() int {
	if q.Ut == nil {
		return 0
	}
	r, _ := q.Ut.Dims()
	return r
}

// Scales returns s.
func (q *Gaussian) Scales() []float64 {
	s := make([]float64, len(q.LogS))
	for i, l := range q.LogS {
		s[i] = math.Exp(l)
	}
	return s
}

// Noise returns σ².
func (q *Gaussian) Noise() float64 { return math.Exp(2 * q.LogSD[0]) }

// SetScales sets every entry of the vector s to the given value.
func (q *Gaussian) SetScales(s float64) {
	linalg.Fill(q.LogS, math.Log(s))
}
