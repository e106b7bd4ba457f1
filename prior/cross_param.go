package prior

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/workspace"
)

// CrossParamVJP adds to dtheta the gradient of Σ_ij kbar_ij k(x_i, y_j) with
// respect to log Params: ParamVJP for two sets of points, which sparse
// approximations need. It costs O(nmd) for stationary kernels, scaled or summed,
// and O((n+m)²d) for others.
func CrossParamVJP(k Kernel, dtheta []float64, x, y, kbar *mat.Dense) {
	switch k := k.(type) {
	case stationary:
		k.crossParamVJP(dtheta, x, y, kbar)
		return
	case scaled:
		mem := workspace.Borrow()
		defer mem.Return()
		part, total := mem.Dense(kbar.Dims()), 0.0
		k.inner.Cross(part, x, y)
		for i := range part.RawMatrix().Rows {
			total += floats.Dot(part.RawRowView(i), kbar.RawRowView(i))
		}
		dtheta[0] += k.variance.Value * total
		inner := mem.Floats(len(dtheta) - 1)
		clear(inner)
		CrossParamVJP(k.inner, inner, x, y, kbar)
		floats.AddScaled(dtheta[1:], k.variance.Value, inner)
		return
	case sum:
		for i, part := range split(dtheta, k.terms) {
			CrossParamVJP(k.terms[i], part, x, y, kbar)
		}
		return
	}
	n, d := x.Dims()
	m, _ := y.Dims()
	both := mat.NewDense(n+m, d, nil)
	both.Stack(x, y)
	bar := mat.NewSymDense(n+m, nil)
	for i := range n {
		floats.AddScaled(upper(bar, i)[n-i:], 0.5, kbar.RawRowView(i))
	}
	k.ParamVJP(dtheta, both, bar)
}

// DiagParamVJP adds to dtheta the gradient of Σ_i dbar_i k(x_i, x_i) with
// respect to log Params, in O(nd).
func DiagParamVJP(k Kernel, dtheta []float64, x *mat.Dense, dbar []float64) {
	n, d := x.Dims()
	checkLen("dbar", len(dbar), n)
	switch k := k.(type) {
	case stationary:
		return
	case scaled:
		diag := make([]float64, n)
		k.Diag(diag, x)
		dtheta[0] += floats.Dot(diag, dbar)
		inner := make([]float64, len(dtheta)-1)
		DiagParamVJP(k.inner, inner, x, dbar)
		floats.AddScaled(dtheta[1:], k.variance.Value, inner)
		return
	case sum:
		for i, part := range split(dtheta, k.terms) {
			DiagParamVJP(k.terms[i], part, x, dbar)
		}
		return
	}
	const block = 8
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		bar := mat.NewSymDense(hi-lo, nil)
		for i, v := range dbar[lo:hi] {
			upper(bar, i)[0] = v
		}
		k.ParamVJP(dtheta, x.Slice(lo, hi, 0, d).(*mat.Dense), bar)
	}
}

func (k stationary) crossParamVJP(dtheta []float64, x, y, kbar *mat.Dense) {
	n, m := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim)
	checkSize("kbar", kbar, n, m)
	checkLen("dtheta", len(dtheta), len(k.params))
	mem := workspace.Borrow()
	defer mem.Return()
	to, p := k.pairs(mem, y), k.profile()
	rq, hasAlpha := p.(rationalQuadratic)
	s, value, slope, sum := mem.Floats(m), mem.Floats(m), mem.Floats(m), mem.Floats(k.dim)
	clear(sum)
	alpha := 0.0
	for i := range n {
		xi, bar := x.RawRowView(i), kbar.RawRowView(i)
		to.SquaredDistances(s, xi, to.inv, 0)
		p.eval(value, slope, s)
		if hasAlpha {
			rq.alphaSlope(s, value, s)
			alpha += floats.Dot(bar, s)
		}
		floats.Mul(slope, bar)
		to.SecondMoments(sum, slope, xi, 0)
	}
	for c := range sum {
		sum[c] *= -2 * to.inv[c] * to.inv[c]
	}
	k.gather(dtheta, 0, sum)
	if hasAlpha {
		dtheta[k.width()] += alpha
	}
}
