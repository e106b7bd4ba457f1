package surrogatetest_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

func TestGoodModel(t *testing.T) {
	surrogatetest.Run(t, linear{})
	require.NoError(t, surrogatetest.Options{Fast: true}.Check(linear{}))
	require.NoError(t, surrogatetest.Options{Fast: true}.Check(surrogate.Scaled{Model: linear{}}))
}

// broken is linear with another posterior or another Fit.
type broken struct {
	posterior func(*fitted) surrogate.Posterior
	fit       func(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error)
	Count     *int
}

func (b broken) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	if b.Count != nil {
		*b.Count++
	}
	if b.fit != nil {
		return b.fit(ctx, d, rng)
	}
	p, err := linear{}.Fit(ctx, d, rng)
	if err != nil {
		return nil, err
	}
	if b.posterior == nil {
		return p, nil
	}
	return b.posterior(p.(*fitted)), nil
}

// Each of the following posteriors has a fault in one method.
type (
	negativeVariance struct{ *fitted }
	nanMean          struct{ *fitted }
	rowIndex         struct{ *fitted }
	batchSize        struct{ *fitted }
	noiseInJoint     struct{ *fitted }
	noiseInPredict   struct{ *fitted }
	indefinite       struct{ *fitted }
	wrongGradient    struct{ *fitted }
	noVarianceGrad   struct{ *fitted }
	swappedRows      struct{ *fitted }
	halfVJP          struct{ *fitted }
	overwritingVJP   struct{ *fitted }
	staleMean        struct{ *fitted }
	staleCov         struct{ *fitted }
	staleGrad        struct{ *fitted }
	changesPoints    struct{ *fitted }
	ignoresStride    struct{ *fitted }
	noShapes         struct{ *fitted }
	infiniteNoise    struct{ *fitted }
	wrongDim         struct{ *fitted }
	pathFault        struct {
		*fitted
		wrap func(i int, rng *rand.Rand, p *drawn) surrogate.Path
	}
	sharedScratch struct {
		*fitted
		calls *atomic.Int64
	}
	timid       struct{ *fitted }
	eager       struct{ *fitted }
	nanEvidence struct{ *fitted }
	nanLeave    struct{ *fitted }
	staleLeave  struct{ *fitted }
	stale       struct {
		*fitted
		was *fitted
	}
	twins struct{ *fitted }
)

func (p negativeVariance) Predict(mean, variance []float64, x *mat.Dense) {
	p.fitted.Predict(mean, variance, x)
	for i := range variance {
		variance[i] -= 0.01
	}
}

func (p nanMean) Predict(mean, variance []float64, x *mat.Dense) {
	p.fitted.Predict(mean, variance, x)
	mean[0] = math.NaN()
}

func (p rowIndex) Predict(mean, variance []float64, x *mat.Dense) {
	p.fitted.Predict(mean, variance, x)
	for i := range mean {
		mean[i] += 1e-3 * float64(i)
	}
}

func (p batchSize) Predict(mean, variance []float64, x *mat.Dense) {
	p.fitted.Predict(mean, variance, x)
	for i := range variance {
		variance[i] *= 1 + 1e-3*float64(len(mean))
	}
}

func (p noiseInJoint) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	p.fitted.Joint(mean, cov, x)
	for i := range mean {
		cov.SetSym(i, i, cov.At(i, i)+1e-4)
	}
}

func (p noiseInPredict) Predict(mean, variance []float64, x *mat.Dense) {
	p.fitted.Predict(mean, variance, x)
	for i := range variance {
		variance[i] += 1e-4
	}
}

func (p indefinite) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	p.fitted.Joint(mean, cov, x)
	for i := range mean {
		for j := range i {
			cov.SetSym(i, j, 1.5*cov.At(i, j))
		}
	}
}

func (p wrongGradient) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p.fitted.PredictGrad(mean, variance, dmean, dvariance, x)
	dvariance.Scale(-1, dvariance)
}

func (p noVarianceGrad) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p.fitted.PredictGrad(mean, variance, dmean, dvariance, x)
	dvariance.Zero()
}

func (p swappedRows) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p.fitted.PredictGrad(mean, variance, dmean, dvariance, x)
	if m, _ := x.Dims(); m > 1 {
		a, b := mat.Row(nil, 0, dmean), mat.Row(nil, 1, dmean)
		dmean.SetRow(0, b)
		dmean.SetRow(1, a)
	}
}

