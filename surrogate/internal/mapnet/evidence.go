package mapnet

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// Hypers are the precision δ of the weights' prior and the noise variance σ².
type Hypers struct{ Precision, Noise float64 }

// Describe lists the precision and the noise variance.
func (h Hypers) Describe() []surrogate.Hyper {
	return []surrogate.Hyper{{Name: "precision", Value: h.Precision}, {Name: "noise", Value: h.Noise}}
}

// rho returns δσ².
func (h Hypers) rho() float64 { return h.Precision * h.Noise }

// variancePrior is the hyperprior of 1/δ, the prior variance of a weight.
var variancePrior = prior.LogNormal{Mu: 0, Sigma: 2}

const precisionLo, precisionHi, noiseHi = 1e-6, 1e6, 1e9

// start returns the hyperparameters at which training starts: fixed values, else a prior
// variance of 1 and the mode of the noise's hyperprior.
func (p *Problem) start() Hypers {
	h := Hypers{1, p.noiseStart}
	return p.fix(h)
}

func (p *Problem) fix(h Hypers) Hypers {
	if p.Precision != nil {
		h.Precision = *p.Precision
	}
	if p.Noise != nil {
		h.Noise = *p.Noise
	}
	return h
}

// LogPrior returns the log density of the learned hyperparameters, with its derivatives with
// respect to log δ and log σ².
func (p *Problem) LogPrior(h Hypers) (value, dprecision, dnoise float64) {
	if p.Precision == nil {
		lp, dlp := variancePrior.LogProb(1 / h.Precision)
		value, dprecision = value+lp, -dlp/h.Precision
	}
	if p.Noise == nil {
		lp, dlp := p.noisePrior.LogProb(h.Noise)
		value, dnoise = value+lp, dlp*h.Noise
	}
	return value, dprecision, dnoise
}

// Clamp limits h to the bounds of a fit and restores the fixed hyperparameters.
func (p *Problem) Clamp(h Hypers) Hypers {
	return p.fix(Hypers{min(max(h.Precision, precisionLo), precisionHi), min(max(h.Noise, p.noiseFloor), noiseHi)})
}

// Evidence returns Laplace's approximation of log p(y) at weights w, with its derivatives
// with respect to log δ and log σ²:
//
//	-½ n log 2πσ² - |r|²/2σ² - ½ δ|w|² - ½ log|I + G/ρ|
//
// The arguments are rr = |r|² for the residuals r, ww = |w|² and the curvature at w.
func Evidence(h Hypers, n int, rr, ww float64, c Curvature) (value, dprecision, dnoise float64, err error) {
	logDet, gamma, err := c.LogDet(h.rho())
	if err != nil {
		return 0, 0, 0, err
	}
	fit, size := rr/(2*h.Noise), 0.5*h.Precision*ww
	value = -0.5*float64(n)*math.Log(2*math.Pi*h.Noise) - fit - size - 0.5*logDet
	return value, 0.5*gamma - size, fit - 0.5*float64(n) + 0.5*gamma, nil
}

// update maximises the evidence plus the log hyperpriors over the learned hyperparameters,
// with constant weights and curvature. It returns the maximiser and the evidence there.
func (p *Problem) update(ctx context.Context, h Hypers, r, w []float64, c Curvature) (Hypers, float64, error) {
	rr, ww := linalg.Dot(r, r), linalg.Dot(w, w)
	return p.Maximize(ctx, h, func(h Hypers) (value, dprecision, dnoise float64, err error) {
		return Evidence(h, len(r), rr, ww, c)
	})
}

// Maximize maximises an evidence plus the log hyperpriors over the learned hyperparameters.
// evidence also returns its derivatives with respect to log δ and log σ². Maximize returns the
// maximiser and the evidence there, from the last call.
func (p *Problem) Maximize(ctx context.Context, h Hypers, evidence func(Hypers) (value, dprecision, dnoise float64, err error)) (Hypers, float64, error) {
	unpack := func(v []float64) Hypers {
		return p.fix(Hypers{math.Exp(v[0]), math.Exp(v[1])})
	}
	var failed error
	loss := func(v, grad []float64) float64 {
		h := unpack(v)
		value, dp, dn, err := evidence(h)
		if err != nil {
			failed = err
			return math.Inf(1)
		}
		lp, lpp, lpn := p.LogPrior(h)
		grad[0], grad[1] = -dp-lpp, -dn-lpn
		if p.Precision != nil {
			grad[0] = 0
		}
		if p.Noise != nil {
			grad[1] = 0
		}
		return -(value + lp)
	}
	if p.Precision == nil || p.Noise == nil {
		v := []float64{math.Log(h.Precision), math.Log(h.Noise)}
		lo := []float64{math.Log(precisionLo), math.Log(p.noiseFloor)}
		hi := []float64{math.Log(precisionHi), math.Log(noiseHi)}
		if p.Noise != nil {
			lo[1], hi[1] = v[1], v[1]
		}
		if p.Precision != nil {
			lo[0], hi[0] = v[0], v[0]
		}
		result, err := optimize.Minimize(ctx, loss, v, lo, hi, optimize.Settings{MaxIter: 10, MaxEval: 20, GradTol: 1e-2})
		if err != nil {
			return h, 0, err
		}
		if math.IsInf(result.F, 1) && failed != nil {
			return h, 0, failed
		}
		if floats.HasNaN(result.X) {
			return h, 0, linalg.ErrNotPositiveDefinite
		}
		h = unpack(result.X)
	}
	value, _, _, err := evidence(h)
	return h, value, err
}
