// Package plain has networks, kernels and optimisers in explicit loops, without code of the
// other packages. Tests compare the published algorithms with transcriptions that use it.
package plain

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Network is a fully connected tanh network with one output. Its weights are, for each hidden
// layer, the matrix with a row for each input of the layer, then the biases; then the output
// weights and the output bias.
type Network []int // number of inputs, then widths of the hidden layers

// Size returns the number of weights.
func (n Network) Size() int {
	size := 0
	for l := 1; l < len(n); l++ {
		size += (n[l-1] + 1) * n[l]
	}
	return size + n[len(n)-1] + 1
}

// Value returns f(x,w).
func (n Network) Value(w, x []float64) float64 {
	f, _ := n.forward(w, x)
	return f
}

// forward returns f(x,w) and the values of all layers, inputs first.
func (n Network) forward(w, x []float64) (float64, [][]float64) {
	layers := [][]float64{x}
	for l := 1; l < len(n); l++ {
		in, out := layers[l-1], make([]float64, n[l])
		biases := w[len(in)*n[l]:]
		for j := range out {
			a := biases[j]
			for i, v := range in {
				a += v * w[i*n[l]+j]
			}
			out[j] = math.Tanh(a)
		}
		layers = append(layers, out)
		w = biases[n[l]:]
	}
	last := layers[len(layers)-1]
	f := w[len(last)]
	for i, v := range last {
		f += v * w[i]
	}
	return f, layers
}

// Row returns f(x,w) and J(x) = ∂f/∂w, by backpropagation.
func (n Network) Row(w, x []float64) (float64, []float64) {
	f, layers := n.forward(w, x)
	grad := make([]float64, len(w))
	last := layers[len(layers)-1]
	end := len(w) - len(last) - 1
	copy(grad[end:], last)
	grad[len(w)-1] = 1
	bar := w[end : end+len(last)]
	for l := len(n) - 1; l > 0; l-- {
		in, out := layers[l-1], layers[l]
		start := end - (len(in)+1)*len(out)
		next := make([]float64, len(in))
		for j, v := range out {
			a := bar[j] * (1 - v*v)
			grad[start+len(in)*len(out)+j] = a
			for i, u := range in {
				grad[start+i*len(out)+j] = a * u
				next[i] += a * w[start+i*len(out)+j]
			}
		}
		bar, end = next, start
	}
	return f, grad
}

// Adam is the optimiser of Kingma and Ba (2015), algorithm 1, with the state of a run.
type Adam struct {
	t    float64
	m, v []float64
}

// Step moves theta along -grad.
func (a *Adam) Step(rate float64, theta, grad []float64) {
	if a.m == nil {
		a.m, a.v = make([]float64, len(theta)), make([]float64, len(theta))
	}
	a.t++
	for i, g := range grad {
		a.m[i] = 0.9*a.m[i] + 0.1*g
		a.v[i] = 0.999*a.v[i] + 0.001*g*g
		mean, square := a.m[i]/(1-math.Pow(0.9, a.t)), a.v[i]/(1-math.Pow(0.999, a.t))
		theta[i] -= rate * mean / (math.Sqrt(square) + 1e-8)
	}
}

// Matern52 returns the covariance of two points with one lengthscale.
func Matern52(a, b []float64, lengthscale, variance float64) float64 {
	r := 0.0
	for j := range a {
		r += (a[j] - b[j]) * (a[j] - b[j])
	}
	r = math.Sqrt(5*r) / lengthscale
	return variance * (1 + r + r*r/3) * math.Exp(-r)
}

// Softplus returns log(1 + exp(x)).
func Softplus(x float64) float64 { return math.Log1p(math.Exp(x)) }

// Logistic returns the derivative of Softplus.
func Logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Inverse returns the x with Softplus(x) = y.
func Inverse(y float64) float64 { return math.Log(math.Expm1(y)) }

// ZScore returns the rows with mean 0 and standard deviation 1, with n-1 in the denominator, in
// each column, and the map of other rows.
func ZScore(rows [][]float64) (scaled [][]float64, scale func(x []float64) []float64) {
	n, d := float64(len(rows)), len(rows[0])
	mean, sd := make([]float64, d), make([]float64, d)
	for j := range d {
		for _, r := range rows {
			mean[j] += r[j] / n
		}
		for _, r := range rows {
			sd[j] += (r[j] - mean[j]) * (r[j] - mean[j]) / (n - 1)
		}
		sd[j] = math.Sqrt(sd[j])
	}
	scale = func(x []float64) []float64 {
		out := make([]float64, d)
		for j := range d {
			out[j] = (x[j] - mean[j]) / sd[j]
		}
		return out
	}
	for _, r := range rows {
		scaled = append(scaled, scale(r))
	}
	return scaled, scale
}

// LogNormal returns log N(y; 0, cov).
func LogNormal(y []float64, cov *mat.SymDense) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		panic("plain: the covariance is not positive definite")
	}
	var solved mat.VecDense
	v := mat.NewVecDense(len(y), y)
	if err := chol.SolveVecTo(&solved, v); err != nil {
		panic(err)
	}
	return -0.5 * (float64(len(y))*math.Log(2*math.Pi) + chol.LogDet() + mat.Dot(v, &solved))
}

// Theta returns the logarithms of the lengthscales of dim inputs, of the output variance and of the noise
// variance among hyperparameters by name. A hyperparameter at a bound, 1e-4 or 1e4, is not free.
func Theta(dim int, hypers map[string]float64) (theta []float64, free []bool) {
	var names []string
	for i := range dim {
		names = append(names, fmt.Sprintf("lengthscale[%d]", i))
	}
	for _, name := range append(names, "variance", "noise") {
		v := hypers[name]
		theta, free = append(theta, math.Log(v)), append(free, v > 1.01e-4 && v < 0.99e4)
	}
	return theta, free
}

// LikelihoodSlopes returns the central differences of log N(y; 0, K + σ²I) in each of the logarithms theta. The
// last one is the logarithm of the noise variance σ², and kernel returns the kernel with the others, not in logarithms.
func LikelihoodSlopes(theta []float64, kernel func(v []float64) func(a, b []float64) float64, x [][]float64, y []float64) []float64 {
	likelihood := func(theta []float64) float64 {
		v := make([]float64, len(theta))
		for i, l := range theta {
			v[i] = math.Exp(l)
		}
		of, last := kernel(v[:len(v)-1]), v[len(v)-1]
		k := mat.NewSymDense(len(x), nil)
		for i := range x {
			for j := range i + 1 {
				k.SetSym(i, j, of(x[i], x[j]))
			}
			k.SetSym(i, i, k.At(i, i)+last)
		}
		return LogNormal(y, k)
	}
	const h = 1e-4
	out := make([]float64, len(theta))
	for i := range theta {
		at := append([]float64(nil), theta...)
		at[i] = theta[i] + h
		high := likelihood(at)
		at[i] = theta[i] - h
		out[i] = (high - likelihood(at)) / (2 * h)
	}
	return out
}
