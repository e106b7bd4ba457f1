package linalg

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/functionspace/bo/internal/dense"
	"github.com/functionspace/bo/internal/workspace"
)

// divide solves a tridiagonal eigenproblem by divide and conquer. It removes the off-diagonal entry ρ that
// connects two halves, and subtracts |ρ| from the two adjacent diagonal entries. It solves the halves as
// Q₁ᵀD₁Q₁ and Q₂ᵀD₂Q₂. The matrix is then
//
//	Qᵀ(D + |ρ| z zᵀ)Q,  z = (last column of Q₁, ± first column of Q₂).
type divide struct {
	d []float64      // the diagonal, then eigenvalues
	e []float64      // the off-diagonal entries
	z blas64.General // eigenvectors in rows; zeros at first

	order, kind, position []int
	update                update
	unchanged             []int // rows of z that a merge does not change
}

func newDivide(d, e []float64, z blas64.General) *divide {
	n := len(d)
	return &divide{d: d, e: e, z: z, order: make([]int, n), kind: make([]int, n), position: make([]int, n)}
}

// solve overwrites d from lo to hi with the eigenvalues of this part, unsorted, and
// the same rows of z with its eigenvectors.
func (p *divide) solve(lo, hi int) {
	if hi-lo <= leaf {
		p.ql(lo, hi)
		return
	}
	mid := (lo + hi) / 2
	rho := math.Abs(p.e[mid-1])
	p.d[mid-1] -= rho
	p.d[mid] -= rho
	p.solve(lo, mid)
	p.solve(mid, hi)
	p.merge(lo, mid, hi)
}

// Which half of a row of z is not zero.
const (
	inFirst = iota
	inBoth
	inSecond
)

// update is a problem D + ρ z zᵀ without the rows that do not change.
type update struct {
	d, z []float64 // d strictly ascending
	rho  float64
	rows []int // rows of divide.z
	kind []int
}

// merge combines the solutions of two halves.
func (p *divide) merge(lo, mid, hi int) {
	mem := workspace.Borrow()
	defer mem.Return()
	p.deflate(lo, mid, hi, mem)
	u := &p.update
	k, n := len(u.d), hi-lo

	// Row j of s is eigenvector j of the update. Its columns, and the copied rows of
	// z, are ordered by kind; unchanged rows come last.
	var count [3]int
	for _, kind := range u.kind {
		count[kind]++
	}
	position := p.position[:k]
	next := [3]int{0, count[inFirst], count[inFirst] + count[inBoth]}
	for i, kind := range u.kind {
		position[i] = next[kind]
		next[kind]++
	}
	s := mem.Dense(k, k).RawMatrix()
	values := mem.Floats(n)
	u.solve(values[:k], s, position, mem)

	copied := mem.Dense(n, n).RawMatrix()
	row := func(i int) []float64 { return p.z.Data[i*p.z.Stride+lo : i*p.z.Stride+hi] }
	for i, from := range u.rows {
		copy(copied.Data[position[i]*n:][:n], row(from))
	}
	for i, from := range p.unchanged {
		copy(copied.Data[(k+i)*n:][:n], row(from))
		values[k+i] = p.d[from]
	}
	out, first, both := window(p.z, lo, lo, n, n), count[inFirst], count[inFirst]+count[inBoth]
	multiply := func(from, to, col, cols int) {
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, window(s, 0, from, k, to-from), window(copied, from, col, to-from, cols),
			0, window(out, 0, col, k, cols))
	}
	multiply(0, both, 0, mid-lo)
	multiply(first, k, mid-lo, hi-mid)
	for i := k; i < n; i++ {
		copy(row(lo+i), copied.Data[i*n:][:n])
	}
	copy(p.d[lo:hi], values)
}

