package acquisition

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/workspace"
)

// LogNParEGO is LogNEI of a random scalarisation of two or more objectives, the augmented
// Chebyshev function of Knowles (2006),
//
//	g(y) = max_j w_j v_j + 0.05 Σ_j w_j v_j,  v_j = (y_j - low_j)/(high_j - low_j)
//
// with weights w from the uniform distribution on the simplex, and low_j and high_j the
// range of the posterior means at the evaluated points. Each function, and thus each point of
// a batch, has weights of its own. Its cost does not depend on the size of fronts, so it suits more than
// four objectives. With the samples f_s of the objectives at x,
//
//	log mean over samples of  P_s(x) fatplus(min_i g(f_s(x_i)) - g(f_s(x)))
//
// where i runs over the evaluated and pending points that are feasible in the sample. The maximum is the smooth
// fatmax, and fatplus is the function of QLogEI. P_s is as in LogNEHVI. Of more than 500 evaluated points the
// 250 with the lowest g of the confidence bounds are sampled.
type LogNParEGO struct {
	// Samples is the number of base samples. 0 means 256; powers of two are best.
	Samples int `set:"samples" default:"256" range:"[1,65536]" help:"joint samples"`
}

var _ Acquisition = LogNParEGO{}

// augmentation is the weight of the sum in the augmented Chebyshev function.
const augmentation = 0.05

// Build draws weights and base samples, and returns the function of one point.
func (a LogNParEGO) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	if err := p.checkSeveral("LogNParEGO", q); err != nil {
		return nil, err
	}
	a, err := settings.Resolve("lognparego", a)
	if err != nil {
		return nil, err
	}
	if p.infeasible() {
		return p.anyFeasible(1, a.Samples, rng)
	}
	g := newChebyshev(p, random.Split(rng, "weights", 0))
	among := p.among(func([]bool) []float64 {
		bounds := p.boundsOfObjectives()
		score := make([]float64, len(bounds))
		for i, y := range bounds {
			score[i] = g.value(y, nil)
		}
		return score
	})
	contenders, err := among.contenders(func(y [][]float64) []int {
		if i, _ := g.lowest(y); i >= 0 {
			return []int{i}
		}
		return nil
	}, a.Samples, rng)
	if err != nil {
		return nil, err
	}
	f, samples, err := p.sampleContenders(contenders, a.Samples, rng)
	if err != nil {
		return nil, err
	}
	f.gain = g.gain(g.bestOf(samples, a.Samples, p.Reference), f.candidateSamples(rng))
	return f, nil
}

// bestOf returns the lowest g at the feasible points of each of n joint samples. A sample without feasible points has the
// largest of these values, or g of the reference point if no sample has any.
func (g chebyshev) bestOf(samples jointSamples, n int, reference []float64) []float64 {
	best, worst := make([]float64, n), math.Inf(-1)
	for s := range best {
		y, _ := samples.at(s)
		_, best[s] = g.lowest(y)
		if !math.IsInf(best[s], 1) {
			worst = max(worst, best[s])
		}
	}
	if math.IsInf(worst, -1) {
		worst = g.value(reference, nil)
	}
	for s, b := range best {
		best[s] = min(b, worst)
	}
	return best
}

// gain returns the logarithm of fatplus(best_s - g(f_s(x))) for each sample s, with f_sj(x) = μ_sj + s_j z_sj. The rows of
// base are z_s.
func (g chebyshev) gain(best []float64, base *mat.Dense) sampleGain {
	m := len(g.slope)
	return func(mem *workspace.Memory) momentGain {
		y, slopes := mem.Floats(m), mem.Floats(m)
		return func(logs []float64, mean [][]float64, sd []float64, dmean, dsd [][]float64) {
			bar := slopes
			if dmean == nil {
				bar = nil
			}
			for s := range logs {
				z := base.RawRowView(s)
				for j := range y {
					y[j] = mean[j][s] + sd[j]*z[j]
				}
				l, d := logFatPlus(best[s] - g.value(y, bar))
				logs[s] = l
				for j, b := range bar {
					dmean[j][s], dsd[j][s] = -d*b, -d*b*z[j]
				}
			}
		}
	}
}

// chebyshev is a smooth augmented Chebyshev function of objectives y: slope_j (y_j - low_j)
// are its terms w_j v_j.
type chebyshev struct {
	slope, low []float64
}

// newChebyshev draws the weights.
func newChebyshev(p Problem, rng *rand.Rand) chebyshev {
	m := len(p.Objectives)
	g := chebyshev{make([]float64, m), make([]float64, m)}
	var total float64
	for j := range m {
		g.slope[j] = rng.ExpFloat64() // normalised, uniform on the simplex
		total += g.slope[j]
	}
	for j, posterior := range p.Objectives {
		mean, _ := p.atObserved(posterior)
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range mean {
			low, high = min(low, v), max(high, v)
		}
		if high == low {
			high = low + 1
		}
		g.low[j] = low
		g.slope[j] /= total * (high - low)
	}
	return g
}

// value returns g(y) and writes its gradient to bar, if not nil.
func (g chebyshev) value(y, bar []float64) float64 {
	mem := workspace.Borrow()
	defer mem.Return()
	v := mem.Floats(len(y))
	var sum float64
	for j, u := range y {
		v[j] = g.slope[j] * (u - g.low[j])
		sum += v[j]
	}
	top := fatMax(v, bar)
	for j := range bar {
		bar[j] = (bar[j] + augmentation) * g.slope[j]
	}
	return top + augmentation*sum
}

// lowest returns the index and the value of the row of y with the lowest g; -1 and +Inf if y is
// empty.
func (g chebyshev) lowest(y [][]float64) (index int, value float64) {
	index, value = -1, math.Inf(1)
	for i, v := range y {
		if u := g.value(v, nil); u < value {
			index, value = i, u
		}
	}
	return index, value
}
