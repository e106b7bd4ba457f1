package prior

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// Features is a finite linear model of functions, φ(x)ᵀw with w ~ N(0,I), whose
// covariance φ(x)ᵀφ(x') approximates a kernel. It is immutable and safe for
// concurrent use.
type Features interface {
	// Dim is d, the number of inputs.
	Dim() int
	// Len is the number of features.
	Len() int
	// Eval writes φ(x_i), m×Len, at the m rows of x.
	Eval(phi, x *mat.Dense)
	// EvalVJP adds to dx (m×d) the gradient of Σ_ij phibar_ij φ_j(x_i).
	EvalVJP(dx, x, phibar *mat.Dense)
}

// NewFeatures returns features of k:
//
//   - stationary and periodic kernels and their products: random Fourier
//     features (Rahimi & Recht 2007), about n of them, with E φ(x)ᵀφ(x') =
//     k(x,x') and φ(x)ᵀφ(x) = k(x,x) exactly;
//   - constant, linear and polynomial kernels: exact finite features;
//   - arccos: the last hidden layer of a random ReLU network with n units
//     there and at most 256 in those before;
//   - white: none, as it has no value between evaluations;
//   - sums: all features of the terms; products: all products of the features
//     of the factors, while these are few;
//   - anything else: [Nystrom] features on n points of a Kronecker sequence in
//     the unit cube.
//
// The error wraps linalg's of a matrix that is not positive definite and is
// possible only in the last case.
func NewFeatures(k Kernel, n int, rng *rand.Rand) (Features, error) {
	if n < 1 {
		panic(fmt.Sprintf("prior: %d features", n))
	}
	return newFeatures(k, 1, n, rng)
}

// maxProduct bounds the number of features of a product, relative to what was
// asked for.
const maxProduct = 4

// newFeatures returns features of variance·k.
func newFeatures(k Kernel, variance float64, n int, rng *rand.Rand) (Features, error) {
	switch k := k.(type) {
	case scaled:
		return newFeatures(k.inner, variance*k.variance.Value, n, rng)
	case sum:
		out := joined{dim: k.Dim()}
		for _, t := range k.terms {
			f, err := newFeatures(t, variance, n, rng)
			if err != nil {
				return nil, err
			}
			out.parts = append(out.parts, f)
		}
		return out, nil
	case product:
		return productFeatures(k, variance, n, rng)
	case constant:
		return affine{dim: k.dim, weights: make([]float64, k.dim), offset: math.Sqrt(variance)}, nil
	case dotProduct:
		if k.degree == 1 {
			return linearFeatures(k, variance), nil
		}
		if math.Pow(float64(k.dim+1), float64(k.degree)) > float64(maxProduct*n) {
			break
		}
		out := crossed{linearFeatures(k, variance)}
		for len(out) < k.degree {
			out = append(out, linearFeatures(k, 1))
		}
		return out, nil
	case arcCosine:
		return newNetwork(k, variance, n, rng), nil
	case white:
		return joined{dim: k.dim}, nil
	case onInputs:
		if _, ok := k.inner.(spectral); ok {
			break
		}
		f, err := newFeatures(k.inner, variance, n, rng)
		if err != nil {
			return nil, err
		}
		return featuresOnInputs{k, f}, nil
	}
	if isSpectral(k) {
		return newFourier(k.Dim(), []Kernel{k}, variance, n, rng), nil
	}
	return Nystrom(ScaleBy(variance, k), kronecker(n, k.Dim(), rng))
}

