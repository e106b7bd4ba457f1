package optimize

import "math"

type lineStatus int

const (
	lineMore lineStatus = iota
	lineAccept
	lineFail
)

// The strong-Wolfe conditions at a step a along a direction of slope φ'(0) < 0:
// φ(a) ≤ φ(0) + decrease·a·φ'(0) and |φ'(a)| ≤ -curvature·φ'(0).
const (
	decrease  = 1e-3
	curvature = 0.9
	lineTries = 25
)

// lineSearch finds a strong-Wolfe step by bracketing and zooming (Nocedal and Wright
// 2006, algorithms 3.5 and 3.6) with safeguarded cubic interpolation.
type lineSearch struct {
	at            float64 // the step to evaluate next
	f0, slope0    float64
	low, high     lineEnd // low is the end with the lowest value that meets the decrease condition
	bracketed     bool
	longest       float64
	tries         int
	width, width2 float64 // width of the bracket one and two steps ago
}

type lineEnd struct{ a, f, slope float64 }

func (l *lineSearch) start(f, slope, first, longest float64) {
	*l = lineSearch{at: first, f0: f, slope0: slope, low: lineEnd{0, f, slope}, longest: longest, width: math.Inf(1), width2: math.Inf(1)}
}

// tell takes φ and φ' at the step l.at; f is +Inf at infeasible points.
func (l *lineSearch) tell(f, slope float64) lineStatus {
	l.tries++
	here := lineEnd{l.at, f, slope}
	before := l.low
	switch {
	case f > l.f0+decrease*l.at*l.slope0 || f >= l.low.f:
		l.high, l.bracketed = here, true
	case math.Abs(slope) <= -curvature*l.slope0:
		return lineAccept
	case l.at >= l.longest && slope < 0:
		return lineAccept // the box ends here
	case !l.bracketed && slope < 0:
		l.low = here
	default:
		if !l.bracketed || slope*(l.high.a-l.low.a) >= 0 {
			l.high, l.bracketed = l.low, true
		}
		l.low = here
	}
	if l.tries == lineTries {
		return lineFail
	}
	if !l.bracketed {
		gap := here.a - before.a
		a := cubicMinimum(before, here)
		if !(a > here.a+1.1*gap) { // also when the cubic has no minimum
			a = here.a + 1.1*gap
			if here.slope <= before.slope {
				a = here.a + 4*gap
			}
		}
		l.at = min(a, here.a+4*gap, l.longest)
		return lineMore
	}
	return l.zoom()
}

func (l *lineSearch) zoom() lineStatus {
	w := l.high.a - l.low.a
	width := math.Abs(w)
	if width <= 1e-15*max(l.low.a, l.high.a) || l.low.a+w/2 == l.low.a {
		return lineFail
	}
	var a float64
	switch {
	case math.IsInf(l.high.f, 1):
		a = l.low.a + w/4
	case width > 0.66*l.width2:
		a = l.low.a + w/2
	default:
		a = cubicMinimum(l.low, l.high)
		t := (a - l.low.a) / w
		if math.IsNaN(t) {
			t = 0.5
		}
		a = l.low.a + min(max(t, 0.01), 0.99)*w
	}
	l.width2, l.width = l.width, width
	l.at = a
	return lineMore
}

// cubicMinimum returns the local minimiser of the cubic through two values and
// slopes (Nocedal and Wright 2006, eq. 3.59), NaN if it has none.
func cubicMinimum(p, q lineEnd) float64 {
	d1 := p.slope + q.slope - 3*(p.f-q.f)/(p.a-q.a)
	// Scaled to keep the square finite.
	scale := max(math.Abs(d1), math.Abs(p.slope), math.Abs(q.slope))
	r := d1/scale*(d1/scale) - p.slope/scale*(q.slope/scale)
	d2 := math.Copysign(scale*math.Sqrt(r), q.a-p.a)
	return q.a - (q.a-p.a)*(q.slope+d2-d1)/(q.slope-p.slope+2*d2)
}
