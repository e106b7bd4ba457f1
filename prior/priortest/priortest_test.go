package priortest

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/prior"
)

func TestRun(t *testing.T) { Run(t, prior.RBF(2)) }

// wrong is an RBF kernel with one fault.
type wrong struct {
	prior.Kernel
	fault string
}

func (k wrong) is(fault string) bool { return k.fault == fault }

func (k wrong) WithParams(theta []float64) prior.Kernel {
	if k.is("fixed") {
		return k
	}
	return wrong{k.Kernel.WithParams(theta), k.fault}
}

func (k wrong) Params() []prior.Param {
	p := k.Kernel.Params()
	switch k.fault {
	case "names":
		p[1].Name = p[0].Name
	case "bounds":
		p[0].Lo, p[0].Hi = 0, 0
	case "negative":
		p[0].Value = -1
	}
	return p
}

func (k wrong) String() string {
	if k.is("no text") {
		return ""
	}
	return k.Kernel.String()
}

func (k wrong) Gram(dst *mat.SymDense, x *mat.Dense) {
	k.Kernel.Gram(dst, x)
	n := dst.SymmetricDim()
	for i := range n {
		for j := range i {
			switch k.fault {
			case "cubes": // exp(-r³) is no kernel
				dst.SetSym(i, j, math.Exp(-math.Pow(-2*math.Log(dst.At(i, j)), 1.5)))
			case "values":
				dst.SetSym(i, j, 0.9*dst.At(i, j))
			}
		}
	}
}

func (k wrong) Cross(dst, x, y *mat.Dense) {
	if k.is("accumulates") {
		var more mat.Dense
		more.CloneFrom(dst)
		defer func() { dst.Add(dst, &more) }()
	}
	k.Kernel.Cross(dst, x, y)
	if k.is("asymmetric") {
		n, m := dst.Dims()
		for i := range n {
			for j := range m {
				dst.Set(i, j, dst.At(i, j)+0.1*x.At(i, 0))
			}
		}
	}
}

func (k wrong) Diag(dst []float64, x *mat.Dense) {
	k.Kernel.Diag(dst, x)
	if k.is("diagonal") {
		dst[0]++
	}
}

func (k wrong) CrossVJP(dx, x, y, kbar *mat.Dense) {
	switch k.fault {
	case "overwrites":
		dx.Zero()
	case "divides":
		if mat.Equal(x, y) {
			dx.Set(0, 0, math.NaN())
		}
	case "sign":
		dx.Scale(-1, dx)
		defer dx.Scale(-1, dx)
	}
	k.Kernel.CrossVJP(dx, x, y, kbar)
}

func (k wrong) DiagVJP(dx, x *mat.Dense, dbar []float64) {
	k.Kernel.DiagVJP(dx, x, dbar)
	if k.is("diagonal gradient") {
		dx.Set(0, 0, dx.At(0, 0)+1)
	}
}

func (k wrong) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	k.Kernel.ParamVJP(dtheta, x, kbar)
	if k.is("no logarithm") {
		dtheta[1] /= k.Params()[1].Value
	}
}

// laplace is the kernel exp(-Σ|x_j - y_j|/l), which has kinks at equal inputs, times a variance. Its faults are a sign of -1, a
// NaN at points with equal inputs, and an argument of WithParams that is not copied.
type laplace struct {
	dim            int
	l              []float64
	variance, sign float64
	divides, alias bool
}

func (k laplace) at(x, y []float64) float64 {
	return k.variance * math.Exp(-floats.Distance(x, y, 1)/k.l[0])
}

func (k laplace) Dim() int       { return k.dim }
func (k laplace) String() string { return "laplace" }
func (k laplace) Params() []prior.Param {
	return []prior.Param{{Name: "lengthscale", Value: k.l[0], Lo: 0.01, Hi: 100}}
}

func (k laplace) WithParams(theta []float64) prior.Kernel {
	if k.l = theta; !k.alias {
		k.l = slices.Clone(theta)
	}
	return k
}