func productFeatures(k product, variance float64, n int, rng *rand.Rand) (Features, error) {
	var waves, others []Kernel
	for _, f := range k.factors {
		if isSpectral(f) {
			waves = append(waves, f)
		} else {
			others = append(others, f)
		}
	}
	out, count := crossed{}, 1
	for _, f := range others {
		features, err := newFeatures(f, variance, n, rng)
		if err != nil {
			return nil, err
		}
		out, count, variance = append(out, features), count*features.Len(), 1
	}
	if count == 0 {
		return joined{dim: k.Dim()}, nil
	}
	if count > maxProduct*n {
		return Nystrom(ScaleBy(variance, k), kronecker(n, k.Dim(), rng))
	}
	if len(waves) > 0 {
		// Enough waves for their own sake, even if that makes more than n in all.
		out = append(out, newFourier(k.Dim(), waves, variance, max(n/count, min(n, 64)), rng))
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return out, nil
}

// joined lays the features of several models side by side.
type joined struct {
	dim   int
	parts []Features
}

func (f joined) Dim() int { return f.dim }

func (f joined) Len() int {
	n := 0
	for _, p := range f.parts {
		n += p.Len()
	}
	return n
}

// each calls do with every part that has features and its columns of phi.
func (f joined) each(phi *mat.Dense, do func(p Features, columns *mat.Dense)) {
	at, rows := 0, phi.RawMatrix().Rows
	for _, p := range f.parts {
		if n := p.Len(); n > 0 && rows > 0 {
			do(p, phi.Slice(0, rows, at, at+n).(*mat.Dense))
			at += n
		}
	}
}

func (f joined) Eval(phi, x *mat.Dense) {
	f.each(phi, func(p Features, columns *mat.Dense) { p.Eval(columns, x) })
}

func (f joined) EvalVJP(dx, x, phibar *mat.Dense) {
	f.each(phibar, func(p Features, columns *mat.Dense) { p.EvalVJP(dx, x, columns) })
}

// crossed holds all products of one feature from each model; that of the last
// model runs fastest.
type crossed []Features

func (f crossed) Dim() int { return f[0].Dim() }

func (f crossed) Len() int {
	n := 1
	for _, p := range f {
		n *= p.Len()
	}
	return n
}

func (f crossed) eval(x *mat.Dense) []*mat.Dense {
	out := make([]*mat.Dense, len(f))
	for i, p := range f {
		out[i] = mat.NewDense(x.RawMatrix().Rows, p.Len(), nil)
		p.Eval(out[i], x)
	}
	return out
}

func (f crossed) Eval(phi, x *mat.Dense) {
	parts := f.eval(x)
	for i := range x.RawMatrix().Rows {
		outer(phi.RawRowView(i), parts, i, -1)
	}
}

// outer writes the products of rows i of the parts to dst; the part left out
// counts as 1 and its axis stays, so that dst has one number per feature.
func outer(dst []float64, parts []*mat.Dense, i, without int) {
	dst[0] = 1
	filled := 1
	for p, part := range parts {
		row := part.RawRowView(i)
		// Backwards, so that no number is overwritten before it is read.
		for a := filled - 1; a >= 0; a-- {
			v := dst[a]
			for b := len(row) - 1; b >= 0; b-- {
				w := row[b]
				if p == without {
					w = 1
				}
				dst[a*len(row)+b] = v * w
			}
		}
		filled *= len(row)
	}
}

func (f crossed) EvalVJP(dx, x, phibar *mat.Dense) {
	parts, n := f.eval(x), f.Len()
	rest := make([]float64, n)
	inner := n
	for p, part := range parts {
		m := part.RawMatrix().Cols
		inner /= m
		bar := mat.NewDense(x.RawMatrix().Rows, m, nil)
		for i := range x.RawMatrix().Rows {
			outer(rest, parts, i, p)
			row, g := bar.RawRowView(i), phibar.RawRowView(i)
			for at, v := range rest {
				row[at/inner%m] += v * g[at]
			}
		}
		f[p].EvalVJP(dx, x, bar)
	}
}

// affine is the features (offset, weights_1 x_1, …, weights_d x_d).
type affine struct {
	dim     int
	weights []float64
	offset  float64
}

func linearFeatures(k dotProduct, variance float64) Features {
	w := k.weights()
	for j := range w {
		w[j] = math.Sqrt(variance * w[j])
	}
	return affine{k.dim, w, math.Sqrt(variance * k.offset())}
}

func (f affine) Dim() int { return f.dim }
func (f affine) Len() int { return f.dim + 1 }

func (f affine) Eval(phi, x *mat.Dense) {
	for i := range x.RawMatrix().Rows {
		row := phi.RawRowView(i)
		row[0] = f.offset
		for j, v := range x.RawRowView(i) {
			row[j+1] = f.weights[j] * v
		}
	}
}

func (f affine) EvalVJP(dx, x, phibar *mat.Dense) {
	for i := range x.RawMatrix().Rows {
		row, bar := dx.RawRowView(i), phibar.RawRowView(i)
		for j, w := range f.weights {
			row[j] += w * bar[j+1]
		}
	}
}

// featuresOnInputs is the features of a kernel on some of the inputs.
type featuresOnInputs struct {
	on    onInputs
	inner Features
}

func (f featuresOnInputs) Dim() int               { return f.on.dim }
func (f featuresOnInputs) Len() int               { return f.inner.Len() }
func (f featuresOnInputs) Eval(phi, x *mat.Dense) { f.inner.Eval(phi, f.on.pick(x)) }

func (f featuresOnInputs) EvalVJP(dx, x, phibar *mat.Dense) {
	picked := f.on.pick(x)
	d := zerosLike(picked)
	f.inner.EvalVJP(d, picked, phibar)
	f.on.put(dx, d)
}

// nystrom is φ(x) = L⁻¹ k(Z,x) with L Lᵀ = k(Z,Z).
type nystrom struct {
	kernel Kernel
	z      *mat.Dense
	chol   *linalg.Cholesky
}

// Nystrom returns the features L⁻¹k(z,x), L Lᵀ = k(z,z), one per row of z. A
// function drawn from them is an exact draw at z, and between the rows of z the
// conditional mean given those values. It costs O(n³/3) and O(n²) a point.
func Nystrom(k Kernel, z *mat.Dense) (Features, error) {
	n, _ := z.Dims()
	gram := mat.NewSymDense(n, nil)
	k.Gram(gram, z)
	chol, err := linalg.Factorize(gram)
	if err != nil {
		return nil, fmt.Errorf("prior: features of %s: %w", k, err)
	}
	return nystrom{k, z, chol}, nil
}

func (f nystrom) Dim() int { return f.kernel.Dim() }
func (f nystrom) Len() int { return f.chol.N() }

func (f nystrom) Eval(phi, x *mat.Dense) {
	m, _ := x.Dims()
	cross := mat.NewDense(f.Len(), m, nil)
	f.kernel.Cross(cross, f.z, x)
	f.chol.SolveLower(cross)
	phi.Copy(cross.T())
}

func (f nystrom) EvalVJP(dx, x, phibar *mat.Dense) {
	back := mat.DenseCopyOf(phibar.T())
	f.chol.SolveUpper(back)
	f.kernel.CrossVJP(dx, x, f.z, mat.DenseCopyOf(back.T()))
}

// kronecker returns n points of the additive sequence u + i·(1/g, 1/g², …) mod 1
// with g the root of g^{d+1} = g + 1 (Roberts 2018) and u uniform.
func kronecker(n, d int, rng *rand.Rand) *mat.Dense {
	g := 2.0
	for range 64 {
		g = math.Pow(1+g, 1/float64(d+1))
	}
	x, step := mat.NewDense(n, d, nil), 1.0
	for j := range d {
		step /= g
		u := rng.Float64()
		for i := range n {
			_, x.RawRowView(i)[j] = math.Modf(u + float64(i)*step)
		}
	}
	return x
}
