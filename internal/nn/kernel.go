package nn

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// kernelRows is the number of rows of a kernel matrix computed at a time.
const kernelRows = 128

// Kernel writes the empirical neural tangent kernel Θ_ij = J(x_i)·J(y_j) of the rows x_i of s and y_j of t. It
// costs O(nm Σ_l h_l) for an n×m dst, and does not form J. The tapes must record networks of one shape.
func Kernel(dst *mat.Dense, s, t *Tape) {
	same(s, t)
	checkDims("dst", dst, s.m, t.m)
	if s.m*t.m == 0 {
		return
	}
	if s.custom != nil {
		linalg.Mul(dst, 1, linalg.N, s.custom.rows(s), linalg.T, t.custom.rows(t), 0)
		return
	}
	ws := grab()
	defer ws.release()
	for i := 0; i < s.m; i += kernelRows {
		k := min(s.m, i+kernelRows)
		block := rows(dst, i, k)
		kernelBlock(ws, &block, s, i, k, t, 0)
	}
}

// KernelSym writes Θ_ij = J(x_i)·J(x_j) for the rows of t, at half the cost of
// Kernel.
func KernelSym(dst *mat.SymDense, t *Tape) {
	checkDims("dst", dst, t.m, t.m)
	if t.m == 0 {
		return
	}
	if t.custom != nil {
		linalg.Syrk(dst, 1, linalg.N, t.custom.rows(t), 0)
		return
	}
	ws := grab()
	defer ws.release()
	raw := dst.RawSymmetric()
	for i := 0; i < t.m; i += kernelRows {
		k := min(t.m, i+kernelRows)
		resize(&ws.kbar, k-i, t.m-i)
		kernelBlock(ws, &ws.kbar, t, i, k, t, i)
		for r := i; r < k; r++ {
			copy(raw.Data[r*raw.Stride+r:r*raw.Stride+t.m], ws.kbar.RawRowView(r - i)[r-i:])
		}
	}
}

// kernelBlock writes Θ between rows i to k of s and rows j onwards of t.
func kernelBlock(ws *workspace, dst *mat.Dense, s *Tape, i, k int, t *Tape, j int) {
	top := len(s.hidden)
	gram(dst, &s.a[top], i, k, &t.a[top], t.aT.at(top), j)
	resize(&ws.p, k-i, t.m-j)
	resize(&ws.q, k-i, t.m-j)
	for l := range s.hidden {
		gram(&ws.p, &s.a[l], i, k, &t.a[l], t.aT.at(l), j)
		gram(&ws.q, &s.delta[l], i, k, &t.delta[l], t.deltaT.at(l), j)
		for r := range k - i {
			row, p, q := dst.RawRowView(r), ws.p.RawRowView(r), ws.q.RawRowView(r)
			for c, p := range p {
				row[c] += (1 + p) * q[c]
			}
		}
	}
	for r := range k - i {
		row := dst.RawRowView(r)
		for c := range row {
			row[c]++
		}
	}
}

// gram writes the inner products of rows i to k of a with rows j onwards of b. bT is
// the transpose of b, or nil.
func gram(dst, a *mat.Dense, i, k int, b, bT *mat.Dense, j int) {
	u := rows(a, i, k)
	if bT != nil && j == 0 {
		linalg.Mul(dst, 1, linalg.N, &u, linalg.N, bT, 0)
		return
	}
	n, _ := b.Dims()
	v := rows(b, j, n)
	linalg.Mul(dst, 1, linalg.N, &u, linalg.T, &v, 0)
}

// KernelDiag writes Θ(x_i, x_i) = |J(x_i)|² for the rows of t.
func KernelDiag(dst []float64, t *Tape) {
	checkLen("dst", len(dst), t.m)
	if t.custom != nil && t.m > 0 {
		linalg.RowSquares(dst, t.custom.rows(t))
		return
	}
	for i := range dst {
		dst[i] = 1 + squaredNorm(&t.a[len(t.hidden)], i)
		for l := range t.hidden {
			dst[i] += (1 + squaredNorm(&t.a[l], i)) * squaredNorm(&t.delta[l], i)
		}
	}
}

func squaredNorm(m *mat.Dense, i int) float64 {
	row := m.RawRowView(i)
	return linalg.Dot(row, row)
}

