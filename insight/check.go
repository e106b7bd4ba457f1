package insight

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/surrogate"
)

// Verdict is a result of Check.
type Verdict string

// The verdicts.
const (
	Healthy       Verdict = "healthy"       // no finding
	Miscalibrated Verdict = "miscalibrated" // at least one finding
	TooFew        Verdict = "too few"       // too few observations, and no finding
)

// MinChecked is the number of complete trials below which Check reports TooFew instead of
// Healthy: with fewer observations only gross errors are found. A posterior that is no surrogate.Whitener
// needs more for many inputs; Summary has the number.
const MinChecked = 20

// Health is a verdict on a surrogate model, with its statistics.
type Health struct {
	Verdict  Verdict   `json:"verdict"`
	Summary  string    `json:"summary"`  // a sentence
	Findings []Finding `json:"findings"` // of the tests that fail
	Tests    []Test    `json:"tests"`
	// Coverage is the part of the errors within 50, 80, 90 and 95 % intervals, with the expected numbers.
	Coverage []Coverage `json:"coverage"`
	Profiles []Profile  `json:"profiles"` // of the hyperparameters that a Gaussian process fixes
	// Errors are the whitened prediction errors of the complete trials. Under the model they are independent
	// standard normal numbers, if the posterior is a surrogate.Whitener. Else they have a common scale of about 1.
	Errors []Number `json:"errors"`
}

// Finding is a fault of the surrogate model, in words.
type Finding struct {
	Test   string `json:"test"`
	Text   string `json:"text"`
	Remedy string `json:"remedy"`
}

