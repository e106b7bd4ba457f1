package acquisition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"

	"github.com/functionspace/bo/internal/pareto"
	"github.com/functionspace/bo/internal/workspace"
)

// sphericalFront returns n points on the unit sphere around the reference point (1, …, 1), moved by noise.
func sphericalFront(n, m int, noise float64, rng *rand.Rand) [][]float64 {
	y := make([][]float64, n)
	for i := range y {
		y[i] = make([]float64, m)
		var sum float64
		for j := range y[i] {
			y[i][j] = math.Abs(rng.NormFloat64())
			sum += y[i][j] * y[i][j]
		}
		for j, v := range y[i] {
			y[i][j] = 1 - v/math.Sqrt(sum) + noise*rng.NormFloat64()
		}
	}
	return y
}

// The volume and its gradient from near bounds equal the volume and the gradient from logarithms of terms.
func TestRegionsFarBounds(t *testing.T) {
	mem := workspace.Borrow()
	defer mem.Return()
	rng := rand.New(rand.NewPCG(1, 2))
	large := 0
	for m := 2; m <= 3; m++ {
		for _, n := range []int{0, 1, 5, 60} {
			for _, sd := range []float64{1, 1e-2, 1e-3, 1e-5} {
				r := newRegions(m)
				r.add(pareto.Boxes(sphericalFront(n, m, 0, rng), slices.Repeat([]float64{1}, m)))
				for range 20 {
					mean, dmean, dsd := make([][]float64, m), make([][]float64, m), make([][]float64, m)
					at := sphericalFront(1, m, 5*sd, rng)[0]
					sds := make([]float64, m)
					for j := range m {
						mean[j], dmean[j], dsd[j] = []float64{at[j]}, make([]float64, 1), make([]float64, 1)
						sds[j] = sd * math.Exp(rng.NormFloat64())
					}
					logs := make([]float64, 1)
					r.gain(mem)(logs, mean, sds, dmean, dsd)
					if logs[0] < math.Log(leastVolume) {
						continue
					}
					large++
					w := r.workspace(mem)
					for j := range m {
						w.weigh(w.start[j], w.start[j+1], mean[j][0], sds[j])
					}
					want := w.log(0, mean, sds)
					assert.InDelta(t, want, logs[0], 1e-9*max(1, math.Abs(want)), "m=%d n=%d sd=%g", m, n, sd)
					w.pullLog(0, want)
					for j := range m {
						var first, second float64
						for i := w.start[j]; i < w.start[j+1]; i++ {
							first -= w.bar[i] * w.cdf[i]
							second += w.bar[i] * w.pdf[i]
						}
						assert.InDelta(t, first, dmean[j][0], 1e-8*max(1, math.Abs(first)))
						assert.InDelta(t, second, dsd[j][0], 1e-8*max(1, math.Abs(second)))
					}
				}
			}
		}
	}
	assert.Greater(t, large, 400)
}

// The terms that the logarithm leaves out do not change it.
func TestRegionsLeastShare(t *testing.T) {
	mem := workspace.Borrow()
	defer mem.Return()
	rng := rand.New(rand.NewPCG(3, 4))
	for m := 2; m <= 4; m++ {
		for range 100 {
			r := newRegions(m)
			r.add(pareto.Boxes(sphericalFront(1+rng.IntN(30), m, 0.01, rng), slices.Repeat([]float64{1}, m)))
			w, sd, mean := r.workspace(mem), make([]float64, m), make([][]float64, m)
			for j, v := range sphericalFront(1, m, 0.3, rng)[0] {
				sd[j], mean[j] = math.Exp(-3-3*rng.Float64()), []float64{v + 0.5}
			}
			got := w.log(0, mean, sd)
			var terms []float64
			for b := range w.boxes[1] {
				terms = append(terms, w.logTerm(b, sd))
			}
			assert.InDelta(t, floats.LogSumExp(terms), got, 1e-11*math.Abs(got))
		}
	}
}

// BenchmarkRegions measures values and gradients given 64 samples of a front of n points, near the front and far behind it.
func BenchmarkRegions(b *testing.B) {
	const samples = 64
	for _, m := range []int{2, 3} {
		for _, n := range []int{5, 30, 100} {
			rng := rand.New(rand.NewPCG(1, 2))
			front := sphericalFront(n, m, 0, rng)
			r := newRegions(m)
			for range samples {
				y := make([][]float64, n)
				for i, v := range front {
					y[i] = make([]float64, m)
					for j := range v {
						y[i][j] = v[j] + 1e-3*rng.NormFloat64()
					}
				}
				r.add(pareto.Boxes(y, slices.Repeat([]float64{1}, m)))
			}
			for name, shift := range map[string]float64{"near": 0, "far": 0.5} {
				b.Run(fmt.Sprintf("m=%d/n=%d/%s", m, n, name), func(b *testing.B) {
					mem := workspace.Borrow()
					defer mem.Return()
					sd := make([]float64, m)
					mean, dmean, dsd := make([][]float64, m), make([][]float64, m), make([][]float64, m)
					for j := range m {
						sd[j], mean[j] = 0.01, make([]float64, samples)
						for s := range samples {
							mean[j][s] = front[0][j] + shift
						}
						dmean[j], dsd[j] = make([]float64, samples), make([]float64, samples)
					}
					logs := make([]float64, samples)
					gain := r.gain(mem)
					for b.Loop() {
						gain(logs, mean, sd, dmean, dsd)
					}
				})
			}
		}
	}
}
