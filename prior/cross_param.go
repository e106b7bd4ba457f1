package prior

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/kernelgrad"
	"github.com/functionspace/bo/internal/workspace"
)

// CrossParamVJP implements kernelgrad.CrossDifferentiable.
func (k scaled) CrossParamVJP(dtheta []float64, x, y, kbar *mat.Dense) {
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
	kernelgrad.CrossParam(k.inner, inner, x, y, kbar)
	floats.AddScaled(dtheta[1:], k.variance.Value, inner)
}

// DiagParamVJP implements kernelgrad.CrossDifferentiable.
func (k scaled) DiagParamVJP(dtheta []float64, x *mat.Dense, dbar []float64) {
	diag := make([]float64, len(dbar))
	k.Diag(diag, x)
	dtheta[0] += floats.Dot(diag, dbar)
	inner := make([]float64, len(dtheta)-1)
	kernelgrad.DiagParam(k.inner, inner, x, dbar)
	floats.AddScaled(dtheta[1:], k.variance.Value, inner)
}

// CrossParamVJP implements kernelgrad.CrossDifferentiable.
func (k sum) CrossParamVJP(dtheta []float64, x, y, kbar *mat.Dense) {
	for i, part := range split(dtheta, k.terms) {
		kernelgrad.CrossParam(k.terms[i], part, x, y, kbar)
	}
}

// DiagParamVJP implements kernelgrad.CrossDifferentiable.
func (k sum) DiagParamVJP(dtheta []float64, x *mat.Dense, dbar []float64) {
	for i, part := range split(dtheta, k.terms) {
		kernelgrad.DiagParam(k.terms[i], part, x, dbar)
	}
}

// DiagParamVJP implements kernelgrad.CrossDifferentiable: the diagonal is constant.
func (k stationary) DiagParamVJP([]float64, *mat.Dense, []float64) {}

// CrossParamVJP implements kernelgrad.CrossDifferentiable.
func (k stationary) CrossParamVJP(dtheta []float64, x, y, kbar *mat.Dense) {
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
		to.distances(s, xi, 0)
		p.eval(value, slope, s)
		if hasAlpha {
			rq.alphaSlope(s, value, s)
			alpha += floats.Dot(bar, s)
		}
		floats.Mul(slope, bar)
		to.secondMoments(sum, slope, xi, 0)
	}
	to.finish(sum, -2)
	k.gather(dtheta, 0, sum)
	if hasAlpha {
		dtheta[k.width()] += alpha
	}
}