func (k laplace) Gram(dst *mat.SymDense, x *mat.Dense) {
	n, _ := x.Dims()
	full := mat.NewDense(n, n, nil)
	k.Cross(full, x, x)
	for i := range n {
		for j := range i + 1 {
			dst.SetSym(i, j, full.At(i, j))
		}
	}
}

func (k laplace) Cross(dst, x, y *mat.Dense) {
	dst.Apply(func(i, j int, _ float64) float64 { return k.at(x.RawRowView(i), y.RawRowView(j)) }, dst)
}

func (k laplace) Diag(dst []float64, _ *mat.Dense) {
	for i := range dst {
		dst[i] = k.variance
	}
}

func (k laplace) CrossVJP(dx, x, y, kbar *mat.Dense) {
	n, m := kbar.Dims()
	for i := range n {
		for j := range m {
			v := k.sign * kbar.At(i, j) * k.at(x.RawRowView(i), y.RawRowView(j)) / k.l[0]
			for c := range k.dim {
				switch d := x.At(i, c) - y.At(j, c); {
				case d != 0:
					dx.Set(i, c, dx.At(i, c)-v*math.Copysign(1, d))
				case k.divides && !slices.Equal(x.RawRowView(i), y.RawRowView(j)):
					dx.Set(i, c, math.NaN())
				}
			}
		}
	}
}

func (k laplace) DiagVJP(*mat.Dense, *mat.Dense, []float64) {}

func (k laplace) ParamVJP(dtheta []float64, x *mat.Dense, kbar *mat.SymDense) {
	n, _ := x.Dims()
	for i := range n {
		for j := range n {
			r := floats.Distance(x.RawRowView(i), x.RawRowView(j), 1) / k.l[0]
			dtheta[0] += kbar.At(i, j) * r * k.at(x.RawRowView(i), x.RawRowView(j))
		}
	}
}

// A kernel may have kinks at equal inputs, any scale, and no hyperparameters.
func TestOtherKernels(t *testing.T) {
	for dim := 1; dim <= 20; dim++ {
		require.NoError(t, Check(laplace{dim: dim, l: []float64{float64(dim)}, variance: 1, sign: 1}), "%d inputs", dim)
	}
	for _, variance := range []float64{1e-8, 1e8} {
		require.NoError(t, Check(laplace{dim: 2, l: []float64{1}, variance: variance, sign: 1}))
		require.ErrorContains(t, Check(laplace{dim: 2, l: []float64{1}, variance: variance, sign: -1}), "gradient of Cross: ")
	}
	require.NoError(t, Check(prior.Constant(2)))
	require.ErrorContains(t, Check(laplace{dim: 2, l: []float64{1}, variance: 1, sign: 1, alias: true}), "WithParams copies its argument")
	require.ErrorContains(t, Check(laplace{dim: 2, l: []float64{1}, variance: 1, sign: 1, divides: true}),
		"equal points: CrossVJP of points with equal inputs has the derivative NaN")
}

func TestFaults(t *testing.T) {
	require.NoError(t, Check(wrong{prior.RBF(2), ""}))
	for fault, want := range map[string]string{
		"fixed":             "hyperparameters: hyperparameter 0 is",
		"names":             "two hyperparameters have the name",
		"bounds":            "outside its bounds from 0 to 0",
		"negative":          "is -1, want a positive number",
		"no text":           "String() is empty",
		"cubes":             "positive definite: a Gram matrix of 40 points has the eigenvalues -",
		"values":            "values: Cross and Gram at points 0 and 1",
		"asymmetric":        "values: Cross and Gram",
		"accumulates":       "values: Cross and Gram at points 0 and 1: NaN",
		"diagonal":          "values: Diag and Gram at points 0 and 0",
		"overwrites":        "gradient of Cross: ∂f/∂x[0]",
		"sign":              "gradient of Cross: ∂f/∂x[0]",
		"divides":           "equal points: CrossVJP of equal points has the derivative NaN",
		"diagonal gradient": "gradient of Diag: ∂f/∂x[0]",
		"no logarithm":      "gradient of hyperparameters: ",
	} {
		require.ErrorContains(t, Check(wrong{prior.RBF(2), fault}), want, fault)
	}
}