// KernelVJP adds to dx (n×d) the gradient of Σ_ij kbar_ij Θ(x_i, y_j) with respect to
// the rows x_i of s. The rows of t are constants, even if t is s. kbar is n×m. It
// costs O(nm Σ_l h_l + np).
func KernelVJP(dx *mat.Dense, s, t *Tape, kbar *mat.Dense) {
	same(s, t)
	checkDims("dx", dx, s.m, s.in)
	checkDims("kbar", kbar, s.m, t.m)
	if s.m*t.m == 0 {
		return
	}
	if s.custom != nil {
		customVJP(dx, s, t, kbar)
		return
	}
	ws := grab()
	defer ws.release()
	kernelAdjoints(ws, s, t, kbar)
	s.reverse(ws, dx, nil)
}

// KernelSymVJP adds to dx (m×d) the gradient of Σ_ij kbar_ij Θ(x_i, x_j), over
// all i and j, with respect to the rows of t.
func KernelSymVJP(dx *mat.Dense, t *Tape, kbar *mat.SymDense) {
	checkDims("dx", dx, t.m, t.in)
	checkDims("kbar", kbar, t.m, t.m)
	if t.m == 0 {
		return
	}
	ws := grab()
	defer ws.release()
	resize(&ws.kbar, t.m, t.m)
	full, raw := flat(&ws.kbar), kbar.RawSymmetric()
	for i := range t.m {
		for j := i; j < t.m; j++ {
			v := 2 * raw.Data[i*raw.Stride+j]
			full[i*t.m+j], full[j*t.m+i] = v, v
		}
	}
	if t.custom != nil {
		customVJP(dx, t, t, &ws.kbar)
		return
	}
	kernelAdjoints(ws, t, t, &ws.kbar)
	t.reverse(ws, dx, nil)
}

// KernelDiagVJP adds to dx (m×d) the gradient of Σ_i kbar_i Θ(x_i, x_i), in
// O(mp).
func KernelDiagVJP(dx *mat.Dense, t *Tape, kbar []float64) {
	checkDims("dx", dx, t.m, t.in)
	checkLen("kbar", len(kbar), t.m)
	if t.m == 0 {
		return
	}
	if t.custom != nil {
		t.custom.TangentGrad(nil, dx, t.scaledRows(kbar))
		return
	}
	ws := grab()
	defer ws.release()
	ws.adjoints(t)
	for i, k := range kbar {
		for l := range t.hidden {
			scaleTo(&ws.abar[l], 2*k*squaredNorm(&t.delta[l], i), &t.a[l], i)
			scaleTo(&ws.dbar[l], 2*k*(1+squaredNorm(&t.a[l], i)), &t.delta[l], i)
		}
		top := len(t.hidden)
		scaleTo(&ws.abar[top], 2*k, &t.a[top], i)
	}
	t.reverse(ws, dx, nil)
}

// scaleTo writes alpha times row i of src to row i of dst.
func scaleTo(dst *mat.Dense, alpha float64, src *mat.Dense, i int) {
	row := dst.RawRowView(i)
	for j, v := range src.RawRowView(i) {
		row[j] = alpha * v
	}
}

// kernelAdjoints sets the adjoints of Σ_ij kbar_ij Θ(x_i, y_j) for the tape s.
func kernelAdjoints(ws *workspace, s, t *Tape, kbar *mat.Dense) {
	ws.adjoints(s)
	top := len(s.hidden)
	linalg.Mul(&ws.abar[top], 1, linalg.N, kbar, linalg.N, &t.a[top], 0)
	for i := 0; i < s.m; i += kernelRows {
		k := min(s.m, i+kernelRows)
		resize(&ws.p, k-i, t.m)
		resize(&ws.q, k-i, t.m)
		for l := range s.hidden {
			gram(&ws.p, &s.a[l], i, k, &t.a[l], t.aT.at(l), 0)
			gram(&ws.q, &s.delta[l], i, k, &t.delta[l], t.deltaT.at(l), 0)
			for r := range k - i {
				p, q := ws.p.RawRowView(r), ws.q.RawRowView(r)
				for c, kb := range kbar.RawRowView(i + r) {
					p[c] = kb * (1 + p[c])
					q[c] *= kb
				}
			}
			abar, dbar := rows(&ws.abar[l], i, k), rows(&ws.dbar[l], i, k)
			linalg.Mul(&abar, 1, linalg.N, &ws.q, linalg.N, &t.a[l], 0)
			linalg.Mul(&dbar, 1, linalg.N, &ws.p, linalg.N, &t.delta[l], 0)
		}
	}
}
