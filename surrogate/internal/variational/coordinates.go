package variational

import (
	"math"

	"github.com/functionspace/bo/internal/specfn"
)

// Coordinates are the variables x, other than log s and log σ, in which a published algorithm
// trains s and σ. Means and U are their own coordinates.
type Coordinates struct {
	At, Bar *Gaussian // the coordinates and the gradient; x stands in LogS and LogSD

	log func(x float64) (log, slope float64) // log s and its derivative
}

// NewSoftplus returns the coordinates of q with s = log(1 + eˣ).
func NewSoftplus(q *Gaussian) *Coordinates {
	return newCoordinates(q,
		func(l float64) float64 { return specfn.SoftplusInverse(math.Exp(l)) },
		func(x float64) (log, slope float64) {
			s, slope := specfn.Softplus(x)
			return math.Log(s), slope / s
		})
}

// NewLogVariance returns the coordinates of q with s² = eˣ.
func NewLogVariance(q *Gaussian) *Coordinates {
	return newCoordinates(q,
		func(l float64) float64 { return 2 * l },
		func(x float64) (log, slope float64) { return x / 2, 0.5 })
}

func newCoordinates(q *Gaussian, inverse func(log float64) float64, log func(x float64) (log, slope float64)) *Coordinates {
	c := &Coordinates{At: q.Like(), Bar: q.Like(), log: log}
	copy(c.At.Vector, q.Vector)
	for _, part := range [][]float64{c.At.LogS, c.At.LogSD} {
		for i, l := range part {
			part[i] = inverse(l)
		}
	}
	return c
}

// Pull converts a gradient with respect to q to a gradient with respect to the coordinates, in
// Bar.
func (c *Coordinates) Pull(grad *Gaussian) {
	copy(c.Bar.Vector, grad.Vector)
	for i, x := range c.At.LogS {
		_, slope := c.log(x)
		c.Bar.LogS[i] *= slope
	}
	_, slope := c.log(c.At.LogSD[0])
	c.Bar.LogSD[0] *= slope
}

// Push sets q to the value of the coordinates.
func (c *Coordinates) Push(q *Gaussian) {
	copy(q.Vector, c.At.Vector)
	for i, x := range c.At.LogS {
		q.LogS[i], _ = c.log(x)
	}
	q.LogSD[0], _ = c.log(c.At.LogSD[0])
}
