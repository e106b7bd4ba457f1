package classify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/specfn"
)

// Latents returns L for a number of classes.
func Latents(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// LogProb returns Σ_i log p(y_i|f_i). It writes the probabilities π (for L = 1, of class 1)
// and the derivatives with respect to f. All matrices are L×n; either destination may be f.
func LogProb(prob, grad, f *mat.Dense, y []int) float64 {
	if l, _ := f.Dims(); l == 1 {
		return logistic(prob.RawRowView(0), grad.RawRowView(0), f.RawRowView(0), y)
	}
	l, _ := f.Dims()
	var sum float64
	var few [16]float64
	at := slices.Grow(few[:0], l)[:l]
	for i, label := range y {
		for c := range at {
			at[c] = f.At(c, i)
		}
		own := at[label]
		sum += own - softmax(at)
		for c, p := range at {
			prob.Set(c, i, p)
			grad.Set(c, i, -p)
		}
		grad.Set(label, i, 1-at[label])
	}
	return sum
}

func logistic(prob, grad, f []float64, y []int) float64 {
	var sum float64
	for i, v := range f {
		p, _ := specfn.Logistic(v)
		label, sign := float64(y[i]), 1.0
		if y[i] == 0 {
			sign = -1
		}
		// log σ(±f), without overflow.
		z := sign * v
		sum += min(z, 0) - math.Log1p(math.Exp(-math.Abs(z)))
		prob[i], grad[i] = p, label-p
	}
	return sum
}

// softmax overwrites f with e^f/Σe^f and returns log Σe^f.
func softmax(f []float64) float64 {
	top := math.Inf(-1)
	for _, v := range f {
		top = max(top, v)
	}
	var sum float64
	for c, v := range f {
		f[c] = math.Exp(v - top)
		sum += f[c]
	}
	for c := range f {
		f[c] /= sum
	}
	return top + math.Log(sum)
}

// Diagonal returns D at the probabilities prob, L×n.
func Diagonal(prob *mat.Dense) *mat.Dense {
	d := mat.DenseCopyOf(prob)
	if l, _ := d.Dims(); l == 1 {
		d.SetRow(0, Variances(prob.RawRowView(0)))
	}
	return d
}

// Variances returns p(1-p) for each probability p.
func Variances(prob []float64) []float64 {
	v := make([]float64, len(prob))
	for i, p := range prob {
		v[i] = p * (1 - p)
	}
	return v
}

// MulCurvature overwrites v, L×n, with W v.
func MulCurvature(v, d *mat.Dense) {
	l, n := v.Dims()
	v.MulElem(v, d)
	if l == 1 {
		return
	}
	mean, sum := make([]float64, n), make([]float64, n) // 1ᵀDv/1ᵀD1, 1ᵀD1
	for c := range l {
		linalg.Axpy(1, v.RawRowView(c), mean)
		linalg.Axpy(1, d.RawRowView(c), sum)
	}
	for i, w := range sum {
		if w > 0 {
			mean[i] /= w
		}
	}
	for c := range l {
		row := v.RawRowView(c)
		for i, w := range d.RawRowView(c) {
			row[i] -= w * mean[i]
		}
	}
}
