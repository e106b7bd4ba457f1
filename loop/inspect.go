package loop

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
)

// View is a surrogate model fitted to a history, with the data of the fit and the
// acquisition function of the next suggestion. It is for display and is read only.
type View struct {
	Space   *space.Space
	Options Options // with the defaults in place of zero values
	Trials  []Trial // of the history, with points of Space
	// Objective is the name given to InspectObjective, else empty.
	Objective string
	Fit       Fit

	// Posterior is the posterior of the objective, and Units converts its outputs. The
	// inputs are encoded points of Space.
	Posterior surrogate.Posterior
	Units     Units
	// Data are the observations of the fit, and Rows holds the index among Trials of each.
	Data surrogate.Dataset
	Rows []int

	// Problem is the information from which the acquisition function is built. Its values
	// are targets.
	Problem acquisition.Problem
	// Acquisition is the function that the next suggestion of this model maximises, in units of
	// the surrogate model. With LocalAuto a local model chooses every second trial.
	Acquisition acquisition.Function
}

// Units converts between the user's units of the objective and targets, the outputs of a
// surrogate model. Targets are standardised, possibly log transformed (Options.Warp),
// and minimised.
type Units struct {
	warp warp
	sign float64
}

// Value returns a target in the user's units. It is monotone: quantiles of the latent
// objective become quantiles, in reverse order if the objective is maximised. Overflow
// gives the largest number.
func (u Units) Value(target float64) float64 {
	v, _ := u.warp.user(target, 0)
	return u.sign * v
}

// Target returns a value in the user's units as a target. A value better than all values
// of the fit is extrapolated along the log transform and has a finite target if the
// transform is defined there, else -Inf.
func (u Units) Target(value float64) float64 {
	h := u.sign * value
	if u.warp.width > 0 {
		h = math.Log1p(math.Max(-1, (h-u.warp.least)/u.warp.width))
	}
	return (h - u.warp.scale.Mean) / u.warp.scale.SD
}

// Inspect fits the surrogate model to the finished trials of h as Propose does, and
// returns the fit for display. If the next proposal is a suggestion of the model of all trials,
// View.Acquisition is the function whose maximum it is. Inspect does not use h.Queue.
//
// It is a function of its arguments alone and costs a fit. The errors wrap ErrOptions,
// ErrHistory, or ErrNoValue if no trial is complete; or they come from the surrogate
// model, the acquisition function or the context.
func Inspect(ctx context.Context, s *space.Space, o Options, h History) (*View, error) {
	h.Queue = nil
	t, err := newTask(s, o, h)
	if err != nil {
		return nil, err
	}
	if t.opts.Several() {
		return nil, fmt.Errorf("%w: a view has one objective: InspectObjective selects one of %s", ErrOptions, t.opts.objectiveNames())
	}
	if t.count(Complete) == 0 {
		return nil, fmt.Errorf("%w: %d failed, %d pending", ErrNoValue, t.count(Failed), t.count(Pending))
	}
	f, err := t.fit(ctx, random.New(t.opts.Seed, "fit", t.next()))
	if err != nil {
		return nil, err
	}
	v := &View{
		Space: t.space, Options: t.inspected(f), Trials: t.trials, Fit: f.facts,
		Posterior: f.Posterior, Units: Units{f.warp, t.opts.sign()},
		Data: t.dataset(f.z), Problem: t.problem(f, t),
	}
	imputed := len(v.Data.Y) > len(f.z) // failed trials have rows
	for i := range t.trials {
		if s := t.trials[i].State; s == Complete || s == Failed && imputed {
			v.Rows = append(v.Rows, i)
		}
	}
	// acquisition.Suggest uses the same streams for its first point.
	rng := random.New(t.opts.Seed, "suggest", t.next())
	random.Split(rng, "incumbents", 0)
	v.Acquisition, err = t.opts.Acquisition.Build(ctx, v.Problem, 1, random.Split(rng, "point", 0))
	return v, err
}

// inspected returns the options with the surrogate model of the fit, which includes
// Options.PriorMean.
func (t *task) inspected(f *fitted) Options {
	o := t.opts
	o.Surrogate = t.centered(f.warp.scale)
	return o
}

// InspectObjective is Inspect for one of several objectives, by its name. Options, Trials and Problem.Posterior
// of the view describe this objective as if it were the only one; Problem.Objectives and Acquisition
// are of all objectives. An unknown name is an error that wraps ErrOptions.
func InspectObjective(ctx context.Context, s *space.Space, o Options, h History, name string) (*View, error) {
	h.Queue = nil
	t, err := newTask(s, o, h)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(t.opts.Objectives, func(g Goal) bool { return g.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: there is no objective %q among several: the names are %s", ErrOptions, name, t.opts.objectiveNames())
	}
	if t.count(Complete) == 0 {
		return nil, fmt.Errorf("%w: %d failed, %d pending", ErrNoValue, t.count(Failed), t.count(Pending))
	}
	f, err := t.fit(ctx, random.New(t.opts.Seed, "fit", t.next()))
	if err != nil {
		return nil, err
	}
	rng := random.New(t.opts.Seed, "suggest", t.next())
	random.Split(rng, "incumbents", 0)
	p := t.problem(f, t)
	if t.scalarizes() {
		one := t.scalarized(random.New(t.opts.Seed, "weights", t.next()))
		fit, err := one.fit(ctx, random.New(t.opts.Seed, "fit", t.next()))
		if err != nil {
			return nil, err
		}
		p = one.problem(fit, one)
	}
	g := t.opts.Objectives[i]
	v := &View{Space: t.space, Options: t.opts, Objective: name, Fit: f.facts, Posterior: f.objectives[i], Problem: p}
	if v.Acquisition, err = t.opts.Acquisition.Build(ctx, p, 1, random.Split(rng, "point", 0)); err != nil {
		return nil, err
	}
	v.Options.Objectives, v.Options.Maximize, v.Options.NoiseFree = nil, g.Maximize, g.NoiseFree
	v.Units = Units{warp{scale: f.scales[i]}, g.sign()}
	for k := range t.trials {
		trial := t.trials[k].clone()
		trial.Prediction = nil // of the first objective
		if trial.State == Complete {
			trial.Value = trial.Numbers[name]
			v.Rows = append(v.Rows, k)
		}
		v.Trials = append(v.Trials, trial)
	}
	values := t.numbers(name, g.sign())
	v.Data = surrogate.Dataset{X: t.points(func(s State) bool { return s == Complete }), Y: f.scales[i].Apply(values, values), NoiseFree: g.NoiseFree}
	v.Data.Lo, v.Data.Hi = make([]float64, t.space.Dim()), slices.Repeat([]float64{1}, t.space.Dim())
	return v, nil
}

// InspectObjective is the function InspectObjective for the study's trials.
func (s *Study) InspectObjective(ctx context.Context, name string) (*View, error) {
	s.mu.Lock()
	h := s.history()
	s.mu.Unlock()
	return InspectObjective(ctx, s.space, s.opts, h, name)
}

// objectiveNames returns the names of the objectives, separated by commas.
func (o *Options) objectiveNames() string {
	names := make([]string, len(o.Objectives))
	for i, g := range o.Objectives {
		names[i] = g.Name
	}
	return strings.Join(names, ", ")
}

// Inspect is the function Inspect for the study's trials.
func (s *Study) Inspect(ctx context.Context) (*View, error) {
	s.mu.Lock()
	h := s.history()
	s.mu.Unlock()
	return Inspect(ctx, s.space, s.opts, h)
}
