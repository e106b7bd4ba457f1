package acquisition

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/surrogate"
)

// QEI is the expected improvement of a batch, E max_j (best - f(x_j))⁺, estimated with
// joint samples from fixed base samples (Wilson et al. 2018). Pending points belong to
// the batch.
type QEI struct {
	// Samples is the number of base samples. 0 means 512; powers of two are best.
	Samples int `set:"samples" default:"512" range:"[1,65536]" help:"joint samples"`
	// Joint chooses all points of a batch together instead of one after another.
	Joint bool `set:"joint" default:"false" help:"choose the points of a batch together"`
}

// QLogEI is the logarithm of a smooth approximation of QEI whose gradient vanishes
// nowhere (Ament et al. 2023, eq. 10, with fat tails):
//
//	log mean over samples of  exp fatmax_j log fatplus(best - f(x_j))
//	fatplus(u) = τ₀ (log(1+e^(u/τ₀)) + 0.1/(1+(u/τ₀)²)),       τ₀ = 1e-6
//	fatmax(v)  = M + τ₁ log Σ_j 2/(2+2w_j+w_j²),  w_j = (M-v_j)/τ₁, M = max v,  τ₁ = 1e-2
type QLogEI struct {
	// Samples is the number of base samples. 0 means 512; powers of two are best.
	Samples int `set:"samples" default:"512" range:"[1,65536]" help:"joint samples"`
	// Joint chooses all points of a batch together instead of one after another.
	Joint bool `set:"joint" default:"false" help:"choose the points of a batch together"`
}

// defaultSamples is the default number of base samples.
const defaultSamples = 512

const (
	tauRelu = 1e-6
	tauMax  = 1e-2
)

var (
	_ Joint = QEI{}
	_ Joint = QLogEI{}
)

// JointBatch returns the field Joint.
func (a QEI) JointBatch() bool { return a.Joint }

// JointBatch returns the field Joint.
func (a QLogEI) JointBatch() bool { return a.Joint }

// Build draws the base samples and returns the function.
func (a QEI) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	a, err := settings.Resolve("qei", a)
	if err != nil {
		return nil, err
	}
	if err := p.checkPlain("QEI"); err != nil {
		return nil, err
	}
	return batchImprovement(p, q, a.Samples, positivePart, rng)
}

// Build draws the base samples and returns the function.
func (a QLogEI) Build(_ context.Context, p Problem, q int, rng *rand.Rand) (Function, error) {
	a, err := settings.Resolve("qlogei", a)
	if err != nil {
		return nil, err
	}
	if err := p.checkOne("QLogEI"); err != nil {
		return nil, err
	}
	switch {
	case p.unconstrained():
		return batchImprovement(p, q, a.Samples, logPositivePart, rng)
	case p.infeasible():
		return p.anyFeasible(q, a.Samples, rng)
	}
	if err := p.checkBest(); err != nil {
		return nil, err
	}
	f := p.newMulti(q, a.Samples, []surrogate.Posterior{p.Posterior}, nil, rng)
	f.gain = logConstrainedPart(slices.Repeat([]float64{p.Best}, a.Samples), p.bounds())
	return f, nil
}

// batchImprovement returns the function of q points and the pending points that g
// computes from their samples.
func batchImprovement(p Problem, q, samples int, g gain, rng *rand.Rand) (Function, error) {
	if err := p.checkBest(); err != nil {
		return nil, err
	}
	return &monteCarlo{
		posterior: p.Posterior, joint: p.Posterior, q: q, behind: p.Pending,
		base: baseSamples(samples, q+rowCount(p.Pending), rng), best: slices.Repeat([]float64{p.Best}, samples), gain: g,
	}, nil
}

// positivePart returns the mean over samples of max_j (best - f_j)⁺.
func positivePart(f, fbar *mat.Dense, best []float64) float64 {
	share := 1 / float64(len(best))
	var sum float64
	for s, b := range best {
		row := f.RawRowView(s)
		low := 0
		for j, v := range row {
			if v < row[low] {
				low = j
			}
		}
		won := b - row[low]
		if fbar != nil {
			bar := fbar.RawRowView(s)
			clear(bar)
			if won > 0 {
				bar[low] = -share
			}
		}
		sum += max(won, 0)
	}
	return sum * share
}

