package loop

import (
	"fmt"
	"math"

	"github.com/functionspace/bo/surrogate"
)

// leastNoise and mostNoise bound the variance of a known noise, as a share of the variance of the values, or of the
// differences from a prior mean. Variances beyond change no prediction, and some models do not accept them.
const (
	leastNoise = 1e-6
	mostNoise  = 1e12
)

// known returns the surrogate model of targets with the given scale, for values whose noise has the standard
// deviation sd, in their unit. If sd is 0 the model learns the noise.
func (t *task) known(sd float64, scale surrogate.Standardization) (surrogate.Model, error) {
	if sd == 0 {
		return t.opts.Surrogate, nil
	}
	share := sd / scale.SD
	m, err := surrogate.FixNoise(t.opts.Surrogate, new(min(max(share*share, leastNoise), mostNoise)))
	if err != nil {
		return nil, fmt.Errorf("noise sd: %w", err)
	}
	return m, nil
}

// checkNoises returns an error that wraps ErrOptions for a noise that no objective can have. A known noise
// belongs to the values themselves, so it turns off the logarithm.
func (o *Options) checkNoises() error {
	if o.Several() {
		o.NoiseSD = 0 // each objective has its own
	} else if o.NoiseSD > 0 {
		o.Warp = WarpNone
	}
	if err := o.checkNoise(o.NoiseSD, o.NoiseFree); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	for _, g := range o.Objectives {
		if err := o.checkNoise(g.NoiseSD, g.NoiseFree); err != nil {
			return fmt.Errorf("%w: objective %s: %w", ErrOptions, g.Name, err)
		}
	}
	return nil
}

// checkNoise returns an error unless sd is 0 or a standard deviation that the surrogate model can take.
func (o *Options) checkNoise(sd float64, exact bool) error {
	switch {
	case !(sd >= 0) || math.IsInf(sd, 0):
		return fmt.Errorf("noise sd is %v, want a positive number", sd)
	case sd > 0 && exact:
		return fmt.Errorf("noise sd is %v, and the objective is declared exact", sd)
	case sd > 0:
		if _, err := surrogate.FixNoise(o.Surrogate, new(1.)); err != nil {
			return fmt.Errorf("noise sd: %w", err)
		}
	}
	return nil
}
