package prior

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Features is a finite linear model of functions, φ(x)ᵀw with w ~ N(0,I). Its
// covariance φ(x)ᵀφ(x') approximates a kernel. It is immutable and safe for
// concurrent use.
type Features interface {
	// Dim returns d, the number of inputs.
	Dim() int
	// Len returns the number of features.
	Len() int
	// Eval writes φ(x_i), m×Len, at the m rows of x.
	Eval(phi, x *mat.Dense)
	// EvalVJP adds to dx (m×d) the gradient of Σ_ij phibar_ij φ_j(x_i).
	EvalVJP(dx, x, phibar *mat.Dense)
}

// NewFeatures returns features of k:
//
//   - stationary and periodic kernels and their products: about n random Fourier
//     features (Rahimi and Recht 2007), with E φ(x)ᵀφ(x') = k(x,x') and
//     φ(x)ᵀφ(x) = k(x,x) exactly;
//   - constant, linear and polynomial kernels: exact finite features;
//   - potential and stream: the velocities of random waves, also unbiased;
//   - arccos: the last hidden layer of a random ReLU network, with n units in
//     this layer and at most 256 in the others;
//   - white: none, because white noise has no value between evaluations;
//   - sums: all features of the terms;
//   - products: all products of the features of the factors, if these are few;
//   - other kernels, such as kernels of other packages: [Nystrom] features on n points of
//     a Kronecker sequence in the unit cube. [NewFeaturesIn] has another box.
//
// Only Nyström features can fail; the error then wraps
// surrogate.ErrNotPositiveDefinite.
func NewFeatures(k Kernel, n int, rng *rand.Rand) (Features, error) {
	return NewFeaturesIn(k, nil, nil, n, rng)
}

// NewFeaturesIn is NewFeatures with the points of Nyström features in the box from lo to hi, in which the
// functions are evaluated. The bounds have the units of the inputs of k. Nil is the unit cube.
func NewFeaturesIn(k Kernel, lo, hi []float64, n int, rng *rand.Rand) (Features, error) {
	if n < 1 {
		panic(fmt.Sprintf("prior: %d features", n))
	}
	if lo == nil {
		lo, hi = make([]float64, k.Dim()), slices.Repeat([]float64{1}, k.Dim())
	}
	checkLen("lo", len(lo), k.Dim())
	checkLen("hi", len(hi), k.Dim())
	return newFeatures(k, 1, box{lo, hi}, n, rng)
}

// box is the box of Nyström points.
type box struct{ lo, hi []float64 }

// points returns n points of a Kronecker sequence in b.
func (b box) points(n int, rng *rand.Rand) *mat.Dense {
	x := kronecker(n, len(b.lo), rng)
	x.Apply(func(_, j int, u float64) float64 { return b.lo[j] + u*(b.hi[j]-b.lo[j]) }, x)
	return x
}

// on returns the box of the inputs of the inner kernel of k.
func (b box) on(k onInputs) box {
	ends := k.pick(mat.NewDense(2, k.dim, slices.Concat(b.lo, b.hi)))
	return box{ends.RawRowView(0), ends.RawRowView(1)}
}

// maxProduct bounds the number of features of a product, as a multiple of the
// requested number.
const maxProduct = 4

// newFeatures returns features of variance·k.
func newFeatures(k Kernel, variance float64, in box, n int, rng *rand.Rand) (Features, error) {
	switch k := k.(type) {
	case scaled:
		return newFeatures(k.inner, variance*k.variance.Value, in, n, rng)
	case sum:
		out := joined{dim: k.Dim()}
		for _, t := range k.terms {
			f, err := newFeatures(t, variance, in, n, rng)
			if err != nil {
				return nil, err
			}
			out.parts = append(out.parts, f)
		}
		return out, nil
	case product:
		return productFeatures(k, variance, in, n, rng)
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
	case velocity:
		return newFlow(k, variance, n, rng), nil
	case arcCosine:
		return newNetwork(k, variance, n, rng), nil
	case white:
		return joined{dim: k.dim}, nil
	case onInputs:
		if _, ok := k.inner.(spectral); ok {
			break
		}
		f, err := newFeatures(k.inner, variance, in.on(k), n, rng)
		if err != nil {
			return nil, err
		}
		return featuresOnInputs{k, f}, nil
	}
	if isSpectral(k) {
		return newFourier(k.Dim(), []Kernel{k}, variance, n, rng), nil
	}
	return Nystrom(ScaleBy(variance, k), in.points(n, rng))
}

func productFeatures(k product, variance float64, in box, n int, rng *rand.Rand) (Features, error) {
	whole := ScaleBy(variance, k)
	var waves, others []Kernel
	for _, f := range k.factors {
		for s, ok := f.(scaled); ok; s, ok = f.(scaled) {
			f, variance = s.inner, variance*s.variance.Value
		}
		if isSpectral(f) {
			waves = append(waves, f)
		} else if _, ok := f.(constant); !ok {
			others = append(others, f)
		}
	}
	if len(waves)+len(others) == 0 {
		return newFeatures(Constant(k.Dim()), variance, in, n, rng)
	}
	out, count := crossed{}, 1
	for _, f := range others {
		features, err := newFeatures(f, variance, in, n, rng)
		if err != nil {
			return nil, err
		}
		out, count, variance = append(out, features), count*features.Len(), 1
	}
	if count == 0 {
		return joined{dim: k.Dim()}, nil
	}
	if count > maxProduct*n {
		return Nystrom(whole, in.points(n, rng))
	}
	if len(waves) > 0 {
		// The waves alone must approximate their kernel, even if the product then has
		// more than n features.
		out = append(out, newFourier(k.Dim(), waves, variance, max(n/count, min(n, 64)), rng))
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return out, nil
}

// affine has the features (offset, weights_1 x_1, …, weights_d x_d).
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

// featuresOnInputs has the features of a kernel on some of the inputs.
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