func (p halfVJP) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	var half mat.SymDense
	half.ScaleSym(0.5, cbar)
	p.fitted.JointVJP(dx, mbar, &half, x)
}

func (p overwritingVJP) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	dx.Zero()
	p.fitted.JointVJP(dx, mbar, cbar, x)
}

func (p staleMean) Predict(mean, variance []float64, x *mat.Dense) {
	old := append([]float64{}, mean...)
	p.fitted.Predict(mean, variance, x)
	for i := range mean {
		mean[i] += old[i]
	}
}

func (p staleCov) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	old := mat.NewSymDense(cov.SymmetricDim(), nil)
	old.CopySym(cov)
	p.fitted.Joint(mean, cov, x)
	cov.AddSym(cov, old)
}

func (p staleGrad) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	old := mat.DenseCopyOf(dvariance)
	p.fitted.PredictGrad(mean, variance, dmean, dvariance, x)
	dvariance.Add(dvariance, old)
}

func (p changesPoints) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	p.fitted.JointVJP(dx, mbar, cbar, x)
	x.Set(0, 0, x.At(0, 0)+1e-9)
}

func (p ignoresStride) Predict(mean, variance []float64, x *mat.Dense) {
	r, c := x.Dims()
	p.fitted.Predict(mean, variance, mat.NewDense(r, c, x.RawMatrix().Data[:r*c]))
}

func (p noShapes) Predict(mean, variance []float64, x *mat.Dense) {
	m, _ := x.Dims()
	a, b := make([]float64, m), make([]float64, m)
	p.fitted.Predict(a, b, x)
	copy(mean, a)
	copy(variance, b)
}

func (p infiniteNoise) Noise() float64 { return math.Inf(1) }
func (p wrongDim) Dim() int            { return 3 }

func (p pathFault) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := p.fitted.Paths(n, rng)
	for i := range paths {
		paths[i] = p.wrap(i, rng, paths[i].(*drawn))
	}
	return paths
}

// Predictions that depend on the number of earlier calls imitate working memory that
// calls share.
func (p sharedScratch) Predict(mean, variance []float64, x *mat.Dense) {
	p.fitted.Predict(mean, variance, x)
	mean[0] += 1e-12 * float64(p.calls.Add(1))
}

func (p timid) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	if err := (surrogate.Dataset{X: x, Y: y}).Validate(); err != nil {
		return nil, err
	}
	return p.fitted, nil
}

func (p eager) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	next, err := p.fitted.Condition(x, y)
	if err == nil {
		copy(p.mean, next.(*fitted).mean)
	}
	return next, err
}

func (p nanEvidence) LogMarginalLikelihood() float64 { return math.NaN() }

func (p nanLeave) LeaveOneOut(mean, variance []float64) {
	p.fitted.LeaveOneOut(mean, variance)
	variance[2] = math.NaN()
}

func (p staleLeave) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	next, err := p.fitted.Condition(x, y)
	if err != nil {
		return nil, err
	}
	return stale{next.(*fitted), p.fitted}, nil
}

func (p stale) LeaveOneOut(mean, variance []float64) { p.was.LeaveOneOut(mean, variance) }

func (p twins) Hypers() []surrogate.Hyper {
	return append(p.fitted.Hypers(), p.fitted.Hypers()...)
}

type pathFunc func(value []float64, grad, x *mat.Dense)

func (f pathFunc) Eval(value []float64, grad, x *mat.Dense) { f(value, grad, x) }

// hash returns noise that differs from point to point and never changes at a point.
func hash(i int, x []float64) float64 {
	v := math.Sin(float64(i+1)*1e4*x[0]+float64(i+7)*3e4*x[len(x)-1]) * 1e4
	return v - math.Floor(v) - 0.5
}

