package regression

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
)

// Evidence is log N(r; 0, K) with K = ΦΦᵀ + σ²I for an n×F matrix Φ, as a function of Φ, r
// and log σ². Compute computes the value and, with α = K⁻¹r, the derivatives
//
//	(ααᵀ - K⁻¹)Φ,  -α,  ½σ²(|α|² - tr K⁻¹),
//
// and reuses memory.
type Evidence struct {
	Value float64
	Phi   mat.Dense
	R     []float64
	Noise float64 // derivative with respect to log σ²

	small, inverse mat.SymDense // square matrices of size min(n, F)
	full           mat.Dense
	chol           linalg.Cholesky
	w              []float64
}

// Compute costs O(nF min(n,F) + min(n,F)³): for F ≤ n by the matrix inversion lemma
// with A = I + ΦᵀΦ/σ² and w = A⁻¹Φᵀr/σ²,
//
//	α = (r - Φw)/σ²,  K⁻¹Φ = ΦA⁻¹/σ²,  tr K⁻¹ = (n - F + tr A⁻¹)/σ².
func (e *Evidence) Compute(phi *mat.Dense, r []float64, noise float64) error {
	n, f := phi.Dims()
	e.reserve(n, f)
	op, scale, ridge := linalg.N, 1.0, noise // K
	if f <= n {
		op, scale, ridge = linalg.T, 1/noise, 1 // A
	}
	linalg.Syrk(&e.small, scale, op, phi, 0)
	linalg.AddDiagonal(&e.small, ridge)
	if err := e.chol.Factorize(&e.small); err != nil {
		return err
	}
	e.chol.Inverse(&e.inverse)
	e.full.Copy(&e.inverse)

	logDet, quadratic, trace := e.chol.LogDet(), 0.0, mat.Trace(&e.inverse)
	copy(e.R, r)
	if f <= n {
		linalg.MulVec(e.w, 1/noise, linalg.T, phi, r, 0)
		e.chol.SolveLowerVec(e.w)
		quadratic = linalg.Dot(r, r)/noise - linalg.Dot(e.w, e.w)
		e.chol.SolveUpperVec(e.w)
		linalg.MulVec(e.R, 1/noise, linalg.N, phi, e.w, -1/noise)
		linalg.Mul(&e.Phi, -1/noise, linalg.N, phi, linalg.N, &e.full, 0)
		logDet += float64(n) * math.Log(noise)
		trace = (float64(n-f) + trace) / noise
	} else {
		e.chol.SolveLowerVec(e.R)
		quadratic = linalg.Dot(e.R, e.R)
		e.chol.SolveUpperVec(e.R)
		linalg.MulVec(e.w, 1, linalg.T, phi, e.R, 0)
		for i, v := range e.R {
			e.R[i] = -v
		}
		linalg.Mul(&e.Phi, -1, linalg.N, &e.full, linalg.N, phi, 0)
	}
	for i, v := range e.R {
		linalg.Axpy(-v, e.w, e.Phi.RawRowView(i))
	}
	e.Noise = 0.5 * noise * (linalg.Dot(e.R, e.R) - trace)
	e.Value = -0.5 * (float64(n)*math.Log(2*math.Pi) + logDet + quadratic)
	return nil
}

func (e *Evidence) reserve(n, f int) {
	if rows, cols := e.Phi.Dims(); rows == n && cols == f {
		return
	}
	k := min(n, f)
	e.Phi, e.R, e.w = *mat.NewDense(n, f, nil), make([]float64, n), make([]float64, f)
	e.small, e.inverse, e.full = *mat.NewSymDense(k, nil), *mat.NewSymDense(k, nil), *mat.NewDense(k, k, nil)
}

// LastLayer is Evidence for Φ = s·(a, 1), where a are the activations of the last hidden layer of a network.
// For a custom network Φ is s times the derivatives with respect to its last weights. A custom network is
// affine in these weights, so that r are targets minus the network with last weights 0.
type LastLayer struct {
	Evidence
	Features *mat.Dense // Φ

	offset   []float64 // values with last weights 0; nil for a fully connected network, which has none
	residual []float64
	tape     nn.Tape
	bar      *mat.Dense
	scale    float64
}

// NewLastLayer returns the workspace for n points.
func NewLastLayer(net *nn.Network, n int) LastLayer {
	k := net.Outputs()
	return LastLayer{Features: mat.NewDense(n, k, nil), bar: mat.NewDense(n, k, nil)}
}

// Record sets Φ for the weights w at the rows of x. The last weights, in which the network is affine, are 0.
func (l *LastLayer) Record(net *nn.Network, w []float64, x *mat.Dense, scale float64) {
	l.scale = scale
	l.tape.Record(net, w, x)
	l.tape.OutputFeatures(l.Features, scale)
	if net.Custom != nil {
		l.offset = l.tape.Value()
	}
}

// Residual returns the r of targets y, until the next call.
func (l *LastLayer) Residual(y []float64) []float64 {
	if l.offset == nil {
		return y
	}
	l.residual = append(l.residual[:0], y...)
	linalg.Axpy(-1, l.offset, l.residual)
	return l.residual
}

// VJP adds the gradient of the value with respect to the weights to dw and, unless dx is nil,
// with respect to x to dx. It returns the derivative with respect to log s².
func (l *LastLayer) VJP(dw []float64, dx *mat.Dense) (dscale float64) {
	for i := range l.R {
		phibar, bar := l.Phi.RawRowView(i), l.bar.RawRowView(i)
		dscale += 0.5 * linalg.Dot(phibar, l.Features.RawRowView(i))
		for j := range bar {
			bar[j] = l.scale * phibar[j]
		}
	}
	l.tape.OutputVJP(dw, dx, l.bar)
	if l.offset != nil {
		l.offsetVJP(dw, dx)
	}
	return dscale
}

// offsetVJP is the part of VJP through the offset, of which the derivative is -R.
func (l *LastLayer) offsetVJP(dw []float64, dx *mat.Dense) {
	bar := make([]float64, len(l.R))
	linalg.Axpy(-1, l.R, bar)
	l.tape.VJP(dw, bar)
	if dx == nil {
		return
	}
	grad := mat.NewDense(len(bar), dx.RawMatrix().Cols, nil)
	l.tape.InputGrad(grad)
	for i, b := range bar {
		linalg.Axpy(b, grad.RawRowView(i), dx.RawRowView(i))
	}
}

// Draw draws the weights w of r = Φw + N(0, σ²I), w ~ N(0, I), given r.
func Draw(phi *mat.Dense, r []float64, noise float64, rng *rand.Rand) ([]float64, error) {
	_, f := phi.Dims()
	a := mat.NewSymDense(f, nil)
	linalg.Syrk(a, 1/noise, linalg.T, phi, 0)
	linalg.AddDiagonal(a, 1)
	w := make([]float64, f)
	random.Normal(w, rng)
	factor, err := linalg.Factorize(a)
	if err != nil {
		return nil, err
	}
	// L⁻ᵀ(ε + L⁻¹Φᵀr/σ²) has the mean A⁻¹Φᵀr/σ² and the covariance A⁻¹.
	mean := make([]float64, f)
	linalg.MulVec(mean, 1/noise, linalg.T, phi, r, 0)
	factor.SolveLowerVec(mean)
	linalg.Axpy(1, mean, w)
	factor.SolveUpperVec(w)
	return w, nil
}