// Test is a test of whitened prediction errors. It fails if Statistic is outside
// [Low, High].
type Test struct {
	Name      string  `json:"name"`
	Statistic Number  `json:"statistic"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
}

func (t Test) fails() bool {
	s := float64(t.Statistic)
	return !(s >= t.Low && s <= t.High)
}

const (
	// errorLevel is the probability that each test of the errors fails under the model.
	errorLevel = 1e-3
	// foldLevel replaces it in the test of the sum of squares of errors of folds, where errorLevel has little power
	// (ADR 23).
	foldLevel = 5e-3
	// maxAndersonDarling is the quantile of that level of the statistic A² of
	// Anderson and Darling for a distribution without fitted parameters (Marsaglia and
	// Marsaglia 2004).
	maxAndersonDarling = 5.97
	folds              = 5
	// leastFree is the number of degrees of freedom of folds below which no model is Healthy: the variance of
	// F(n, ν) is finite from 5 on.
	leastFree = 5
	// leastNoise is the smallest noise variance that a fit learns if data are not exact, in units of the variance of the
	// values.
	leastNoise = 1e-4
)

// levels are the probabilities of central intervals of which coverages are reported.
var levels = []float64{0.5, 0.8, 0.9, 0.95}

// Coverage is the part of observed values in a central interval.
type Coverage struct {
	Nominal  float64 `json:"nominal"`
	Observed Number  `json:"observed"`
	Inside   int     `json:"inside"`
	// Low and High bound the number inside that is expected under the model, with probability 0.999. They
	// are set in Health only, because leave-one-out errors are correlated.
	Low  int `json:"low,omitempty"`
	High int `json:"high,omitempty"`
}

// coverages returns the parts of standard normal errors within the levels.
func coverages(errors []float64) []Coverage {
	out := make([]Coverage, len(levels))
	for k, level := range levels {
		c := Coverage{Nominal: level}
		for _, e := range errors {
			if math.Abs(e) <= math.Sqrt2*math.Erfinv(level) {
				c.Inside++
			}
		}
		c.Observed = Number(float64(c.Inside) / float64(len(errors)))
		out[k] = c
	}
	return out
}

// expect sets the central part of the distribution of the number of n errors inside: the binomial distribution, or
// its mean over the scale of the errors.
func (c *Coverage) expect(n int, free float64) {
	inside := []float64{c.Nominal}
	if !math.IsInf(free, 1) {
		const scales = 200
		inside = inside[:0]
		for k := range scales {
			u := distuv.ChiSquared{K: free}.Quantile((float64(k) + 0.5) / scales)
			inside = append(inside, math.Erf(math.Erfinv(c.Nominal)*math.Sqrt(u/free)))
		}
	}
	atMost := func(k int) (p float64) {
		for _, in := range inside {
			p += distuv.Binomial{N: float64(n), P: in}.CDF(float64(k)) / float64(len(inside))
		}
		return p
	}
	c.Low = sort.Search(n, func(k int) bool { return atMost(k) >= errorLevel/2 })
	c.High = sort.Search(n, func(k int) bool { return 1-atMost(k) < errorLevel/2 })
	if n < MinChecked {
		c.High = n // the fitted mean and variance make few errors small
	}
}

// finding describes a coverage that is too low.
func (c Coverage) finding(n int) Finding {
	return Finding{
		Test:   fmt.Sprintf("coverage of %.0f %%", 100*c.Nominal),
		Text:   fmt.Sprintf("only %d of %d values are inside their %.0f %% prediction intervals, and %d to %d are expected", c.Inside, n, 100*c.Nominal, c.Low, c.High),
		Remedy: "set the noise (noise or noise_sd) and the output variance higher, or let them be learned",
	}
}

// Check tests the surrogate model of v against its data:
//
//   - The sum of squares of the whitened errors is compared with the χ² distribution.
//   - The errors are compared with the standard normal distribution by the statistic of
//     Anderson and Darling (1954).
//   - The numbers of errors within central intervals of 50, 80, 90 and 95 % are compared with the
//     binomial distribution. Too few are a fault. More than expected are not: intervals are often
//     too wide near the points to which a search converges.
//   - Each hyperparameter that a gp.Model fixes is tested, with or without a prior mean. Its profile likelihood
//     is compared with the likelihood of the fixed value.
//
// The whitened errors are the errors of predictions one step ahead, in the order of the
// trials. They are independent also if earlier values decide where trials are placed;
// leave-one-out errors are not.
//
// For a posterior that is no surrogate.Whitener the errors come from predictions of a fifth of the trials by a
// fit to the others. The joint covariance whitens them. Fitted hyperparameters make these errors larger, with a
// common scale. With m trials in a fit, d columns and ν = m - d - 3, the scale has about ν degrees of freedom.
// The sum of squares of n errors is then compared with n·F(n, ν) at the level 0.005. Coverages are compared
// with the binomial distribution averaged over the scale √(ν/χ²(ν)). Anderson and Darling's statistic is of the
// errors divided by their root mean square. Below ν = 5 the tests use max(ν, 1), and Check reports TooFew
// instead of Healthy.
//
// Errors of the tests are no fault under two conditions. Predictions from other trials have smaller errors than
// the noise, and the noise is at most 1 % of the standard deviation of the values. No fit learns a smaller
// noise, except of exact data.
//
// A correct model fails in 0 to 5 of 100 simulated studies. See ADR 23 for the power. Check
// costs n² for the errors, or 5 fits. If hyperparameters are fixed, it also costs a fit to at most 200 observations,
// and 10 more for each. The error comes from the context or a fit.
func Check(ctx context.Context, v *loop.View) (*Health, error) {
	return check(ctx, v, &folding{view: v})
}

// Unchecked returns the verdict TooFew for n complete trials, without statistics.
func Unchecked(n int) *Health {
	return tooFew(n, MinChecked)
}

func tooFew(n, needed int) *Health {
	text := fmt.Sprintf("%s too few for a verdict; %d are needed.", completeTrials(n), needed)
	return &Health{Verdict: TooFew, Summary: text, Findings: []Finding{}, Tests: []Test{}, Coverage: []Coverage{}, Profiles: []Profile{}, Errors: []Number{}}
}

func completeTrials(n int) string {
	if n == 1 {
		return "1 complete trial is"
	}
	return fmt.Sprintf("%d complete trials are", n)
}

func check(ctx context.Context, v *loop.View, f *folding) (*Health, error) {
	n, equal := equalValues(v)
	if n == 1 {
		return Unchecked(n), nil
	}
	if equal {
		h := Unchecked(n)
		h.Summary = fmt.Sprintf("All %d values are equal, so that there is nothing to check.", n)
		return h, nil
	}
	errors, err := whitened(ctx, v, f)
	if err != nil {
		return nil, err
	}
	free, needed := math.Inf(1), MinChecked
	if _, ok := v.Posterior.(surrogate.Whitener); !ok {
		free = freedom(len(v.Data.Y), v.Posterior.Dim())
		for freedom(needed, v.Posterior.Dim()) < leastFree {
			needed++
		}
	}
	h := &Health{Findings: []Finding{}, Profiles: []Profile{}}
	for _, e := range errors {
		h.Errors = append(h.Errors, Number(e))
	}
	if p, err := profiles(ctx, v); err != nil {
		return nil, err
	} else if p != nil {
		h.Profiles = p
	}
	h.test(errors, free)
	explained := "" // why errors are no fault
	if len(h.Findings) > 0 {
		if explained, err = negligible(ctx, v, f); err != nil {
			return nil, err
		}
		if explained != "" {
			h.Findings = h.Findings[:0]
		}
	}
	for _, p := range h.Profiles {
		if p.Gain > p.Critical {
			h.Findings = append(h.Findings, p.finding())
		}
	}
	switch {
	case len(h.Findings) > 0:
		h.Verdict = Miscalibrated
		h.Summary = "The surrogate model is miscalibrated: " + h.Findings[len(h.Findings)-1].Text + "."
	case len(errors) < needed || free < leastFree:
		few := tooFew(len(errors), needed)
		h.Verdict, h.Summary = few.Verdict, few.Summary
	case explained != "":
		h.Verdict, h.Summary = Healthy, explained
	default:
		h.Verdict = Healthy
		h.Summary = h.agreement()
	}
	return h, nil
}

// freedom returns the degrees of freedom of the scale of errors of folds, for n trials of d columns. A fit has about
// d+3 hyperparameters: lengthscales, output variance, noise variance and mean.
func freedom(n, d int) float64 { return float64(n - (n+folds-1)/folds - d - 3) }

// negligible returns a sentence if the errors of predictions from other trials are below the noise of v, which no fit
// makes smaller; else "". Intervals include this noise, so that they cannot be too narrow.
func negligible(ctx context.Context, v *loop.View, f *folding) (string, error) {
	noise := v.Posterior.Noise()
	if !(noise <= 1.01*leastNoise) {
		return "", nil
	}
	mean, _, _, err := leftOut(ctx, v, f)
	if err != nil || mean == nil {
		return "", err
	}
	var sum, n float64
	for i, row := range v.Rows {
		if v.Trials[row].State == loop.Complete {
			e := v.Data.Y[i] - mean[i]
			sum, n = sum+e*e, n+1
		}
	}
	rms := math.Sqrt(sum / n)
	if !(rms*rms < noise) {
		return "", nil
	}
	unit := ""
	if v.Units.LogTransformed() {
		unit = " of the log transformed values"
	}
	digits := int(-math.Log10(max(rms, 1e-15)))
	return fmt.Sprintf("The surrogate model explains the values to %d digits: predictions from other trials have a root mean square error of %.2g standard deviations%s. Errors below its noise of %.2g standard deviations are no fault.",
		digits, rms, unit, math.Sqrt(noise)), nil
}

// agreement describes the coverages of a healthy model.
func (h *Health) agreement() string {
	half, most := h.Coverage[0], h.Coverage[len(h.Coverage)-1]
	text := fmt.Sprintf("The surrogate model agrees with its %d observations: %d are inside their 50 %% prediction intervals (%d to %d are expected), and %d inside their 95 %% intervals (%d to %d)",
		len(h.Errors), half.Inside, half.Low, half.High, most.Inside, most.Low, most.High)
	if slices.ContainsFunc(h.Coverage, func(c Coverage) bool { return c.Inside > c.High }) {
		text += "; some intervals hold more than expected: they are cautious"
	}
	return text + "."
}

// equalValues returns the number of complete trials, and whether there are several of one value.
func equalValues(v *loop.View) (n int, equal bool) {
	for i := range v.Trials {
		if v.Trials[i].State == loop.Complete {
			n++
		}
	}
	return n, v.EqualValues()
}

// Scaleless reports whether the complete trials of v have fewer than two different values and the noise is not
// stated. Standard deviations of predictions then have an arbitrary unit.
func Scaleless(v *loop.View) bool {
	n, equal := equalValues(v)
	return (n < 2 || equal) && v.Options.NoiseSD == 0 && v.Options.StandardError == ""
}

// test adds the tests of the errors and their findings. The scale of the errors has the given degrees of freedom; it is 1
// for +Inf.
func (h *Health) test(errors []float64, free float64) {
	n := float64(len(errors))
	common := !math.IsInf(free, 1)
	free = max(free, 1)
	h.Tests, h.Coverage = []Test{}, []Coverage{}
	if len(errors) == 0 {
		return
	}
	h.Coverage = coverages(errors)
	var uncovered []Finding
	for i := range h.Coverage {
		c := &h.Coverage[i]
		if c.expect(len(errors), free); c.Inside < c.Low {
			uncovered = append(uncovered, c.finding(len(errors)))
		}
	}
	var sum float64
	for _, e := range errors {
		sum += e * e
	}
	chi := distuv.ChiSquared{K: n}
	spread := Test{"sum of squares", Number(sum), chi.Quantile(errorLevel / 2), chi.Quantile(1 - errorLevel/2)}
	if common {
		ratio := distuv.F{D1: n, D2: free}
		spread.Low, spread.High = n*ratio.Quantile(foldLevel/2), n*ratio.Quantile(1-foldLevel/2)
		errors = slices.Clone(errors)
		floats.Scale(1/max(math.Sqrt(sum/n), math.SmallestNonzeroFloat64), errors)
	}
	if len(errors) < MinChecked {
		spread.Low = 0 // the fitted mean and variance make few errors small
	}
	shape := Test{"Anderson-Darling", Number(andersonDarling(errors)), 0, maxAndersonDarling}
	h.Tests = []Test{spread, shape}
	switch {
	case spread.fails() && sum < spread.Low:
		h.Findings = append(h.Findings, Finding{spread.Name, "prediction intervals are too wide", "set the noise (noise or noise_sd) and the output variance lower, or let them be learned"})
	case spread.fails():
		h.Findings = append(h.Findings, Finding{spread.Name, "prediction intervals are too narrow", "set the noise (noise or noise_sd) and the output variance higher, or let them be learned"})
	case shape.fails():
		h.Findings = append(h.Findings, Finding{shape.Name, "prediction errors are not normal", "look for outliers and for trials whose result was not the objective, or choose another kernel or surrogate model"})
	case len(uncovered) > 0:
		h.Findings = append(h.Findings, uncovered[0])
	}
}

// finding describes a fixed value that the data reject.
func (p Profile) finding() Finding {
	word := "small"
	if p.Best < p.Value {
		word = "large"
	}
	setting := "the setting " + p.Name
	if p.Name == noiseSD {
		setting = "noise_sd"
	}
	return Finding{
		Test:   "profile likelihood of " + p.Name,
		Text:   fmt.Sprintf("the fixed %s of %.3g is too %s, %.3g is e^%.1f times as likely", p.Name, p.Value, word, p.Best, p.Gain),
		Remedy: fmt.Sprintf("leave out %s, so that it is learned", setting),
	}
}

// andersonDarling returns A² of a sample for the standard normal distribution.
func andersonDarling(sample []float64) float64 {
	z := slices.Sorted(slices.Values(sample))
	n := float64(len(z))
	logCDF := func(x float64) float64 {
		return math.Log(max(0.5*math.Erfc(-x/math.Sqrt2), math.SmallestNonzeroFloat64))
	}
	var sum float64
	for i := range z {
		sum += float64(2*i+1) * (logCDF(z[i]) + logCDF(-z[len(z)-1-i]))
	}
	return -n - sum/n
}

// whitened returns the whitened errors of the complete trials.
func whitened(ctx context.Context, v *loop.View, f *folding) ([]float64, error) {
	n := len(v.Data.Y)
	e := make([]float64, n)
	if w, ok := v.Posterior.(surrogate.Whitener); ok {
		w.Whiten(e)
	} else if n >= 2*folds {
		for k := range folds {
			if err := f.errors(ctx, k, e); err != nil {
				return nil, err
			}
		}
	} else {
		return nil, nil
	}
	var out []float64
	for i, row := range v.Rows {
		if v.Trials[row].State == loop.Complete {
			out = append(out, e[i])
		}
	}
	return out, nil
}

// errors writes the whitened errors of fold k under a fit to the other rows.
func (f *folding) errors(ctx context.Context, k int, e []float64) error {
	out, p, err := f.fold(ctx, k)
	if err != nil {
		return fmt.Errorf("insight: fit without a fifth of the trials: %w", err)
	}
	v := f.view
	r, cov := make([]float64, len(out)), mat.NewSymDense(len(out), nil)
	p.Joint(r, cov, subset.Take(v.Data.X, out))
	for j, i := range out {
		cov.SetSym(j, j, cov.At(j, j)+v.Data.NoiseAt(i, p.Noise()))
	}
	factor, err := linalg.Factorize(cov)
	if err != nil {
		return fmt.Errorf("insight: covariance of predictions: %w", err)
	}
	for j, i := range out {
		r[j] = v.Data.Y[i] - r[j]
	}
	factor.SolveLowerVec(r)
	for j, i := range out {
		e[i] = r[j]
	}
	return nil
}
