package acquisition

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
)

// shared keeps results for the next points of a batch that are chosen one after another. They are used only
// for the same arguments, because an Acquisition may change its Problem.
type shared struct {
	contenders  contenders
	conditioned []conditioned
	evaluated   []evaluated
}

// contenders are evaluated points that may limit the improvement, with the arguments of the search for them.
type contenders struct {
	points   *mat.Dense
	name     string // of the acquisition function
	observed *mat.Dense
	outputs  []surrogate.Posterior
}

// conditioned holds original and the posterior that follows from it by conditioning on its mean at the rows of pending.
type conditioned struct {
	original, posterior surrogate.Posterior
	pending             *mat.Dense
}

// evaluated is the mean and the variance of a posterior at the evaluated points.
type evaluated struct {
	posterior      surrogate.Posterior
	observed       *mat.Dense
	mean, variance []float64
}

// atObserved returns the mean and the variance of posterior at the evaluated points, which the caller leaves
// unchanged. In a batch it computes them once. It stops when p.done is closed; the result is then incomplete.
func (p Problem) atObserved(posterior surrogate.Posterior) (mean, variance []float64) {
	if p.shared != nil {
		for _, m := range p.shared.evaluated {
			if m.observed == p.Observed && identical(m.posterior, posterior) {
				return m.mean, m.variance
			}
		}
	}
	n := rowCount(p.Observed)
	mean, variance = make([]float64, n), make([]float64, n)
	if !p.eachObserved(func(x *mat.Dense, lo, hi int) { posterior.Predict(mean[lo:hi], variance[lo:hi], x) }) {
		return mean, variance
	}
	if p.shared != nil && identical(posterior, posterior) {
		p.shared.evaluated = append(p.shared.evaluated, evaluated{posterior, p.Observed, mean, variance})
	}
	return mean, variance
}

// eachObserved calls f for blocks of at most manyObserved evaluated points, in order. It returns false if p.done is
// closed before the last block.
func (p Problem) eachObserved(f func(x *mat.Dense, lo, hi int)) bool {
	n := rowCount(p.Observed)
	for lo := 0; lo < n; lo += manyObserved {
		select {
		case <-p.done:
			return false
		default:
		}
		hi := min(lo+manyObserved, n)
		f(rows(p.Observed, lo, hi), lo, hi)
	}
	return true
}

// sharedContenders returns the points that find returns. In a batch it calls find for the first point only.
func (p Problem) sharedContenders(name string, find func() (*mat.Dense, error)) (*mat.Dense, error) {
	if p.shared == nil {
		return find()
	}
	c := &p.shared.contenders
	outputs := p.outputs()
	if c.points == nil || c.name != name || c.observed != p.Observed || !slices.EqualFunc(c.outputs, outputs, identical) {
		points, err := find()
		if err != nil {
			return nil, err
		}
		*c = contenders{points, name, p.Observed, outputs}
	}
	return c.points, nil
}

// condition conditions p on the mean y at the rows of x. In a batch it adds only the rows that are new.
func (s *shared) condition(p surrogate.Conditioner, x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	if s == nil {
		return p.Condition(x, y)
	}
	at := slices.IndexFunc(s.conditioned, func(c conditioned) bool { return identical(c.original, p) })
	if at < 0 {
		at, s.conditioned = len(s.conditioned), append(s.conditioned, conditioned{original: p, posterior: p})
	}
	c, from, known := &s.conditioned[at], p, 0
	if before, ok := c.posterior.(surrogate.Conditioner); ok && startsWith(x, c.pending) {
		from, known = before, rowCount(c.pending)
	}
	if known < len(y) {
		posterior, err := from.Condition(rows(x, known, len(y)), y[known:])
		if err != nil {
			return nil, err
		}
		c.posterior, c.pending = posterior, x
	}
	return c.posterior, nil
}

// identical reports whether a and b are one posterior. Values that cannot be compared are not.
func identical(a, b surrogate.Posterior) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}

// startsWith reports whether x begins with the rows of prefix.
func startsWith(x, prefix *mat.Dense) bool {
	n := rowCount(prefix)
	if n > rowCount(x) {
		return false
	}
	for i := range n {
		if !slices.Equal(x.RawRowView(i), prefix.RawRowView(i)) {
			return false
		}
	}
	return true
}
