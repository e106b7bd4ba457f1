package loop

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// DefaultBudget is the default of Options.Budget.
const DefaultBudget = 50

// maxDefaultInitial bounds the default of Options.Initial.
const maxDefaultInitial = 20

// Options configures a Study, Propose and Recommend. The zero value minimises a
// noisy objective with an exact Gaussian process and acquisition.Auto.
type Options struct {
	// Surrogate models the objective. Nil is gp.Model with its defaults. Its kernel may
	// name parameters; Inputs gives their units. A fit of a
	// surrogate.WarmStarter starts from the state of the previous fit.
	Surrogate surrogate.Model
	// Acquisition chooses points. Nil is acquisition.Auto.
	Acquisition acquisition.Acquisition
	// Maximizer configures the search for the maximum of the acquisition function.
	Maximizer acquisition.MaximizeOptions

	// Initial is the number of trials before the acquisition function chooses.
	// Trials that were added or enqueued count. 0 is 2(k+1), or k+3 with several Objectives, where k is the
	// number of parameters that are not fixed. It is then at most 20 and at most the number of points of the
	// space. The design goes on while all values are equal, unless there are outcome constraints or a prior
	// mean.
	Initial int `set:"initial" auto:"2 per parameter and 2, or 1 per parameter and 3 with several objectives; at most 20" range:"[1,10000]" help:"Number of trials of the initial design"`
	// Design spreads the initial trials. Empty is Sobol.
	Design InitialDesign `set:"design" default:"sobol" oneof:"sobol,halton,lhs,uniform" help:"Point set of the initial trials"`
	// Batch is the number of trials that Run suggests together after the initial design.
	// Suggestions depend on it. With 0 there are no rounds: Run suggests one trial at a
	// time, and no worker waits for another. In rounds no fit runs during an evaluation, which would
	// disturb a measured time; with 0 the same holds for one worker.
	Batch int `set:"batch" auto:"none, and no worker waits for another" range:"[1,1000]" help:"Number of trials suggested together"`
	// Seed is the root of all random streams.
	Seed uint64 `set:"seed" default:"0" help:"Seed of all random numbers: the same seed gives the same trials"`
	// Maximize searches for the largest value instead of the smallest.
	Maximize bool `set:"maximize" default:"false" help:"Search for the largest value"`
	// NoiseFree declares that equal points have equal values. No point is then
	// evaluated twice. The value to improve on is the best observed value instead of
	// the best posterior mean at an evaluated point.
	NoiseFree bool `set:"noise-free" default:"false" help:"Equal points have equal values"`

	// NoiseSD is the standard deviation of the noise of a value, in its unit, if it is known. 0 is unknown: the
	// surrogate model learns it. It takes the place of the setting noise of the surrogate model, which must have
	// one, and implies WarpNone.
	NoiseSD float64
	// StandardError names the number of a trial (Outcome.Numbers) that is the standard error of its value: the standard
	// deviation of its noise, such as of a mean of repeated measurements. "" is none. A trial without the number has the
	// noise of NoiseSD. If that is 0, it has the median of the standard errors, or a learned noise if less than half of the
	// trials have one. The surrogate model must be a surrogate.NoiseTaker. It implies WarpNone.
	StandardError string

	// Objectives are the objectives if there are several: 2 to MaxObjectives. Nil is one
	// objective, Trial.Value. With several, Maximize, NoiseFree, NoiseSD and StandardError are not used: NoiseFree
	// of New(…).Options() reports whether all objectives are noise-free.
	Objectives []Goal
	// Require are outcome constraints. They are learned from the numbers of trials. The acquisition
	// function must be acquisition.Feasible.
	Require []Requirement

	// Optimum holds beliefs about the optimum by parameter (πBO, Hvarfner et al. 2022).
	// Every second point of the initial design is drawn from them. The acquisition function,
	// which must be acquisition.Logarithmic, is multiplied by their density to the power of
	// 10/n in the nth trial after the initial design.
	Optimum map[string]Belief

	// PriorMean is the prior mean function of the objective; the zero value is a constant that the fit
	// estimates. It implies WarpNone. It belongs to one objective. The variances that Surrogate states are shares of the
	// variance of the differences from it.
	PriorMean Mean

	// First holds points to propose first, by parameter, ahead of the queue and of the initial
	// design. Parameters that are left out are completed by the design, as FirstPoints does. The
	// points count against the budget and as initial trials. Points that have a trial are left out.
	First []map[string]any

	// Warp selects the output transform. Empty is WarpAuto.
	Warp Warp `set:"warp" default:"auto" oneof:"auto,none" help:"Output transform: auto, the logarithm of the distance to the best value if that raises the likelihood of the values enough and no prior is stated, and of numbers of outcome constraints about their bounds; none, no logarithm"`

	// Local selects the local search. Empty is LocalAuto.
	Local Local `set:"local" default:"auto" oneof:"auto,none" help:"Local search: auto, every second suggestion of gp comes from a model of the trials near the best one; none, all suggestions come from the model of all trials"`

	// Stop stops poor trials early, from the values that the objective reports with Report.
	// Propose does not use it.
	Stop Stop

	// Budget is the number of evaluations of Minimize. 0 is DefaultBudget.
	Budget int `set:"budget" default:"50" range:"[1,100000]" help:"Total number of trials"`
	// Workers is the number of concurrent evaluations of Minimize. 0 is 1.
	Workers int `set:"workers" default:"1" range:"[1,10000]" help:"Number of concurrent evaluations"`

	// OnEvent, if not nil, is called for every event of a Study, one at a time, from
	// several goroutines. It may call methods that emit no events, such as Save, Trials, Best,
	// Incumbents, Pareto and Enqueue. It must not call methods that emit events, because these
	// wait until OnEvent returns: Ask, Tell, TellOutcome, Fail, Lose, Add, AddOutcome, Report, Run,
	// RunOutcomes, Recommend and RecommendFront. A panic in OnEvent is not recovered: it ends the
	// program, because Run calls OnEvent from goroutines of its own.
	OnEvent func(Event)
}

