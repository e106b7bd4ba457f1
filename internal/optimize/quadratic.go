package optimize

import (
	"cmp"
	"math"
	"slices"
)

// quadratic minimises the model g·(z-x) + ½(z-x)ᵀB(z-x) over z in the box in two steps:
// first the first local minimiser along the projected gradient path, then the minimiser
// over the variables that are free there.
type quadratic struct {
	breaks []breakpoint
	d      []float64
	free   []int
	red    []float64 // reduced gradient, of the free variables
	p, c   []float64 // Wᵀd and Wᵀ(z-x)
	w, u   []float64
	sys    []float64
	wf     []float64 // rows of W for the free variables
}

type breakpoint struct {
	t float64
	i int
}

func (q *quadratic) init(n, memory int) {
	k := 2 * memory
	*q = quadratic{
		breaks: make([]breakpoint, 0, n), d: make([]float64, n), free: make([]int, 0, n), red: make([]float64, n),
		p: make([]float64, k), c: make([]float64, k), w: make([]float64, k), u: make([]float64, k),
		sys: make([]float64, k*k), wf: make([]float64, n*k),
	}
}

// minimizer writes the point to z. It returns false if the model is degenerate.
func (q *quadratic) minimizer(z, x, g, lo, hi []float64, h *history) bool {
	if !q.cauchy(z, x, g, lo, hi, h) {
		return false
	}
	if h.len() == 0 || len(q.free) == 0 {
		return true
	}
	return q.subspace(z, x, g, lo, hi, h)
}

// path sets d to the direction of the projected gradient path at x and breaks to its
// breakpoints in ascending order. It returns the sum of the squared gradient over the
// coordinates that are not held at a bound, and the number of coordinates that move.
func (q *quadratic) path(x, g, lo, hi []float64) (dd float64, moving int) {
	q.breaks = q.breaks[:0]
	for i, gi := range g {
		t := math.Inf(1)
		switch {
		case gi < 0:
			t = (x[i] - hi[i]) / gi
		case gi > 0:
			t = (x[i] - lo[i]) / gi
		}
		if q.d[i] = -gi; t <= 0 {
			q.d[i] = 0
			continue
		}
		if gi != 0 {
			moving++
		}
		dd += gi * gi
		if gi != 0 && !math.IsInf(t, 1) {
			q.breaks = append(q.breaks, breakpoint{t, i})
		}
	}
	slices.SortFunc(q.breaks, func(a, b breakpoint) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.i, b.i))
	})
	return dd, moving
}

// cauchy writes the generalised Cauchy point to z, Wᵀ(z-x) to c and the
// variables strictly between their bounds to free (Byrd et al. 1995, algorithm
// CP).
func (q *quadratic) cauchy(z, x, g, lo, hi []float64, h *history) bool {
	k := 2 * h.len()
	p, c, w, u := q.p[:k], q.c[:k], q.w[:k], q.u[:k]
	clear(p)
	clear(c)
	copy(z, x)
	q.free = q.free[:0]
	dd, moving := q.path(x, g, lo, hi)
	if !(dd > 0) || math.IsInf(dd, 1) {
		return false
	}
	for j := range h.len() {
		p[j], p[h.len()+j] = dot(h.y[j], q.d), h.theta*dot(h.s[j], q.d)
	}

	slope, curv := -dd, h.theta*dd
	h.middle(u, p)
	curv -= dot(p, u)
	floor := 0x1p-52 * h.theta * dd
	curv = max(curv, floor)

	t := 0.0
	for _, b := range q.breaks {
		dt := b.t - t
		if -slope/curv < dt {
			break
		}
		i, gi := b.i, g[b.i]
		if gi > 0 {
			z[i] = lo[i]
		} else {
			z[i] = hi[i]
		}
		zi := z[i] - x[i]
		for j := range c {
			c[j] += dt * p[j]
		}
		h.row(w, i)
		h.middle(u, w)
		slope += dt*curv + gi*gi + h.theta*gi*zi - gi*dot(u, c)
		curv -= h.theta*gi*gi + 2*gi*dot(u, p) + gi*gi*dot(u, w)
		curv = max(curv, floor)
		for j := range p {
			p[j] += gi * w[j]
		}
		q.d[i] = 0
		moving--
		t = b.t
		if slope >= 0 {
			break
		}
	}
	dt := 0.0
	if slope < 0 && moving > 0 {
		dt = -slope / curv
	}
	if math.IsNaN(dt) {
		return false
	}
	for j := range c {
		c[j] += dt * p[j]
	}
	t += dt
	for i, di := range q.d {
		if di != 0 {
			z[i] = min(max(x[i]+t*di, lo[i]), hi[i])
		}
		if z[i] > lo[i] && z[i] < hi[i] {
			q.free = append(q.free, i)
		}
	}
	return true
}

