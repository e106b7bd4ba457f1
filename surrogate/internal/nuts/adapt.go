package nuts

import "math"

// dualAveraging adapts log ε so that the mean acceptance probability approaches target
// (Hoffman and Gelman 2014, eq. 6, with their γ, t₀ and κ).
type dualAveraging struct {
	target, mu     float64
	h, averaged, t float64
}

func newDualAveraging(target, step float64) *dualAveraging {
	return &dualAveraging{target: target, mu: math.Log(10 * step)}
}

// update returns the next step size, given the acceptance probability of the last.
func (a *dualAveraging) update(accept float64) float64 {
	const gamma, t0, kappa = 0.05, 10, 0.75
	a.t++
	a.h += (a.target - accept - a.h) / (a.t + t0)
	logStep := a.mu - math.Sqrt(a.t)/gamma*a.h
	a.averaged += math.Pow(a.t, -kappa) * (logStep - a.averaged)
	return math.Exp(logStep)
}

// final returns the averaged step size.
func (a *dualAveraging) final() float64 { return math.Exp(a.averaged) }

// moments accumulates variances (Welford 1962).
type moments struct {
	n         float64
	mean, sum []float64
}

func newMoments(d int) *moments { return &moments{mean: make([]float64, d), sum: make([]float64, d)} }

func (m *moments) add(q []float64) {
	m.n++
	for i, v := range q {
		e := v - m.mean[i]
		m.mean[i] += e / m.n
		m.sum[i] += e * (v - m.mean[i])
	}
}

// variance writes the variances, shrunk towards 1e-3 with the weight of five draws.
func (m *moments) variance(dst []float64) {
	for i, s := range m.sum {
		dst[i] = (m.n*s/(m.n-1) + 5e-3) / (m.n + 5)
	}
}

// windows returns the iterations of a warm-up after which the variances are estimated
// from the draws since the previous estimate. Draws before first are not used. The windows
// double from 25 draws, and the last tenth of the warm-up adapts the step size only
// (Stan's schedule in proportion).
func windows(warmup int) (first int, ends map[int]bool) {
	first = (15*warmup + 99) / 100
	last := warmup - (10*warmup+99)/100
	ends = map[int]bool{}
	for at, size := first, 25; at < last; size *= 2 {
		if at += size; at+2*size > last {
			at = last
		}
		ends[at] = true
	}
	return first, ends
}