func TestSuiteBites(t *testing.T) {
	paths := func(wrap func(i int, rng *rand.Rand, p *drawn) surrogate.Path) func(*fitted) surrogate.Posterior {
		return func(p *fitted) surrogate.Posterior { return pathFault{p, wrap} }
	}
	ownsNothing := func(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
		p, err := linear{}.Fit(ctx, d, rng)
		if err != nil {
			return nil, err
		}
		return borrowed{p.(*fitted), d.Y}, nil
	}
	for _, c := range []struct {
		name, want string // want: the check that must fail
		model      surrogate.Model
	}{
		{"negative variance", "predict", broken{posterior: func(p *fitted) surrogate.Posterior { return negativeVariance{p} }}},
		{"NaN", "predict", broken{posterior: func(p *fitted) surrogate.Posterior { return nanMean{p} }}},
		{"infinite noise", "predict", broken{posterior: func(p *fitted) surrogate.Posterior { return infiniteNoise{p} }}},
		{"wrong dimension", "Dim() is 3 after a fit to 2 inputs", broken{posterior: func(p *fitted) surrogate.Posterior { return wrongDim{p} }}},
		{"row index", "rows", broken{posterior: func(p *fitted) surrogate.Posterior { return rowIndex{p} }}},
		{"batch size", "rows", broken{posterior: func(p *fitted) surrogate.Posterior { return batchSize{p} }}},
		{"noise in the joint", "joint", broken{posterior: func(p *fitted) surrogate.Posterior { return noiseInJoint{p} }}},
		{"noise in the prediction", "joint", broken{posterior: func(p *fitted) surrogate.Posterior { return noiseInPredict{p} }}},
		{"indefinite covariance", "joint", broken{posterior: func(p *fitted) surrogate.Posterior { return indefinite{p} }}},
		{"sign of a gradient", "gradient", broken{posterior: func(p *fitted) surrogate.Posterior { return wrongGradient{p} }}},
		{"no gradient", "gradient", broken{posterior: func(p *fitted) surrogate.Posterior { return noVarianceGrad{p} }}},
		{"swapped gradients", "gradient", broken{posterior: func(p *fitted) surrogate.Posterior { return swappedRows{p} }}},
		{"half a product", "joint gradient", broken{posterior: func(p *fitted) surrogate.Posterior { return halfVJP{p} }}},
		{"overwriting product", "joint gradient", broken{posterior: func(p *fitted) surrogate.Posterior { return overwritingVJP{p} }}},
		{"stale mean", "destinations", broken{posterior: func(p *fitted) surrogate.Posterior { return staleMean{p} }}},
		{"stale covariance", "destinations", broken{posterior: func(p *fitted) surrogate.Posterior { return staleCov{p} }}},
		{"stale gradient", "destinations", broken{posterior: func(p *fitted) surrogate.Posterior { return staleGrad{p} }}},
		{"changed points", "destinations", broken{posterior: func(p *fitted) surrogate.Posterior { return changesPoints{p} }}},
		{"stride", "destinations", broken{posterior: func(p *fitted) surrogate.Posterior { return ignoresStride{p} }}},
		{"sizes unchecked", "shapes", broken{posterior: func(p *fitted) surrogate.Posterior { return noShapes{p} }}},
		{"shared scratch", "concurrency", broken{posterior: func(p *fitted) surrogate.Posterior { return sharedScratch{p, new(atomic.Int64)} }}},

		{"path with fresh noise", "paths", broken{posterior: paths(func(_ int, rng *rand.Rand, p *drawn) surrogate.Path {
			return pathFunc(func(value []float64, grad, x *mat.Dense) {
				p.Eval(value, grad, x)
				value[0] += 1e-9 * rng.NormFloat64()
			})
		})}},
		{"path that depends on its row", "paths", broken{posterior: paths(func(_ int, _ *rand.Rand, p *drawn) surrogate.Path {
			return pathFunc(func(value []float64, grad, x *mat.Dense) {
				p.Eval(value, grad, x)
				for i := range value {
					value[i] += 0.01 * float64(i)
				}
			})
		})}},
		{"path without gradient", "paths", broken{posterior: paths(func(_ int, _ *rand.Rand, p *drawn) surrogate.Path {
			return pathFunc(func(value []float64, grad, x *mat.Dense) {
				p.Eval(value, grad, x)
				if grad != nil {
					grad.Zero()
				}
			})
		})}},
		{"independent values along a path", "moments of paths", broken{posterior: paths(func(i int, _ *rand.Rand, p *drawn) surrogate.Path {
			return pathFunc(func(value []float64, grad, x *mat.Dense) {
				m, _ := x.Dims()
				variance := make([]float64, m)
				p.p.Predict(value, variance, x)
				for r := range m {
					value[r] += math.Sqrt(12*variance[r]) * hash(i, x.RawRowView(r))
				}
			})
		})}},
		{"paths too narrow", "moments of paths", broken{posterior: paths(func(_ int, _ *rand.Rand, p *drawn) surrogate.Path {
			for k, m := range p.p.mean {
				p.w[k] = m + 0.8*(p.w[k]-m)
			}
			return p
		})}},
		{"paths are all one", "moments of paths", broken{posterior: paths(func(_ int, _ *rand.Rand, p *drawn) surrogate.Path { return &drawn{p.p, p.p.mean} })}},
		{"paths off centre", "moments of paths", broken{posterior: paths(func(_ int, _ *rand.Rand, p *drawn) surrogate.Path {
			p.w[0] += 0.05
			return p
		})}},

		{"no checks of data", "bad data", broken{fit: func(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
			p, err := linear{}.Fit(ctx, d, rng)
			if err != nil {
				err = errors.New("something is wrong")
			}
			return p, err
		}}},
		{"ignores cancellation", "cancellation", broken{fit: func(_ context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
			return linear{}.Fit(context.Background(), d, rng)
		}}},
		{"borrowed data", "determinism", broken{fit: ownsNothing}},
		{"seeds itself", "determinism", broken{fit: func(ctx context.Context, d surrogate.Dataset, _ *rand.Rand) (surrogate.Posterior, error) {
			return perturbed(ctx, d, rand.NormFloat64())
		}}},
		{"depends on processors", "determinism", broken{fit: func(ctx context.Context, d surrogate.Dataset, _ *rand.Rand) (surrogate.Posterior, error) {
			return perturbed(ctx, d, 1/float64(runtime.GOMAXPROCS(0)))
		}}},
		{"changes itself", "the fit changed the model", broken{Count: new(int)}},
		{"changes the data", "the fit changed the dataset", broken{fit: func(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
			p, err := linear{}.Fit(ctx, d, rng)
			if err == nil {
				d.Y[0] = 0
			}
			return p, err
		}}},
		{"refuses one observation", "datasets", broken{fit: func(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
			if n, _ := d.Dims(); n == 1 {
				return nil, errors.New("too few observations")
			}
			return linear{}.Fit(ctx, d, rng)
		}}},
		{"neither posterior nor error", "the fit returns neither", broken{fit: func(context.Context, surrogate.Dataset, *rand.Rand) (surrogate.Posterior, error) { return nil, nil }}},

		{"conditioning does nothing", "condition", broken{posterior: func(p *fitted) surrogate.Posterior { return timid{p} }}},
		{"conditioning in place", "condition", broken{posterior: func(p *fitted) surrogate.Posterior { return eager{p} }}},
		{"NaN evidence", "evidence", broken{posterior: func(p *fitted) surrogate.Posterior { return nanEvidence{p} }}},
		{"NaN left out", "leave one out", broken{posterior: func(p *fitted) surrogate.Posterior { return nanLeave{p} }}},
		{"leave-one-out without the added observation", "leave one out", broken{posterior: func(p *fitted) surrogate.Posterior { return staleLeave{p} }}},
		{"hyperparameters with one name", "hyperparameters", broken{posterior: func(p *fitted) surrogate.Posterior { return twins{p} }}},
		{"state not read", "warm start", picky{}},
		{"wrong state used", "warm start", gullible{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := surrogatetest.Options{Fast: true}.Check(c.model)
			require.Error(t, err)
			found := false
			for _, line := range strings.Split(err.Error(), "\n") {
				found = found || strings.HasPrefix(line, c.want)
			}
			require.True(t, found, "%s must fail, but only these checks do:\n%v", c.want, err)
		})
	}
}

// borrowed refers to the caller's targets.
type borrowed struct {
	*fitted
	y []float64
}

func (p borrowed) Predict(mean, variance []float64, x *mat.Dense) {
	p.fitted.Predict(mean, variance, x)
	mean[0] += 1e-9 * p.y[0]
}

func perturbed(ctx context.Context, d surrogate.Dataset, by float64) (surrogate.Posterior, error) {
	p, err := linear{}.Fit(ctx, d, nil)
	if err != nil {
		return nil, err
	}
	p.(*fitted).mean[0] += 1e-12 * by
	return p, nil
}

// picky rejects every state; gullible accepts states of any length.
type (
	picky    struct{ linear }
	gullible struct{ linear }
)

func (m picky) FitFrom(ctx context.Context, _ surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return nil, errors.New("unknown state")
}

func (m gullible) FitFrom(ctx context.Context, s surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return perturbed(ctx, d, s[len(s)-1])
}
