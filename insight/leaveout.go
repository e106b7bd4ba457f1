package insight

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/surrogate"
)

// Calibration compares the complete trials with predictions from the other trials.
type Calibration struct {
	Predictions []LeftOut  `json:"predictions"`
	Coverage    []Coverage `json:"coverage"` // of intervals of 50, 80, 90 and 95 %
	// Method is LeaveOneOutMethod, with the hyperparameters of the fit to all trials, or
	// "five folds", with fits to the other four fifths of the trials.
	Method string `json:"method"`
	// Outliers are the predictions with |Residual| above the bound of LeaveOneOut, the largest first.
	Outliers []LeftOut `json:"outliers"`
	Health   *Health   `json:"health"` // the verdict, as Check returns it
}

// LeaveOneOutMethod is Calibration.Method of a posterior that predicts each observation from the others.
const LeaveOneOutMethod = "leave-one-out"

// LeftOut is the prediction of a trial's value from the other trials. Intervals include the
// noise of the observation.
type LeftOut struct {
	Trial int    `json:"trial"`
	Value Number `json:"value"` // observed
	Band
	// Residual is the error in predictive standard deviations, in units of the surrogate
	// model; positive if the observed target is above the mean.
	Residual Number `json:"residual"`
	// PIT is the probability integral transform: the predicted probability of a target below
	// the observed one. A calibrated model has uniform numbers.
	PIT Number `json:"pit"`
}

// LeaveOneOut returns the prediction of each complete trial from the other trials, and the
// verdict of Check. Targets beyond Tukey's upper fence are winsorised before the fit; Residual and PIT
// refer to the winsorised target. The verdict does not use leave-one-out errors, because they are
// correlated: trials near the best one predict each other, so that more values than nominal are inside
// the intervals.
//
// The bound of Outliers is the normal quantile of a two-sided probability of 0.05/n for n trials (Bonferroni): data of
// the model have an outlier with a probability of about 0.05. The hyperparameters are fitted to all trials, wrong
// entries included, so that small errors are not found (ADR 23).
//
// A posterior that is no surrogate.LeaveOneOut has the predictions of the 5 fits of Check instead, each
// without a fifth of the trials. The bound is then the quantile of Student's t distribution with ν degrees of freedom,
// with the ν of Check. The cost is a Check, and n³ flops for a surrogate.LeaveOneOut. The
// error comes from the context or a fit.
func LeaveOneOut(ctx context.Context, v *loop.View) (*Calibration, error) {
	f := &folding{view: v}
	h, err := check(ctx, v, f)
	if err != nil {
		return nil, err
	}
	c := &Calibration{Health: h, Predictions: []LeftOut{}, Outliers: []LeftOut{}}
	mean, variance, method, err := leftOut(ctx, v, f)
	if err != nil {
		return nil, err
	}
	if c.Method = method; mean == nil {
		return c, nil
	}
	for i, row := range v.Rows {
		if t := &v.Trials[row]; t.State == loop.Complete {
			z := (v.Data.Y[i] - mean[i]) / math.Sqrt(variance[i])
			c.Predictions = append(c.Predictions, LeftOut{t.ID, Number(t.Value), band(v, mean[i], variance[i]), Number(z), Number(0.5 * math.Erfc(-z/math.Sqrt2))})
		}
	}
	residuals := make([]float64, len(c.Predictions))
	for i, p := range c.Predictions {
		residuals[i] = float64(p.Residual)
	}
	c.Coverage = coverages(residuals)
	free := math.Inf(1)
	if method != LeaveOneOutMethod {
		free = max(freedom(len(v.Data.Y), v.Posterior.Dim()), 1)
	}
	c.Outliers = outliers(c.Predictions, free)
	return c, nil
}

// outlierLevel bounds the probability that data of the model have an outlier.
const outlierLevel = 0.05

// outliers returns the predictions with residuals outside a central interval, the largest first. The interval
// has the probability 1 - outlierLevel/n under Student's t distribution with the given degrees of freedom. The
// distribution is normal for +Inf.
func outliers(predictions []LeftOut, free float64) []LeftOut {
	below := 1 - outlierLevel/float64(2*max(len(predictions), 1))
	bound := distuv.UnitNormal.Quantile(below)
	if !math.IsInf(free, 1) {
		bound = distuv.StudentsT{Sigma: 1, Nu: free}.Quantile(below)
	}
	size := func(p LeftOut) float64 { return math.Abs(float64(p.Residual)) }
	out := []LeftOut{}
	for _, p := range predictions {
		if size(p) > bound {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b LeftOut) int { return cmp.Compare(size(b), size(a)) })
	return out
}

// leftOut returns the moments of the observations predicted from other trials, and the method; nil for too few.
func leftOut(ctx context.Context, v *loop.View, f *folding) (mean, variance []float64, method string, err error) {
	n := len(v.Data.Y)
	mean, variance = make([]float64, n), make([]float64, n)
	if p, ok := v.Posterior.(surrogate.LeaveOneOut); ok {
		p.LeaveOneOut(mean, variance)
		for i := range variance {
			variance[i] += v.Data.NoiseAt(i, v.Posterior.Noise())
		}
		return mean, variance, LeaveOneOutMethod, nil
	}
	method = "five folds"
	if n < 2*folds {
		return nil, nil, method, nil
	}
	for k := range folds {
		if err := f.predictions(ctx, k, mean, variance); err != nil {
			return nil, nil, method, err
		}
	}
	return mean, variance, method, nil
}

// folding holds the fits of a view without one fold each.
type folding struct {
	view *loop.View
	fits [folds]surrogate.Posterior // nil until needed
}

// predictions writes the moments of the observations of fold k.
func (f *folding) predictions(ctx context.Context, k int, mean, variance []float64) error {
	out, p, err := f.fold(ctx, k)
	if err != nil {
		return err
	}
	m, s := make([]float64, len(out)), make([]float64, len(out))
	p.Predict(m, s, subset.Take(f.view.Data.X, out))
	for j, i := range out {
		mean[i], variance[i] = m[j], s[j]+f.view.Data.NoiseAt(i, p.Noise())
	}
	return nil
}

// fold returns every folds-th row, from row k on, and the surrogate model fitted to the others.
func (f *folding) fold(ctx context.Context, k int) (out []int, p surrogate.Posterior, err error) {
	var in []int
	v := f.view
	for i := range v.Data.Y {
		if i%folds == k {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
	if f.fits[k] == nil {
		f.fits[k], err = v.Options.Surrogate.Fit(ctx, v.Data.Take(in), random.New(v.Options.Seed, "check", k))
	}
	return out, f.fits[k], err
}
