package benchmarks

import (
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
)

// PriorDraw returns a function drawn from the Gaussian process with mean 0 and a
// kernel of d inputs, on [0,1]^d. prior.Process.Draw draws it with 2048 features.
// RBF and Matérn kernels have random Fourier features, whose covariance averages to the
// kernel over draws. arccos has a random network with 2048 units in its last hidden
// layer. Each seed is another draw.
//
// Minimum is not proven: it is the lowest value that descents from the best of 2¹⁴
// points find, and a rough function may have lower values. A call takes about half a
// second. It panics if prior.NewFeatures does not support the kernel.
func PriorDraw(kernel prior.Kernel, seed uint64) Objective {
	const features = 2048
	drawn, err := prior.Process{Kernel: kernel}.Draw(1, features, random.New(seed, "prior draw of "+kernel.String(), 0))
	if err != nil {
		panic("benchmarks: " + err.Error())
	}
	return Objective{
		Name:    "draw of " + kernel.String(),
		Summary: "a function drawn from a Gaussian process",
	}.drawn(drawn[0].Eval, kernel.Dim())
}

// drawn adds to o a function f on [0,1]^d and its lowest value found by a search. f writes
// values and gradients at the rows of x.
func (o Objective) drawn(f func(value []float64, grad, x *mat.Dense), d int) Objective {
	value, x := searchMinimum(f, d)
	o.Minimum, o.Minimizers, o.NoiseFree = value, [][]float64{x}, true
	o.Func = func(x []float64) float64 {
		var value [1]float64
		f(value[:], nil, mat.NewDense(1, d, x))
		return value[0]
	}
	return o.inCube(d, 0, 1)
}
