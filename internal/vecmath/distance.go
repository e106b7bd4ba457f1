package vecmath

import "math"

// far is the upper limit of squared distances, so that all are finite.
const far = 1e300

// Packed has points stored by dimension: coordinate c of point j is Data[c·Len+j].
type Packed struct {
	Len, Dim int
	Data     []float64
}

// Pack overwrites p with the n points of d coordinates in x, stride apart. It reuses the
// memory of p.
func (p *Packed) Pack(x []float64, n, d, stride int) {
	if cap(p.Data) < n*d {
		p.Data = make([]float64, n*d)
	}
	p.Len, p.Dim, p.Data = n, d, p.Data[:n*d]
	for j := range n {
		for c, v := range x[j*stride : j*stride+d] {
			p.Data[c*n+j] = v
		}
	}
}

// from returns the coordinates from point j on, and panics unless n points follow.
func (p *Packed) from(j, n int) []float64 {
	if j < 0 || j+n > p.Len {
		panic("vecmath: no such points")
	}
	checkLen("packed points", len(p.Data), p.Len*p.Dim)
	return p.Data[j:]
}

// SquaredDistances writes Σ_c ((x_c - y_jc)·inv_c)² for len(dst) points y_j of p, from
// index from. Distances above 1e300 become 1e300.
func (p *Packed) SquaredDistances(dst, x, inv []float64, from int) {
	checkLen("x", len(x), p.Dim)
	checkLen("inv", len(inv), p.Dim)
	if p.Dim == 0 {
		clear(dst)
	}
	if len(dst) == 0 || p.Dim == 0 {
		return
	}
	step := max(64, 8*chunk/p.Dim)
	for len(dst) > 0 {
		n := min(len(dst), step)
		sqdist(dst[:n], x, inv, p.from(from, n), p.Len)
		dst, from = dst[n:], from+n
	}
}

// FirstMoments adds Σ_j w_j (x_c - y_jc) to dst_c, over len(w) points y_j of p, from
// index from.
func (p *Packed) FirstMoments(dst, w, x []float64, from int) {
	p.moments(firstMoments, dst, w, x, from)
}

// SecondMoments adds Σ_j w_j (x_c - y_jc)² like FirstMoments.
func (p *Packed) SecondMoments(dst, w, x []float64, from int) {
	p.moments(secondMoments, dst, w, x, from)
}

func (p *Packed) moments(add func(dst, w, x, y []float64, stride int), dst, w, x []float64, from int) {
	checkLen("dst", len(dst), p.Dim)
	checkLen("x", len(x), p.Dim)
	if p.Dim == 0 {
		return
	}
	for len(w) > 0 {
		n := min(len(w), chunk)
		add(dst, w[:n], x, p.from(from, n), p.Len)
		w, from = w[n:], from+n
	}
}

func sqdistGo(dst, x, inv, y []float64, stride int) {
	clear(dst)
	for c, v := range x {
		scale, row := inv[c], y[c*stride:]
		for j, u := range row[:len(dst)] {
			t := float64((v - u) * scale)
			dst[j] = math.FMA(t, t, dst[j])
		}
	}
	for j, sum := range dst {
		dst[j] = lesser(far, sum)
	}
}

func firstMomentsGo(dst, w, x, y []float64, stride int) {
	for c, v := range x {
		var sums [16]float64
		for j, u := range y[c*stride:][:len(w)] {
			sums[j%16] = math.FMA(w[j], v-u, sums[j%16])
		}
		dst[c] += total(&sums)
	}
}

func secondMomentsGo(dst, w, x, y []float64, stride int) {
	for c, v := range x {
		var sums [16]float64
		for j, u := range y[c*stride:][:len(w)] {
			t := v - u
			sums[j%16] = math.FMA(float64(w[j]*t), t, sums[j%16])
		}
		dst[c] += total(&sums)
	}
}

// total adds in the order of the vector kernels.
func total(s *[16]float64) float64 {
	for half := 8; half > 0; half /= 2 {
		for k := range half {
			s[k] += s[k+half]
		}
	}
	return s[0]
}
