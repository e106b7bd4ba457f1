package surrogate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// withOptional returns p with the optional methods of the inner posterior.
func (p *scaled) withOptional() Posterior {
	_, conditions := p.inner.(Conditioner)
	_, leavesOut := p.inner.(LeaveOneOut)
	_, hasEvidence := p.inner.(Evidence)
	_, whitens := p.inner.(Whitener)
	c, l, e := scaledConditioner{p}, scaledLeaveOneOut{p}, scaledEvidence{p}
	switch {
	case conditions && leavesOut && hasEvidence && whitens:
		return struct {
			*scaled
			scaledConditioner
			scaledLeaveOneOut
			scaledEvidence
			scaledWhitener
		}{p, c, l, e, scaledWhitener{p}}
	case conditions && leavesOut && hasEvidence:
		return struct {
			*scaled
			scaledConditioner
			scaledLeaveOneOut
			scaledEvidence
		}{p, c, l, e}
	case conditions && leavesOut:
		return struct {
			*scaled
			scaledConditioner
			scaledLeaveOneOut
		}{p, c, l}
	case conditions && hasEvidence:
		return struct {
			*scaled
			scaledConditioner
			scaledEvidence
		}{p, c, e}
	case leavesOut && hasEvidence:
		return struct {
			*scaled
			scaledLeaveOneOut
			scaledEvidence
		}{p, l, e}
	case conditions:
		return struct {
			*scaled
			scaledConditioner
		}{p, c}
	case leavesOut:
		return struct {
			*scaled
			scaledLeaveOneOut
		}{p, l}
	case hasEvidence:
		return struct {
			*scaled
			scaledEvidence
		}{p, e}
	}
	return p
}

type scaledConditioner struct{ of *scaled }

func (c scaledConditioner) Condition(x *mat.Dense, y []float64) (Posterior, error) {
	if err := (Dataset{X: x, Y: y}).Validate(); err != nil {
		return nil, err
	}
	p := *c.of
	added := make([]float64, len(y))
	p.shift(added, nil, x)
	y = slices.Clone(y)
	floats.Sub(y, added)
	inner, err := p.inner.(Conditioner).Condition(p.inputs.Apply(x), p.output.Apply(nil, y))
	if err != nil {
		return nil, err
	}
	p.inner, p.n = inner, p.n+len(y)
	if p.m != nil {
		p.trained = slices.Concat(p.trained, added)
	}
	return p.withOptional(), nil
}

type scaledLeaveOneOut struct{ of *scaled }

func (l scaledLeaveOneOut) LeaveOneOut(mean, variance []float64) {
	l.of.inner.(LeaveOneOut).LeaveOneOut(mean, variance)
	l.of.momentsToUser(mean, variance)
	if l.of.m != nil {
		floats.Add(mean, l.of.trained)
	}
}

type scaledEvidence struct{ of *scaled }

// p(y) = p(z)/sdⁿ.
func (e scaledEvidence) LogMarginalLikelihood() float64 {
	return e.of.inner.(Evidence).LogMarginalLikelihood() - float64(e.of.n)*math.Log(e.of.output.SD)
}

type scaledWhitener struct{ of *scaled }

// Whiten writes the errors of the inner posterior: they have no unit.
func (w scaledWhitener) Whiten(dst []float64) { w.of.inner.(Whitener).Whiten(dst) }
