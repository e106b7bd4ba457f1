package loop

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/surrogate"
)

// known returns the surrogate model of targets with the given scale, for values whose noise has the standard
// deviation sd, in their unit. noises are the known variances of single targets, as noisesOf returns them. If sd is 0 and
// at least half of the variances are known, other values have their median. Otherwise the model learns the noise.
func (t *task) known(sd float64, noises []float64, scale surrogate.Standardization) (surrogate.Model, error) {
	variance := scale.Noise(sd)
	if sd == 0 {
		var stated bool
		if variance, stated = (surrogate.Dataset{Noise: noises}).MedianNoise(); !stated {
			return t.opts.Surrogate, nil
		}
	}
	m, err := surrogate.FixNoise(t.opts.Surrogate, &variance)
	if err != nil {
		return nil, fmt.Errorf("noise sd: %w", err)
	}
	return m, nil
}

// errorsOf returns the standard error of the value of each complete trial, NaN if it is not known: its number of the given
// name. The result is nil if none is known.
func (t *task) errorsOf(name string) []float64 {
	var out []float64
	known := false
	for i := range t.trials {
		if trial := &t.trials[i]; trial.State == Complete {
			sd, given := trial.Numbers[name]
			if !given || name == "" {
				sd = math.NaN()
			}
			out, known = append(out, sd), known || !math.IsNaN(sd)
		}
	}
	if !known {
		return nil
	}
	return out
}

// noisesOf returns the noise variance of each complete trial by errorsOf, for targets with the given scale.
func (t *task) noisesOf(name string, scale surrogate.Standardization) []float64 {
	errors := t.errorsOf(name)
	for i, sd := range errors {
		errors[i] = scale.Noise(sd)
	}
	return errors
}

// checkNoises returns an error that wraps ErrOptions for a noise that no objective can have. A known noise
// belongs to the values themselves, so it turns off the logarithm.
func (o *Options) checkNoises() error {
	if o.Several() {
		o.NoiseSD, o.StandardError = 0, "" // each objective has its own
	} else if o.NoiseSD > 0 || o.StandardError != "" {
		o.Warp = WarpNone
	}
	if err := cmp.Or(o.checkNoise(o.NoiseSD, o.NoiseFree), o.checkError(o.StandardError, o.NoiseFree)); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	for _, g := range o.Objectives {
		if err := cmp.Or(o.checkNoise(g.NoiseSD, g.NoiseFree), o.checkError(g.StandardError, g.NoiseFree)); err != nil {
			return fmt.Errorf("%w: objective %s: %w", ErrOptions, g.Name, err)
		}
	}
	return nil
}

// checkError returns an error unless name is "", or a number that is no objective may be the standard error of a value.
func (o *Options) checkError(name string, exact bool) error {
	if name == "" {
		return nil
	}
	if exact {
		return fmt.Errorf("standard error is %s, and the objective is declared exact", name)
	}
	if slices.ContainsFunc(o.Objectives, func(g Goal) bool { return g.Name == name }) {
		return fmt.Errorf("standard error is %s, an objective", name)
	}
	if _, ok := o.Surrogate.(surrogate.NoiseTaker); !ok {
		return errors.New("standard error: the surrogate model takes one noise for all values: use gp, or state a noise sd")
	}
	return nil
}

// standardErrors returns the names of the numbers that are standard errors.
func (o *Options) standardErrors() (names []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(o.StandardError)
	for _, g := range o.Objectives {
		add(g.StandardError)
	}
	return names
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
