package acquisition

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// compared returns p with the points of its Baseline as evaluated points, and with posteriors conditioned on their means at the
// points Elsewhere. Its Posterior, Objectives and Constraints keep their means. It returns p if it has no Baseline.
func (p Problem) compared() (Problem, error) {
	if p.Baseline == nil {
		return p, nil
	}
	p.Observed = p.Baseline
	x := p.Elsewhere
	if rowCount(x) == 0 {
		return p, nil
	}
	p.Elsewhere = nil
	var err error
	at := func(posterior surrogate.Posterior) (out surrogate.Posterior) {
		if err == nil {
			out, err = atMeans(posterior, x)
		}
		return out
	}
	single := at(p.Posterior)
	objectives := p.Objectives
	p.Objectives = nil
	for i, o := range objectives {
		if i == 0 { // the first objective is Posterior
			p.Objectives = append(p.Objectives, single)
			continue
		}
		p.Objectives = append(p.Objectives, at(o))
	}
	p.Posterior = single
	constraints := p.Constraints
	p.Constraints = nil
	for _, c := range constraints {
		p.Constraints = append(p.Constraints, Constraint{at(c.Posterior), c.Bound})
	}
	return p, err
}

// atMeans returns p conditioned on observations of its mean at the rows of x.
func atMeans(p surrogate.Posterior, x *mat.Dense) (surrogate.Posterior, error) {
	mean, variance := make([]float64, rowCount(x)), make([]float64, rowCount(x))
	p.Predict(mean, variance, x)
	var out surrogate.Posterior
	var err error
	if c, ok := p.(surrogate.Conditioner); ok {
		out, err = c.Condition(x, mean)
	} else {
		out, err = believe(p, x)
	}
	if err != nil {
		return nil, fmt.Errorf("acquisition: conditioning on %d pending points: %w", len(mean), err)
	}
	return out, nil
}

// exact reports whether the values of an output at the evaluated points are known: it has no noise, and the points are no
// Baseline.
func (p Problem) exact(output surrogate.Posterior) bool {
	return p.Baseline == nil && output.Noise() < exactNoise
}

// Bounded is a Domain in a box that may be smaller than the unit cube. A *space.Space is Bounded.
type Bounded interface {
	Domain
	// Bounds returns the box.
	Bounds() (lo, hi []float64)
}

// bounds returns a box that contains dom.
func bounds(dom Domain) (lo, hi []float64) {
	if b, ok := dom.(Bounded); ok {
		return b.Bounds()
	}
	return unitCube(dom.Dim())
}