// withDefaults returns o with defaults in place of zero values, or an error that
// wraps ErrOptions and names every fault.
func (o Options) withDefaults(s *space.Space) (Options, error) {
	if s == nil || s.Dim() == 0 {
		return o, fmt.Errorf("%w: no space: space.New makes one from parameters", ErrOptions)
	}
	o, err := settings.Resolve("", o)
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if err := o.checkOutcomes(); err != nil {
		return o, err
	}
	if o.Several() {
		o.Maximize = o.Objectives[0].Maximize
		o.NoiseFree = !slices.ContainsFunc(o.Objectives, func(g Goal) bool { return !g.NoiseFree })
	}
	if o.Stop, err = settings.Resolve("stop", o.Stop); err != nil {
		return o, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if o.Maximizer, err = settings.Resolve("maximizer", o.Maximizer); err != nil {
		return o, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	for _, resolve := range []func(*space.Space) error{o.resolveSurrogate, o.resolveAcquisition, o.resolvePriors} {
		if err := resolve(s); err != nil {
			return o, err
		}
	}
	if o.Initial == 0 {
		o.Initial = defaultInitial(s, o.Several())
	}
	if _, err := o.firstPoints(s); err != nil {
		return o, err
	}
	return o, nil
}

// resolveSurrogate sets the default of Surrogate, gives it the inputs of s, and checks it and the known noises.
func (o *Options) resolveSurrogate(s *space.Space) error {
	if o.Surrogate == nil {
		o.Surrogate = gp.Model{}
	}
	o.Surrogate = surrogate.NameInputs(o.Surrogate, Inputs(s))
	if err := surrogate.Check(o.Surrogate, s.Dim()); err != nil {
		return fmt.Errorf("%w: surrogate: %w", ErrOptions, err)
	}
	return o.checkNoises()
}

// resolveAcquisition sets the default of Acquisition and checks it against the objectives, the outcome constraints and
// the beliefs.
func (o *Options) resolveAcquisition(*space.Space) error {
	if o.Acquisition == nil {
		o.Acquisition = acquisition.Auto{}
	}
	if err := checkAcquisition(o.Acquisition); err != nil {
		return fmt.Errorf("%w: acquisition: %w", ErrOptions, err)
	}
	if err := acquisition.CheckObjectives(o.Acquisition, max(1, len(o.Objectives))); err != nil {
		return fmt.Errorf("%w: the acquisition function %T %w", ErrOptions, o.Acquisition, err)
	}
	if len(o.Require) > 0 {
		if err := acquisition.CheckConstraints(o.Acquisition); err != nil {
			return fmt.Errorf("%w: require: the acquisition function %T %w", ErrOptions, o.Acquisition, err)
		}
	}
	if _, ok := o.Acquisition.(acquisition.Logarithmic); !ok && len(o.Optimum) > 0 {
		return fmt.Errorf("%w: optimum: the acquisition function is %T, want auto, logei, lognei, qlogei, pi, lognehvi or lognparego", ErrOptions, o.Acquisition)
	}
	return nil
}

// resolvePriors checks Optimum and PriorMean, and sets the Warp that a prior mean implies.
func (o *Options) resolvePriors(s *space.Space) error {
	if len(o.Optimum) > 0 {
		if _, err := newOptimum(s, o.Optimum); err != nil {
			return err
		}
	}
	if o.PriorMean.isZero() {
		return nil
	}
	if o.Several() {
		return fmt.Errorf("%w: prior mean: it belongs to one objective, and there are %d", ErrOptions, len(o.Objectives))
	}
	if err := o.PriorMean.Check(s); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	o.Warp = WarpNone
	return nil
}

// clone returns a copy of o that shares no slice or map with it.
func (o Options) clone() Options {
	o.Require, o.Objectives = slices.Clone(o.Require), slices.Clone(o.Objectives)
	for i := range o.Objectives {
		if r := o.Objectives[i].Reference; r != nil {
			o.Objectives[i].Reference = new(*r)
		}
	}
	o.Optimum = maps.Clone(o.Optimum)
	for name, b := range o.Optimum {
		b.Values = maps.Clone(b.Values)
		o.Optimum[name] = b
	}
	o.First = slices.Clone(o.First)
	for i := range o.First {
		o.First[i] = maps.Clone(o.First[i])
	}
	return o
}

// checkAcquisition returns an error if a is a nil pointer, or has a setting outside its range.
func checkAcquisition(a acquisition.Acquisition) error {
	if v := reflect.ValueOf(a); v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("it is a nil %T, want a function such as acquisition.Auto{}", a)
	}
	return settings.Check(a)
}

// defaultInitial returns the default of Options.Initial. Several objectives have fewer trials, so that
// the surrogate model chooses more of them.
func defaultInitial(s *space.Space, several bool) int {
	free := slices.DeleteFunc(s.Parameters(), func(p space.Parameter) bool { return p.Kind == space.KindFixed })
	n := 2 * (len(free) + 1)
	if several {
		n = len(free) + 3
	}
	return min(n, maxDefaultInitial, s.Count())
}

// sign returns the factor that turns the user's values into values to be minimised.
func (o *Options) sign() float64 {
	if o.Maximize {
		return -1
	}
	return 1
}
