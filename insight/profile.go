package insight

import (
	"context"
	"math"
	"slices"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// Profile is the profile likelihood of a fixed hyperparameter: the log marginal
// likelihood of the targets if the hyperparameter is multiplied by a factor and the
// learned hyperparameters are fitted again.
type Profile struct {
	Name  string  `json:"name"`  // noise, noise_sd, lengthscale, lengthscale[1], …, or variance
	Value float64 `json:"value"` // as fixed: noise_sd in the unit of the values, others in units of the surrogate model
	// Best is the value of largest likelihood among Value·2^k with k from -5 to 5. Gain is the logarithm of the
	// ratio of its likelihood to the likelihood of Value, in nats.
	Best float64 `json:"best"`
	Gain float64 `json:"gain"`
	// Critical is the gain above which Value is called wrong. Twice the gain is about
	// χ²-distributed with one degree of freedom if Value is right.
	Critical float64 `json:"critical"`
}

const (
	noiseSD      = "noise_sd" // the name of loop.Options.NoiseSD in a Profile
	profileSteps = 5          // doublings and halvings
	profileRows  = 200        // observations at most
)

// fixed is a hyperparameter that a Spec fixes.
type fixed struct {
	name  string
	value float64
	times func(s *prior.Spec, factor float64)
}

// fixedOf returns the hyperparameters that s fixes by number.
func fixedOf(s prior.Spec) []fixed {
	var out []fixed
	if s.Noise != nil && *s.Noise > 0 {
		out = append(out, fixed{"noise", *s.Noise, func(s *prior.Spec, f float64) { v := f * *s.Noise; s.Noise = &v }})
	}
	if n := len(s.Lengthscale); n > 0 {
		out = append(out, fixed{"lengthscale", s.Lengthscale[0], func(s *prior.Spec, f float64) {
			s.Lengthscale = slices.Clone(s.Lengthscale)
			for j := range s.Lengthscale {
				s.Lengthscale[j] *= f
			}
		}})
	}
	if s.Variance != nil {
		out = append(out, fixed{"variance", *s.Variance, func(s *prior.Spec, f float64) { v := f * *s.Variance; s.Variance = &v }})
	}
	return out
}

// profiles returns the profile likelihood of every hyperparameter that a gp.Model fixes, also under
// a prior mean; nil for other models.
func profiles(ctx context.Context, v *loop.View) ([]Profile, error) {
	var spec prior.Spec
	model := v.Options.Surrogate
	scaled, centered := model.(surrogate.Scaled) // by a prior mean
	if centered {
		model = scaled.Model
	}
	switch m := model.(type) {
	case gp.Model:
		spec = m.Spec
	case *gp.Model:
		spec = m.Spec
	default:
		return nil, nil
	}
	d := v.Data.AtMost(profileRows, random.New(v.Options.Seed, "profile", 0))
	spec.Restarts = max(1, min(2, spec.Restarts))
	likelihood := func(s prior.Spec) (float64, error) {
		var m surrogate.Model = gp.Model{Spec: s}
		if centered {
			scaled.Model = m
			m = scaled
		}
		p, err := m.Fit(ctx, d, random.New(v.Options.Seed, "profile", 1))
		if err != nil {
			return math.Inf(-1), ctx.Err() // a value without a fit is not better
		}
		return p.(surrogate.Evidence).LogMarginalLikelihood(), nil
	}
	all := fixedOf(spec)
	if v.Options.StandardError != "" && v.Options.NoiseSD == 0 { // the median of the standard errors is no statement
		all = slices.DeleteFunc(all, func(h fixed) bool { return h.name == "noise" })
	}
	if len(all) == 0 {
		return nil, nil
	}
	base, err := likelihood(spec)
	if err != nil || math.IsInf(base, -1) { // nothing to compare with
		return nil, err
	}
	var out []Profile
	for _, h := range all {
		p := Profile{Name: h.name, Value: h.value, Best: h.value, Critical: criticalGain(h.name, len(all))}
		for k := -profileSteps; k <= profileSteps; k++ {
			if k == 0 { // the value itself, with the likelihood base
				continue
			}
			s, factor := spec, math.Ldexp(1, k)
			h.times(&s, factor)
			l, err := likelihood(s)
			if err != nil {
				return nil, err
			}
			if gain := l - base; gain > p.Gain {
				p.Best, p.Gain = h.value*factor, gain
			}
		}
		if sd := v.Options.NoiseSD; h.name == "noise" && sd > 0 {
			p.Name, p.Value, p.Best = noiseSD, sd, v.Units.SD(math.Sqrt(p.Best))
		}
		out = append(out, p)
	}
	return out, nil
}

// criticalGain returns half the quantile of a χ² variable with one degree of freedom for a
// hyperparameter, one of k that are fixed. The level is 0.02 for the noise variance alone, else
// 0.005. With 0.02 the likelihood of a correct lengthscale is rejected in up to 6 of 100
// simulated studies: it is flat and skewed if the lengthscale is long.
func criticalGain(name string, k int) float64 {
	level := 0.005
	if name == "noise" && k == 1 {
		level = 0.02
	}
	z := math.Sqrt2 * math.Erfinv(1-level)
	return z * z / 2
}
