package acquisition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/specfn"
	"github.com/functionspace/bo/internal/workspace"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// conditional is a function of one point x and several independent outputs. It is the logarithm
// of a mean over S fixed joint samples of the outputs at baseline points B,
//
//	log 1/S Σ_s exp( gain_s + Σ_c log Φ((bound_c - μ_cs)/s_c) )
//
// in which gain_s and the probabilities that x meets the constraints c are functions of the
// moments of the outputs at x given sample s,
//
//	μ_s = μ(x) + C(x,B) L⁻ᵀ z_s,  s² = C(x,x) - C(x,B) C(B,B)⁻¹ C(B,x),  C(B,B) = L Lᵀ
//
// so that no sample at x is needed where gain_s has a closed form. If there are several
// objectives, an output without noise has the sample z_s = 0 at evaluated points. A block of candidates costs one Joint (and JointVJP) per output,
// and O(n² + Sn) per candidate and output for n baseline points.
type conditional struct {
	outputs  []output // the objectives, then the constraints
	bounds   []float64
	baseline *mat.Dense
	samples  int
	gain     sampleGain
}

// output is one output and its samples at the baseline.
type output struct {
	posterior surrogate.Posterior
	joint     surrogate.Jointer // of posterior, after anchor with the computations at the baseline
	base      *mat.Dense        // rows z_s, S×n
	factor    *linalg.Cholesky  // L
}

// sampleGain returns a function for one goroutine, with memory from mem.
type sampleGain func(mem *workspace.Memory) momentGain

// momentGain writes the gain of each sample s to logs, for the moments mean[j][s] and sd[j] of the objectives j. If dmean
// is not nil, it overwrites dmean[j][s] and dsd[j][s] with the gradients.
type momentGain func(logs []float64, mean [][]float64, sd []float64, dmean, dsd [][]float64)

// sampleCount returns the number of samples, at most most: one if no output has noise at the evaluated
// points and no point is pending.
func (p Problem) sampleCount(most int) int {
	if rowCount(p.Pending) > 0 {
		return most
	}
	for _, o := range p.outputs() {
		if !p.exact(o) {
			return most
		}
	}
	return 1
}

// outputs returns the posteriors of the objectives and of the constraints.
func (p Problem) outputs() []surrogate.Posterior {
	all := append([]surrogate.Posterior{}, p.Objectives...)
	for _, c := range p.Constraints {
		all = append(all, c.Posterior)
	}
	return all
}

// newConditional returns a conditional without a gain, and the samples of each output at the rows of
// baseline and the pending points (S×n).
func newConditional(p Problem, baseline *mat.Dense, samples int, rng *rand.Rand) (*conditional, []*mat.Dense, error) {
	evaluated := rowCount(baseline)
	f := &conditional{baseline: stack(baseline, p.Pending), samples: samples, bounds: p.bounds()}
	posteriors := p.outputs()
	n := rowCount(f.baseline)
	base := baseSamples(samples, n*len(posteriors), rng)
	drawn := make([]*mat.Dense, len(posteriors))
	for i, posterior := range posteriors {
		o := output{posterior: posterior, joint: posterior, base: mat.DenseCopyOf(base.Slice(0, samples, i*n, (i+1)*n))}
		if evaluated > 0 && len(p.Objectives) > 1 && p.exact(posterior) {
			o.base.Slice(0, samples, 0, evaluated).(*mat.Dense).Zero()
		}
		mean, cov := make([]float64, n), mat.NewSymDense(n, nil)
		posterior.Joint(mean, cov, f.baseline)
		linalg.AddDiagonal(cov, minVariance)
		var err error
		if o.factor, err = linalg.Factorize(cov); err != nil {
			return nil, nil, fmt.Errorf("acquisition: sampling at %d evaluated and pending points: %w", n, err)
		}
		lower := mat.NewDense(n, n, nil)
		o.factor.Lower(lower)
		drawn[i] = mat.NewDense(samples, n, nil)
		for s := range samples {
			drawn[i].SetRow(s, mean)
		}
		linalg.Mul(drawn[i], 1, linalg.N, o.base, linalg.T, lower, 1)
		f.outputs = append(f.outputs, o)
	}
	return f, drawn, nil
}

// candidateSamples returns draws of a standard normal variable for each output (S×outputs), independent of the samples at
// the baseline. Two scrambles of one dimension of a Sobol sequence depend on each other, so the draws have dimensions of
// their own.
func (f *conditional) candidateSamples(rng *rand.Rand) *mat.Dense {
	fixed := rowCount(f.baseline) * len(f.outputs)
	all := space.Sobol(f.samples, fixed+len(f.outputs), random.Split(rng, "candidate", 0))
	return normal(mat.DenseCopyOf(all.Slice(0, f.samples, fixed, fixed+len(f.outputs))))
}

// anchor keeps the computations at the baseline for evaluations of f.
func (f *conditional) anchor() {
	for i := range f.outputs {
		o := &f.outputs[i]
		o.joint = anchored(o.posterior, f.baseline)
	}
}

func (f *conditional) Dim() int { return f.outputs[0].posterior.Dim() }

func (f *conditional) Eval(value []float64, grad, x *mat.Dense) {
	checkEval(f, value, grad, x)
	inBlocks(f.block, 1, value, grad, x)
}

