package optimize

import "math"

// search is the minimisation from one start as a state machine: the caller evaluates
// the function at trial and calls tell, until done.
type search struct {
	set    Settings
	lo, hi []float64

	trial []float64 // point to evaluate next
	done  bool

	x, g []float64 // the iterate
	f    float64
	dir  []float64
	line lineSearch
	hist history
	step quadratic

	best, bestG []float64 // point with the lowest value so far
	bestF       float64

	iter, evals int
	converged   bool
}

func newSearch(x0, lo, hi []float64, set Settings) *search {
	n := len(x0)
	checkBox(n, lo, hi)
	s := &search{
		set: set, lo: fill(lo, n, math.Inf(-1)), hi: fill(hi, n, math.Inf(1)),
		trial: make([]float64, n), x: make([]float64, n), g: make([]float64, n), dir: make([]float64, n),
		best: make([]float64, n), bestG: make([]float64, n), bestF: math.Inf(1),
		f: math.Inf(1),
	}
	s.hist.init(n, memory)
	s.hist.load(set.Curvature)
	s.step.init(n, memory)
	copy(s.trial, x0)
	s.clip(s.trial)
	copy(s.best, s.trial)
	return s
}

func fill(bound []float64, n int, v float64) []float64 {
	if bound != nil {
		return bound
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func (s *search) clip(x []float64) { Clip(x, s.lo, s.hi) }

// Clip moves x to the nearest point of the box [lo, hi].
func Clip(x, lo, hi []float64) {
	for i, v := range x {
		x[i] = min(max(v, lo[i]), hi[i])
	}
}

func (s *search) result() Result {
	return Result{X: append([]float64(nil), s.best...), F: s.bestF, Iterations: s.iter, Evaluations: s.evals, Converged: s.converged, Curvature: s.hist.curvature()}
}

// tell takes the value and gradient at trial. It sets the next trial or ends the
// search.
func (s *search) tell(f float64, g []float64) {
	s.evals++
	if !finite(f, g) {
		f = math.Inf(1)
	}
	if f < s.bestF {
		s.bestF = f
		copy(s.best, s.trial)
		copy(s.bestG, g)
	}
	if s.evals == 1 {
		if math.IsInf(f, 1) {
			s.done = true
			return
		}
		s.x, s.f, s.g = append(s.x[:0], s.trial...), f, append(s.g[:0], g...)
		s.advance()
		return
	}

	var slope float64
	if !math.IsInf(f, 1) {
		slope = dot(g, s.dir)
	}
	switch s.line.tell(f, slope) {
	case lineAccept:
		s.accept(s.trial, f, g)
	case lineFail:
		switch {
		case s.bestF < s.f: // a decrease that does not satisfy the Wolfe conditions
			s.accept(s.best, s.bestF, s.bestG)
		default:
			s.restart()
		}
	default:
		if s.evals >= s.set.MaxEval {
			s.done = true
			return
		}
		s.moveTo(s.line.at)
	}
}

// accept sets the iterate to x, and stops or starts the next line search.
func (s *search) accept(x []float64, f float64, g []float64) {
	s.iter++
	s.hist.push(s.x, s.g, x, g)
	small := s.f-f <= s.set.FuncTol*max(math.Abs(s.f), math.Abs(f), 1)
	s.f = f
	copy(s.x, x)
	copy(s.g, g)
	switch {
	case small:
		s.done, s.converged = true, true
	default:
		s.advance()
	}
}

// advance starts a line search from the iterate.
func (s *search) advance() {
	if s.projectedGradient() <= s.set.GradTol {
		s.done, s.converged = true, true
		return
	}
	if s.iter >= s.set.MaxIter || s.evals >= s.set.MaxEval {
		s.done = true
		return
	}
	for {
		if s.step.minimizer(s.dir, s.x, s.g, s.lo, s.hi, &s.hist) {
			for i, v := range s.x {
				s.dir[i] -= v
			}
			if slope := dot(s.dir, s.g); slope < 0 && !math.IsInf(slope, -1) {
				if s.hist.len() > 0 && -slope/2 <= s.set.Gain {
					s.done, s.converged = true, true
					return
				}
				break
			}
		}
		if s.hist.len() == 0 { // rounding hides any feasible descent
			s.done = true
			return
		}
		s.hist.reset()
	}
	first := 1.0
	if s.hist.len() == 0 {
		first = min(1, 1/math.Sqrt(dot(s.dir, s.dir)))
	}
	s.line.start(s.f, dot(s.dir, s.g), first, s.longest())
	s.moveTo(s.line.at)
}

// restart follows a line search without any decrease. It drops the stored pairs and
// searches along the projected gradient, once.
func (s *search) restart() {
	if s.hist.len() > 0 && s.evals < s.set.MaxEval {
		s.hist.reset()
		s.advance()
		return
	}
	s.done = true
	s.converged = -s.line.slope0 <= s.set.FuncTol*max(math.Abs(s.f), 1)
}

func (s *search) moveTo(a float64) {
	for i, v := range s.x {
		s.trial[i] = v + a*s.dir[i]
	}
	s.clip(s.trial)
}

// longest returns the largest step along dir inside the box, at least 1.
func (s *search) longest() float64 {
	a := 1e10
	for i, d := range s.dir {
		switch {
		case d > 0:
			a = min(a, (s.hi[i]-s.x[i])/d)
		case d < 0:
			a = min(a, (s.lo[i]-s.x[i])/d)
		}
	}
	return max(a, 1)
}

// projectedGradient returns the largest component of x - P(x-g).
func (s *search) projectedGradient() float64 {
	var big float64
	for i, g := range s.g {
		v := min(max(s.x[i]-g, s.lo[i]), s.hi[i])
		big = max(big, math.Abs(s.x[i]-v))
	}
	return big
}

func finite(f float64, g []float64) bool {
	sum := 0 * f
	for _, v := range g {
		sum += 0 * v
	}
	return sum == 0
}

func dot(x, y []float64) float64 {
	var s float64
	for i, v := range x {
		s += v * y[i]
	}
	return s
}
