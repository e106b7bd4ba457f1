package surrogate_test

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/fvi"
	"github.com/functionspace/bo/surrogate/gfsvi"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/gwi"
)

// drawn is a function drawn from a Gaussian process: n observations of it, and its values at 300
// further points.
type drawn struct {
	surrogate.Dataset
	at    *mat.Dense
	value []float64
}

func draw(t *testing.T, s prior.Spec, n, dim int, seed uint64) drawn {
	const m = 300
	kernel, _, err := s.Hyperparameters(dim, false)
	require.NoError(t, err)
	d := drawn{at: space.Sobol(m, dim, random.New(seed, "at", 0))}
	d.X, d.Lo, d.Hi = space.Sobol(n, dim, random.New(seed, "x", 0)), make([]float64, dim), slices.Repeat([]float64{1}, dim)
	both, k := new(mat.Dense), mat.NewSymDense(n+m, nil)
	both.Stack(d.X, d.at)
	kernel.Gram(k, both)
	linalg.AddDiagonal(k, 1e-10)
	chol, err := linalg.Factorize(k)
	require.NoError(t, err)
	f, rng := make([]float64, n+m), random.New(seed, "draw", 0)
	random.Normal(f, rng)
	chol.MulLowerVec(f)
	d.Y, d.value = f[:n:n], f[n:]
	for i := range d.Y {
		d.Y[i] += math.Sqrt(*s.Noise) * rng.NormFloat64()
	}
	return d
}

// intervals describes the standard deviations of a posterior and its central 90 and 95 % intervals.
type intervals struct{ sd, in90, in95 float64 }

func (d drawn) intervals(p surrogate.Posterior) (s intervals) {
	n := len(d.value)
	mean, variance := make([]float64, n), make([]float64, n)
	p.Predict(mean, variance, d.at)
	for i, v := range variance {
		sd, off, each := math.Sqrt(v), math.Abs(mean[i]-d.value[i]), 1/float64(n)
		s.sd += each * sd
		if off <= 1.645*sd {
			s.in90 += each
		}
		if off <= 1.960*sd {
			s.in95 += each
		}
	}
	return s
}

func (s *intervals) add(a intervals, weight float64) {
	s.sd, s.in90, s.in95 = s.sd+weight*a.sd, s.in90+weight*a.in90, s.in95+weight*a.in95
}

var full = flag.Bool("full", false, "ten functions of each kind; otherwise one")

// Intervals of functions drawn from the stated prior, beside the intervals of the exact process. If a method
// covers much less, its fits warn; if it covers as much, they do not.
func TestIntervals(t *testing.T) {
	racetest.SkipNumerical(t)
	seeds := 1
	if *full {
		seeds = 10
	}
	for _, c := range []struct {
		kernel      string
		dim, n      int
		lengthscale float64
		noise       float64
	}{{"matern52", 2, 30, 0.3, 0.01}, {"rbf", 2, 30, 0.3, 0.01}, {"matern52", 1, 15, 0.2, 1e-6}} {
		s := prior.Spec{Kernel: c.kernel, Lengthscale: []float64{c.lengthscale}, Variance: new(1.0), Noise: new(c.noise), Mean: prior.MeanZero}
		t.Logf("%s, d=%d, n=%d, noise %g, %d functions", c.kernel, c.dim, c.n, c.noise, seeds)
		methods := []surrogate.Model{
			gp.Model{Spec: s}, fsplaplace.Model{Spec: s}, gfsvi.Model{Spec: s},
			gwi.SVGP{Options: gwi.Options{Spec: s}}, gwi.Net{Options: gwi.Options{Spec: s}}, fvi.Model{Spec: s},
		}
		var exact intervals
		for i, m := range methods {
			var own intervals
			warned := 0
			for seed := range uint64(seeds) {
				d := draw(t, s, c.n, c.dim, seed+1)
				post, err := m.Fit(t.Context(), d.Dataset, random.New(seed+1, "fit", 0))
				require.NoError(t, err)
				own.add(d.intervals(post), 1/float64(seeds))
				if len(post.Warnings()) > 0 {
					warned++
				}
			}
			if i == 0 {
				exact = own
			}
			t.Logf("%-18s sd ratio %.2f, in 90 %% %.3f, in 95 %% %.3f, %d warned", fmt.Sprintf("%T", m), own.sd/exact.sd, own.in90, own.in95, warned)
			if own.in95 < exact.in95-0.08 {
				require.Greater(t, 2*warned, seeds, "%T is overconfident without a warning", m)
			}
			if own.in95 > exact.in95-0.01 {
				require.Less(t, 2*warned, seeds, "%T", m)
			}
		}
	}
}