// block evaluates a few candidates, the rows of x, from one joint covariance of each output.
func (f *conditional) block(value []float64, grad, x *mat.Dense) {
	mem := workspace.Borrow()
	defer mem.Return()
	n, k, d := rowCount(f.baseline), len(value), f.Dim()
	points := mem.Dense(n+k, d)
	for i := range n {
		points.SetRow(i, f.baseline.RawRowView(i))
	}
	for i := range k {
		points.SetRow(n+i, x.RawRowView(i))
	}
	at := make([]*moment, len(f.outputs))
	for i := range at {
		at[i] = f.outputs[i].at(mem, points, k, grad != nil)
	}
	mean := f.meanOverSamples(mem, at, grad != nil)
	for j := range k {
		value[j] = mean(j)
	}
	if grad == nil {
		return
	}
	grad.Zero()
	for i := range at {
		dx := mem.Zeros(n+k, d)
		f.outputs[i].pull(mem, dx, at[i], points)
		for j := range k {
			linalg.Axpy(1, dx.RawRowView(n+j), grad.RawRowView(j))
		}
	}
}

// meanOverSamples returns the function that computes the value of candidate j and, with
// withGrad, the gradients with respect to its moments.
func (f *conditional) meanOverSamples(mem *workspace.Memory, at []*moment, withGrad bool) func(j int) float64 {
	objectives := len(at) - len(f.bounds)
	logs, sd := mem.Floats(f.samples), mem.Floats(objectives)
	mean := make([][]float64, objectives)
	var dmean, dsd [][]float64
	if withGrad {
		dmean, dsd = make([][]float64, len(at)), make([][]float64, len(at))
		for i := range dsd {
			dsd[i] = mem.Floats(f.samples)
		}
	}
	gain := f.gain(mem)
	return func(j int) float64 {
		for i, a := range at[:objectives] {
			mean[i], sd[i] = a.mean.RawRowView(j), a.sd[j]
		}
		if withGrad {
			for i, a := range at {
				dmean[i] = a.mbar.RawRowView(j)
			}
			gain(logs, mean, sd, dmean[:objectives], dsd[:objectives])
		} else {
			gain(logs, mean, sd, nil, nil)
		}
		for c, bound := range f.bounds {
			a := at[objectives+c]
			for s, m := range a.mean.RawRowView(j) {
				z := (bound - m) / a.sd[j]
				l, r := specfn.LogNormCDF(z)
				logs[s] += l
				if withGrad {
					dmean[objectives+c][s], dsd[objectives+c][s] = -r/a.sd[j], -z*r/a.sd[j]
				}
			}
		}
		high := slices.Max(logs)
		if math.IsInf(high, -1) {
			high = 0
		}
		var sum float64
		for s, l := range logs {
			logs[s] = math.Exp(l - high)
			sum += logs[s]
		}
		if withGrad {
			for i, a := range at {
				a.sdbar[j] = 0
				for s, e := range logs {
					a.sdbar[j] += e / sum * dsd[i][s]
					dmean[i][s] *= e / sum
				}
			}
		}
		return high + math.Log(sum/float64(f.samples))
	}
}

// moment holds the moments of an output at k candidates given each sample, and the gradients
// with respect to them.
type moment struct {
	mean  *mat.Dense // k×S
	sd    []float64
	w     *mat.Dense // L⁻¹ C(B,x), n×k
	floor []bool     // whether the variance is at its lower bound

	mbar  *mat.Dense // k×S
	sdbar []float64
}

// at returns the moments at the last k points, after the baseline.
func (o *output) at(mem *workspace.Memory, points *mat.Dense, k int, withGrad bool) *moment {
	all, _ := points.Dims()
	n, samples := all-k, rowCount(o.base)
	mean, cov := mem.Floats(all), mem.Sym(all)
	o.joint.Joint(mean, cov, points)
	m := &moment{mean: mem.Dense(k, samples), sd: mem.Floats(k), w: mem.Dense(n, k), floor: make([]bool, k)}
	for i := range n {
		row := m.w.RawRowView(i)
		for j := range row {
			row[j] = cov.At(i, n+j)
		}
	}
	o.factor.SolveLower(m.w)
	for j := range k {
		linalg.Fill(m.mean.RawRowView(j), mean[n+j])
		m.sd[j] = cov.At(n+j, n+j)
	}
	linalg.SubColumnSquares(m.sd, m.w)
	for j, v := range m.sd {
		m.floor[j] = !(v > minVariance)
		m.sd[j] = math.Sqrt(max(v, minVariance))
	}
	linalg.Mul(m.mean, 1, linalg.T, m.w, linalg.T, o.base, 1)
	if withGrad {
		m.mbar, m.sdbar = mem.Dense(k, samples), mem.Floats(k)
	}
	return m
}

// pull adds to dx the gradient with respect to the points. It overwrites m.w.
func (o *output) pull(mem *workspace.Memory, dx *mat.Dense, m *moment, points *mat.Dense) {
	n, k := m.w.Dims()
	mbar, cbar := mem.Floats(n+k), mem.Sym(n+k)
	clear(mbar)
	cbar.Zero()
	for j := range k {
		for _, v := range m.mbar.RawRowView(j) {
			mbar[n+j] += v
		}
		if !m.floor[j] {
			cbar.SetSym(n+j, n+j, m.sdbar[j]/(2*m.sd[j]))
		}
	}
	for i := range n {
		row := m.w.RawRowView(i)
		for j := range row {
			row[j] *= -2 * cbar.At(n+j, n+j)
		}
	}
	linalg.Mul(m.w, 1, linalg.T, o.base, linalg.T, m.mbar, 1)
	o.factor.SolveUpper(m.w)
	for i := range n {
		for j, v := range m.w.RawRowView(i) {
			cbar.SetSym(i, n+j, v/2)
		}
	}
	o.joint.JointVJP(dx, mbar, cbar, points)
}