// logPositivePart returns the formula of QLogEI.
func logPositivePart(f, fbar *mat.Dense, best []float64) float64 {
	n, k := f.Dims()
	if k == 1 {
		return logOfOne(f, fbar, best)
	}
	mem := workspace.Borrow()
	defer mem.Return()
	top := mem.Floats(n) // fatmax of each sample
	v, dv := mem.Floats(k), mem.Floats(k)
	high := math.Inf(-1)
	raw := f.RawMatrix()
	for s, b := range best {
		row := raw.Data[s*raw.Stride : s*raw.Stride+k]
		if fbar == nil {
			for j, y := range row {
				v[j], _, _ = fatPlus(b - y)
				v[j] = math.Log(v[j])
			}
			top[s] = fatMax(v, nil)
		} else {
			for j, y := range row {
				v[j], dv[j] = logFatPlus(b - y)
			}
			bar := fbar.RawRowView(s)
			top[s] = fatMax(v, bar)
			for j := range bar {
				bar[j] *= -dv[j]
			}
		}
		high = max(high, top[s])
	}
	var sum float64
	for s := range top {
		top[s] = math.Exp(top[s] - high)
		sum += top[s]
	}
	if fbar != nil {
		for s := range top {
			bar := fbar.RawRowView(s)
			for j := range bar {
				bar[j] *= top[s] / sum
			}
		}
	}
	return high + math.Log(sum/float64(n))
}

// logOfOne is logPositivePart of one point, log mean fatplus(best - f), without logarithms of single samples.
func logOfOne(f, fbar *mat.Dense, best []float64) float64 {
	raw := f.RawMatrix()
	var sum float64
	for s, b := range best {
		value, _, slope := fatPlus(b - raw.Data[s*raw.Stride])
		sum += value
		if fbar != nil {
			fbar.Set(s, 0, slope)
		}
	}
	if fbar != nil {
		fbar.Scale(-1/sum, fbar)
	}
	return math.Log(sum / float64(len(best)))
}

// logFatPlus returns log fatplus(u) and its derivative.
func logFatPlus(u float64) (value, deriv float64) {
	value, sum, slope := fatPlus(u)
	return math.Log(value), slope / sum / tauRelu
}

// fatPlus returns fatplus(u), and fatplus(u)/τ₀ and its derivative with respect to u/τ₀.
func fatPlus(u float64) (value, sum, slope float64) {
	u /= tauRelu
	var plus, dplus float64 // softplus
	switch {
	case u > 40:
		plus, dplus = u, 1
	case u > -40:
		e := math.Exp(-math.Abs(u))
		plus = max(u, 0) + math.Log1p(e)
		if dplus = 1 / (1 + e); u < 0 {
			dplus = e / (1 + e)
		}
	}
	c := 1 / (1 + u*u)
	sum = plus + 0.1*c
	return tauRelu * sum, sum, dplus - 0.2*u*c*c
}

// fatMax returns fatmax(v) and writes its gradient to bar, if not nil.
func fatMax(v, bar []float64) float64 {
	top := 0
	for j, y := range v {
		if y > v[top] {
			top = j
		}
	}
	var sum float64 // without the largest term, which is 1
	for j, y := range v {
		if j == top {
			continue
		}
		w := (v[top] - y) / tauMax
		p := 2 / (2 + 2*w + w*w)
		sum += p
		if bar != nil {
			bar[j] = p * p * (1 + w)
		}
	}
	if bar != nil {
		rest := 1.0
		for j := range bar {
			if j != top {
				bar[j] /= 1 + sum
				rest -= bar[j]
			}
		}
		bar[top] = rest
	}
	if sum < 1e-3 { // the usual case: the series of log(1+sum) is accurate to rounding and cheaper
		return v[top] + tauMax*sum*(1-sum*(1./2-sum*(1./3-sum*(1./4-sum/5))))
	}
	return v[top] + tauMax*math.Log1p(sum)
}