// subspace moves the free variables of the Cauchy point z to the minimiser of the model over them. This is the
// direct primal method of Byrd et al. (1995). subspace projects the point on the box if this still descends
// from x; otherwise it shortens the step to the box.
func (q *quadratic) subspace(z, x, g, lo, hi []float64, h *history) bool {
	k, theta := 2*h.len(), h.theta
	c, u, w, sys := q.c[:k], q.u[:k], q.w[:k], q.sys[:k*k]
	r := q.red[:len(q.free)]

	// r = g + θ(z-x) - W M c ;  (M⁻¹ - W_Fᵀ W_F/θ) v = W_Fᵀ r ;  d = -r/θ - W_F v/θ².
	h.middle(u, c)
	h.inverse(sys)
	clear(w)
	for a, i := range q.free {
		row := q.wf[a*k : (a+1)*k]
		h.row(row, i)
		r[a] = g[i] + theta*(z[i]-x[i]) - dot(row, u)
		for j, v := range row {
			w[j] += v * r[a]
			below, s := sys[j*k:j*k+j+1], v/theta
			for l := range below {
				below[l] -= s * row[l]
			}
		}
	}
	for j := range k {
		for l := range j {
			sys[l*k+j] = sys[j*k+l]
		}
	}
	if !solve(sys, w) {
		return false
	}
	cut := 1.0
	var slope float64 // slope at x along the projected step
	for i, gi := range g {
		slope += gi * (z[i] - x[i])
	}
	for a, i := range q.free {
		d := -r[a]/theta - dot(q.wf[a*k:(a+1)*k], w)/(theta*theta)
		r[a] = d
		to := min(max(z[i]+d, lo[i]), hi[i])
		slope += g[i] * (to - z[i])
		if to != z[i]+d && d != 0 {
			cut = min(cut, (to-z[i])/d)
		}
	}
	if math.IsNaN(slope) {
		return false
	}
	for a, i := range q.free {
		d := r[a]
		if slope >= 0 {
			d *= cut
		}
		z[i] = min(max(z[i]+d, lo[i]), hi[i])
	}
	return true
}

// solve overwrites b with a⁻¹b by Gaussian elimination with partial pivoting and
// overwrites a. It returns false if a is singular.
func solve(a, b []float64) bool {
	n := len(b)
	for i := range n {
		pivot := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r*n+i]) > math.Abs(a[pivot*n+i]) {
				pivot = r
			}
		}
		if v := math.Abs(a[pivot*n+i]); !(v > 0) || math.IsInf(v, 1) {
			return false
		}
		if pivot != i {
			for j := i; j < n; j++ {
				a[i*n+j], a[pivot*n+j] = a[pivot*n+j], a[i*n+j]
			}
			b[i], b[pivot] = b[pivot], b[i]
		}
		for r := i + 1; r < n; r++ {
			f := a[r*n+i] / a[i*n+i]
			if f == 0 {
				continue
			}
			for j := i + 1; j < n; j++ {
				a[r*n+j] -= f * a[i*n+j]
			}
			b[r] -= f * b[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		v := b[i]
		for j := i + 1; j < n; j++ {
			v -= a[i*n+j] * b[j]
		}
		b[i] = v / a[i*n+i]
	}
	return true
}
