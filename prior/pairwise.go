package prior

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Pair is a covariance function: it returns k(x, y) for the hyperparameters theta, in the order of the Params of its
// kernel. It is symmetric in x and y and safe for concurrent use.
//
// If dx is not nil, Pair also writes the gradient with respect to x to dx, and the gradient with respect to theta (not
// log θ) to dtheta. Both are nil or neither is.
type Pair func(theta, x, y, dx, dtheta []float64) float64

// Pairwise is the kernel with the covariance function k of points with dim coordinates. Params are its
// hyperparameters with their first values, bounds and hyperpriors. Parse does not read name. A matrix costs one call of
// k for each pair of points.
func Pairwise(name string, dim int, params []Param, k Pair) Kernel {
	return pairwise{leaf{name: name, dim: dim, params: slices.Clone(params)}, k}
}

type pairwise struct {
	leaf
	k Pair
}

func (k pairwise) WithParams(theta []float64) Kernel {
	k.leaf = k.with(theta)
	return k
}

func (k pairwise) String() string { return term(k) }

func (k pairwise) theta() []float64 {
	out := make([]float64, len(k.params))
	for i, p := range k.params {
		out[i] = p.Value
	}
	return out
}

func (k pairwise) Gram(dst *mat.SymDense, x *mat.Dense) {
	n, theta := checkPoints("points", x, k.dim), k.theta()
	checkSym("Gram matrix", dst, n)
	for i := range n {
		row := upper(dst, i)
		for j := range row {
			row[j] = k.k(theta, x.RawRowView(i), x.RawRowView(i+j), nil, nil)
		}
	}
}

func (k pairwise) Cross(dst, x, y *mat.Dense) {
	n, m, theta := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim), k.theta()
	checkSize("cross matrix", dst, n, m)
	for i := range n {
		row := dst.RawRowView(i)
		for j := range row {
			row[j] = k.k(theta, x.RawRowView(i), y.RawRowView(j), nil, nil)
		}
	}
}

func (k pairwise) Diag(dst []float64, x *mat.Dense) {
	n, theta := checkPoints("points", x, k.dim), k.theta()
	checkLen("diagonal", len(dst), n)
	for i := range dst {
		dst[i] = k.k(theta, x.RawRowView(i), x.RawRowView(i), nil, nil)
	}
}

func (k pairwise) CrossVJP(dx, x, y, kbar *mat.Dense) {
	n, m, theta := checkPoints("points", x, k.dim), checkPoints("points", y, k.dim), k.theta()
	checkSize("gradient", dx, n, k.dim)
	checkSize("kbar", kbar, n, m)
	g, unused := make([]float64, k.dim), make([]float64, len(theta))
	for i := range n {
		for j, b := range kbar.RawRowView(i) {
			k.k(theta, x.RawRowView(i), y.RawRowView(j), g, unused)
			floats.AddScaled(dx.RawRowView(i), b, g)
		}
	}
}

// DiagVJP uses d k(x,x)/dx = 2 ∂k(x,y)/∂x at y = x, because k is symmetric.
func (k pairwise) DiagVJP(dx *mat.Dense, x *mat.Dense, dbar []float64) {
	n, theta := checkPoints("points", x, k.dim), k.theta()
	checkSize("gradient", dx, n, k.dim)
	checkLen("dbar", len(dbar), n)
	g, unused := make([]float64, k.dim), make([]float64, len(theta))
	for i, b := range dbar {
		k.k(theta, x.RawRowView(i), x.RawRowView(i), g, unused)
		floats.AddScaled(dx.RawRowView(i), 2*b, g)
	}
}

func (k pairwise) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	n, theta := checkPoints("points", x, k.dim), k.theta()
	checkLen("gradient", len(dtheta), len(theta))
	checkSym("kbar", kbar, n)
	unused, g := make([]float64, k.dim), make([]float64, len(theta))
	for i := range n {
		for j, b := range upper(kbar, i) {
			if j > 0 {
				b *= 2
			}
			k.k(theta, x.RawRowView(i), x.RawRowView(i+j), unused, g)
			for p := range g {
				dtheta[p] += b * theta[p] * g[p]
			}
		}
	}
}