// deflate sorts the eigenvalues and excludes the eigenvalues that the update changes
// by no more than rounding (Dongarra and Sorensen 1987): z vanishes there, or a
// rotation of two eigenvectors with almost equal eigenvalues makes it vanish.
func (p *divide) deflate(lo, mid, hi int, mem *workspace.Memory) {
	n := hi - lo
	z, kind, order := mem.Floats(n), p.kind[:n], p.order[:n]
	sign := math.Copysign(1, p.e[mid-1])
	largest := 0.0
	for i := range n {
		order[i] = i
		if lo+i < mid {
			z[i], kind[i] = p.z.Data[(lo+i)*p.z.Stride+mid-1]/math.Sqrt2, inFirst
		} else {
			z[i], kind[i] = sign*p.z.Data[(lo+i)*p.z.Stride+mid]/math.Sqrt2, inSecond
		}
		largest = max(largest, math.Abs(p.d[lo+i]))
	}
	d := p.d[lo:hi]
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(d[i], d[j]), i-j) })
	u := &p.update
	*u = update{u.d[:0], u.z[:0], 2 * math.Abs(p.e[mid-1]), u.rows[:0], u.kind[:0]}
	p.unchanged = p.unchanged[:0]
	tolerance := 8 * 0x1p-53 * max(largest, u.rho)
	keep := func(i int) {
		u.d, u.z, u.rows, u.kind = append(u.d, d[i]), append(u.z, z[i]), append(u.rows, lo+i), append(u.kind, kind[i])
	}
	last := -1 // the previous index, if it may stay
	for _, i := range order {
		if u.rho*math.Abs(z[i]) <= tolerance {
			p.unchanged = append(p.unchanged, lo+i)
			continue
		}
		if last >= 0 {
			r := math.Hypot(z[i], z[last])
			c, s := z[i]/r, z[last]/r
			if gap := d[i] - d[last]; math.Abs(gap*c*s) <= tolerance {
				p.rotate(lo+last, lo+i, lo, hi, c, s)
				d[last], d[i] = d[last]*c*c+d[i]*s*s, d[last]*s*s+d[i]*c*c
				z[i] = r
				if kind[i] != kind[last] {
					kind[i] = inBoth
				}
				p.unchanged = append(p.unchanged, lo+last)
			} else {
				keep(last)
			}
		}
		last = i
	}
	if last >= 0 {
		keep(last)
	}
}

// rotate overwrites rows i and j of z with c z_i - s z_j and s z_i + c z_j.
func (p *divide) rotate(i, j, lo, hi int, c, s float64) {
	x, y := p.z.Data[i*p.z.Stride+lo:i*p.z.Stride+hi], p.z.Data[j*p.z.Stride+lo:j*p.z.Stride+hi]
	y = y[:len(x)]
	for k, u := range x {
		v := y[k]
		x[k], y[k] = c*u-s*v, s*u+c*v
	}
}

// solve writes the eigenvalues, ascending, and in the rows of s the eigenvectors of
// the update, column i at position[i]. The eigenvalues λ solve the secular equation.
// The eigenvectors belong to the vector ẑ for which these λ are exact, so that they
// are orthogonal (Gu and Eisenstat 1995, eq. 3.3):
//
//	ẑ_i² ∝ Π_j (λ_j - d_i) / Π_{j≠i} (d_j - d_i),  s_ji ∝ ẑ_i/(d_i - λ_j).
func (u *update) solve(values []float64, s blas64.General, position []int, mem *workspace.Memory) {
	k := len(u.d)
	if k == 0 {
		return
	}
	gaps := mem.Dense(k, k).RawMatrix() // d_i - λ_j
	split(k, k, func(from, to int) {
		for j := from; j < to; j++ {
			values[j] = u.root(j, gaps.Data[j*k:][:k])
		}
	})
	z := mem.Floats(k)
	for i := range z {
		z[i] = gaps.Data[i*k+i]
	}
	for j := range k {
		row, dj := gaps.Data[j*k:][:k], u.d[j]
		for i, g := range row[:j] {
			z[i] *= g / (u.d[i] - dj)
		}
		for i := j + 1; i < k; i++ {
			z[i] *= row[i] / (u.d[i] - dj)
		}
	}
	for i, v := range z {
		z[i] = math.Copysign(math.Sqrt(math.Abs(v)), u.z[i])
	}
	for j := range k {
		row, to := gaps.Data[j*k:][:k], s.Data[j*s.Stride:][:k]
		var sum float64
		for i, g := range row {
			v := z[i] / g
			row[i] = v
			sum += v * v
		}
		scale := 1 / math.Sqrt(sum)
		for i, v := range row {
			to[position[i]] = v * scale
		}
	}
}
