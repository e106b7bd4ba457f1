package optimize

import "math"

// history is the limited-memory model B = θI - W M Wᵀ of the Hessian in compact
// form (Byrd, Nocedal and Schnabel 1994): for the stored steps S and gradient
// changes Y, n×k, oldest first,
//
//	W = [Y θS],   M⁻¹ = [ -D   Lᵀ  ],   L = strictly lower part of SᵀY, D = diag(SᵀY).
//	                    [  L  θSᵀS ]
type history struct {
	memory int
	s, y   [][]float64 // rows of pairs
	theta  float64
	sy, ss []float64 // k×k with stride memory: s_i·y_j and s_i·s_j
	chol   []float64 // Cholesky factor of θSᵀS + L D⁻¹ Lᵀ
}

func (h *history) init(n, memory int) {
	*h = history{memory: memory, theta: 1, sy: make([]float64, memory*memory), ss: make([]float64, memory*memory), chol: make([]float64, memory*memory)}
	h.s, h.y = make([][]float64, 0, memory), make([][]float64, 0, memory)
	pool := make([]float64, 2*memory*n)
	for i := range memory {
		h.s = append(h.s, pool[2*i*n:(2*i+1)*n:(2*i+1)*n])
		h.y = append(h.y, pool[(2*i+1)*n:(2*i+2)*n:(2*i+2)*n])
	}
	h.reset()
}

func (h *history) len() int { return len(h.s) }

func (h *history) reset() { h.s, h.y, h.theta = h.s[:0], h.y[:0], 1 }

// push stores the step from (x, g) to (x1, g1) if the curvature along it is positive;
// otherwise the model does not change.
func (h *history) push(x, g, x1, g1 []float64) {
	var sy, yy, gs float64
	for i := range x {
		s, y := x1[i]-x[i], g1[i]-g[i]
		sy += s * y
		yy += y * y
		gs += g[i] * s
	}
	const eps = 0x1p-52
	if !(sy > eps*math.Abs(gs)) || !(yy/sy < math.Inf(1)) {
		return
	}
	s, y := h.next()
	for i := range x {
		s[i], y[i] = x1[i]-x[i], g1[i]-g[i]
	}
	h.include(yy / sy)
}

// curvature returns the stored pairs. They share the memory of h.
func (h *history) curvature() Curvature {
	if h.len() == 0 {
		return Curvature{}
	}
	return Curvature{h.s, h.y}
}

// load stores the pairs of c, of the same number of variables.
func (h *history) load(c Curvature) {
	for k := range c.steps {
		s, y := h.next()
		copy(s, c.steps[k])
		copy(y, c.changes[k])
		h.include(dot(y, y) / dot(s, y))
	}
}

// next returns the memory of a further pair, in place of the oldest one if the memory is full.
func (h *history) next() (s, y []float64) {
	k, m := len(h.s), h.memory
	if k < m {
		h.s, h.y = h.s[:k+1], h.y[:k+1]
	} else {
		s0, y0 := h.s[0], h.y[0]
		copy(h.s, h.s[1:])
		copy(h.y, h.y[1:])
		k--
		h.s[k], h.y[k] = s0, y0
		for i := range k {
			copy(h.sy[i*m:i*m+k], h.sy[(i+1)*m+1:(i+1)*m+1+k])
			copy(h.ss[i*m:i*m+k], h.ss[(i+1)*m+1:(i+1)*m+1+k])
		}
	}
	return h.s[k], h.y[k]
}

// include computes the model with the last pair and a new θ.
func (h *history) include(theta float64) {
	k, m := len(h.s)-1, h.memory
	s, y := h.s[k], h.y[k]
	for i := range k + 1 {
		h.sy[i*m+k], h.sy[k*m+i] = dot(h.s[i], y), dot(s, h.y[i])
		v := dot(h.s[i], s)
		h.ss[i*m+k], h.ss[k*m+i] = v, v
	}
	h.theta = theta
	if !h.factor() {
		h.reset()
	}
}

// factor computes the Cholesky factor of θSᵀS + L D⁻¹ Lᵀ.
func (h *history) factor() bool {
	k, m, c := h.len(), h.memory, h.chol
	for i := range k {
		for j := range i + 1 {
			v := h.theta * h.ss[i*m+j]
			for l := range j {
				v += h.sy[i*m+l] * h.sy[j*m+l] / h.sy[l*m+l]
			}
			for l := range j {
				v -= c[i*m+l] * c[j*m+l]
			}
			if i > j {
				c[i*m+j] = v / c[j*m+j]
				continue
			}
			if !(v > 0) || math.IsInf(v, 1) {
				return false
			}
			c[i*m+i] = math.Sqrt(v)
		}
	}
	return true
}

// row writes row i of W, of length 2k, to dst.
func (h *history) row(dst []float64, i int) {
	k := h.len()
	for j := range k {
		dst[j], dst[k+j] = h.y[j][i], h.theta*h.s[j][i]
	}
}

// middle writes M v to dst, both of length 2k.
func (h *history) middle(dst, v []float64) {
	k, m, c := h.len(), h.memory, h.chol
	a, b := dst[:k], dst[k:]
	// The Schur complement of -D: (θSᵀS + L D⁻¹ Lᵀ) b = v2 + L D⁻¹ v1.
	for i := range k {
		t := v[k+i]
		for j := range i {
			t += h.sy[i*m+j] * v[j] / h.sy[j*m+j]
		}
		for j := range i {
			t -= c[i*m+j] * b[j]
		}
		b[i] = t / c[i*m+i]
	}
	for i := k - 1; i >= 0; i-- {
		t := b[i]
		for j := i + 1; j < k; j++ {
			t -= c[j*m+i] * b[j]
		}
		b[i] = t / c[i*m+i]
	}
	for i := range k {
		t := -v[i]
		for j := i + 1; j < k; j++ {
			t += h.sy[j*m+i] * b[j]
		}
		a[i] = t / h.sy[i*m+i]
	}
}

// inverse writes M⁻¹, 2k×2k, to dst.
func (h *history) inverse(dst []float64) {
	k, m := h.len(), h.memory
	w := 2 * k
	clear(dst[:w*w])
	for i := range k {
		dst[i*w+i] = -h.sy[i*m+i]
		for j := range i {
			dst[(k+i)*w+j] = h.sy[i*m+j]
			dst[j*w+k+i] = h.sy[i*m+j]
		}
		for j := range k {
			dst[(k+i)*w+k+j] = h.theta * h.ss[i*m+j]
		}
	}
}
