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
	// Objective is the name of one of several objectives or of the number of Requirement, else empty.
	Objective string
	// Requirement is the outcome constraint that the view describes; nil for an objective.
	Requirement *Requirement
	Fit         Fit

	// Posterior is the posterior of the objective, and Units converts its outputs. The
	// inputs are encoded points of Space.
	Posterior surrogate.Posterior
	Units     Units
	// Data are the observations of the fit, and Rows holds the index among Trials of each. Some may be trials
	// that are not complete, with a value in place of the missing one.
	Data surrogate.Dataset
	Rows []int

	// Problem is the information from which the acquisition function is built. Its values
	// are targets.
	Problem acquisition.Problem
	// Success is the condition that a trial does not fail: a label below 0, in the middle between the labels of
	// failed and other trials. Nil means that no trial has failed, or that failed trials have the worst value.
	// Problem.Constraints has a stricter condition after failures (ADR 24).
	Success *acquisition.Constraint
	// Acquisition is the function that the next suggestion of this model maximises, in units of
	// the surrogate model. With LocalAuto a local model chooses every second trial.
	Acquisition acquisition.Function

	task   *task
	fitted *fitted
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

// LogTransformed reports whether targets are log transformed.
func (u Units) LogTransformed() bool { return u.warp.form != plain }

// SD returns the standard deviation of values whose targets have the standard deviation sd, if the values are not log transformed.
func (u Units) SD(sd float64) float64 { return u.warp.scale.SD * sd }

// Relative returns Value minus a constant and divided by a positive constant. Differences of values are
// therefore neither lost beside a large constant nor vanish: a target of one standard deviation changes it by
// about 1, or by a multiple of that after a log transform.
func (u Units) Relative(target float64) float64 {
	if !u.LogTransformed() {
		return u.sign * target
	}
	const most = 1e100 // squares are finite
	return u.sign * max(-most, min(u.warp.distance(u.warp.scale.Invert(target))/math.Abs(u.warp.width), most))
}

// Target returns a value in the user's units as a target. A value better than all values of the fit is
// extrapolated along the log transform. Its target is finite if the transform is defined there, else -Inf.
func (u Units) Target(value float64) float64 {
	return u.warp.target(u.sign * value)
}

// Inspect fits the surrogate model to the finished trials of h as Propose does, and
// returns the fit for display. If the next proposal is a suggestion of the model of all trials,
// View.Acquisition is the function whose maximum it is. Inspect does not use h.Queue.
//
// It is a function of its arguments alone and costs a fit. The errors wrap ErrOptions,
// ErrHistory, or ErrNoValue if no trial is complete; or they come from the surrogate
// model, the acquisition function or the context.
func Inspect(ctx context.Context, s *space.Space, o Options, h History) (*View, error) {
	if o.Several() {
		return nil, fmt.Errorf("%w: a view has one objective: InspectObjective selects one of %s", ErrOptions, o.objectiveNames())
	}
	views, err := InspectAll(ctx, s, o, h)
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// InspectObjective is Inspect for one of several objectives, by its name. Options, Trials and Problem.Posterior
// of the view describe this objective as if it were the only one; Problem.Objectives and Acquisition
// are of all objectives. An unknown name is an error that wraps ErrOptions.
func InspectObjective(ctx context.Context, s *space.Space, o Options, h History, name string) (*View, error) {
	i := slices.IndexFunc(o.Objectives, func(g Goal) bool { return g.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: there is no objective %q among several: the names are %s", ErrOptions, name, o.objectiveNames())
	}
	views, err := InspectAll(ctx, s, o, h)
	if err != nil {
		return nil, err
	}
	return views[i], nil
}

// InspectAll returns the views of all models of one fit: Inspect of the objective, or InspectObjective of
// each objective, and then a view of each outcome constraint (View.Requirement). It costs one fit of each
// model. The errors are the errors of Inspect.
func InspectAll(ctx context.Context, s *space.Space, o Options, h History) ([]*View, error) {
	h.Queue = nil
	t, err := newTask(s, o, h)
	if err != nil {
		return nil, err
	}
	if t.count(Complete) == 0 {
		return nil, fmt.Errorf("%w: %d failed, %d pending", ErrNoValue, t.count(Failed), t.count(Pending))
	}
	f, err := t.fit(ctx, random.New(t.opts.Seed, "fit", t.next()))
	if err != nil {
		return nil, err
	}
	p := t.problem(f, t)
	if t.scalarizes() {
		one := t.scalarized(random.New(t.opts.Seed, "weights", t.next()))
		fit, err := one.fit(ctx, random.New(t.opts.Seed, "fit", t.next()))
		if err != nil {
			return nil, err
		}
		p = one.problem(fit, one)
	}
	// acquisition.Suggest uses the same streams for its first point.
	rng := random.New(t.opts.Seed, "suggest", t.next())
	random.Split(rng, "incumbents", 0)
	acquired, err := p.Function(ctx, t.opts.Acquisition, 1, random.Split(rng, "point", 0))
	if err != nil {
		return nil, err
	}
	var views []*View
	if t.opts.Several() {
		for i := range t.opts.Objectives {
			views = append(views, t.viewOfGoal(f, i))
		}
	} else {
		views = append(views, t.viewOfValue(f))
	}
	for i := range t.opts.Require {
		views = append(views, t.viewOfRequirement(f, i))
	}
	for _, v := range views {
		v.Space, v.Fit, v.Problem, v.Success, v.Acquisition, v.task, v.fitted = t.space, f.facts, p, f.success, acquired, t, f
	}
	return views, nil
}

// viewOfValue returns the view of a single objective.
func (t *task) viewOfValue(f *fitted) *View {
	v := &View{Options: t.selected(f).inspected(f), Trials: t.trials, Posterior: f.Posterior, Units: Units{f.warp, t.opts.sign()}, Data: t.dataset(f.z, f.warp.scale)}
	for i := range t.trials {
		if t.modelled(t.trials[i].State) {
			v.Rows = append(v.Rows, i)
		}
	}
	return v
}

// viewOfGoal returns the view of objective i of several.
func (t *task) viewOfGoal(f *fitted, i int) *View {
	g := t.opts.Objectives[i]
	v := t.viewOfNumber(g.Name, g.sign(), warp{scale: f.scales[i]}, g.NoiseFree)
	v.Posterior, v.Options.Maximize, v.Options.NoiseSD, v.Options.StandardError = f.objectives[i], g.Maximize, g.NoiseSD, g.StandardError
	v.Data.Noise = t.noisesOf(g.StandardError, f.scales[i])
	if m, err := t.known(g.NoiseSD, v.Data.Noise, f.scales[i]); err == nil { // as in the fit
		v.Options.Surrogate = m
	}
	return v
}

// viewOfRequirement returns the view of outcome constraint i.
func (t *task) viewOfRequirement(f *fitted, i int) *View {
	r := t.opts.Require[i]
	v := t.viewOfNumber(r.Name, r.sign(), f.limits[i], t.opts.NoiseFree)
	v.Requirement, v.Posterior, v.Options.Maximize = &r, f.constraints[i].Posterior, r.AtLeast
	return v
}

// viewOfNumber returns the view of a number by its name, without its posterior.
func (t *task) viewOfNumber(name string, sign float64, w warp, noiseFree bool) *View {
	v := &View{Options: t.opts, Objective: name, Units: Units{w, sign}}
	v.Options.Objectives, v.Options.NoiseFree, v.Options.NoiseSD, v.Options.StandardError = nil, noiseFree, 0, ""
	for k := range t.trials {
		trial := t.trials[k].clone()
		trial.Prediction = nil // of the first objective
		if trial.State == Complete {
			trial.Value = trial.Numbers[name]
			v.Rows = append(v.Rows, k)
		}
		v.Trials = append(v.Trials, trial)
	}
	v.Data = surrogate.Dataset{X: t.points(func(s State) bool { return s == Complete }), Y: w.apply(t.numbers(name, sign)), NoiseFree: noiseFree}
	v.Data.Lo, v.Data.Hi = make([]float64, t.space.Dim()), slices.Repeat([]float64{1}, t.space.Dim())
	return v
}

// EqualValues reports whether at least two trials of v are complete and their values differ by rounding errors alone.
func (v *View) EqualValues() bool {
	return equalValues(v.Trials, func(t *Trial) float64 { return t.Value })
}

// Propose is the function Propose for the options and the history of v, with the fit of v: it costs no other
// fit, except by a local model or a scalarisation. It is for the views of Inspect, InspectObjective and InspectAll.
func (v *View) Propose(ctx context.Context, n int) (Proposals, error) {
	if err := checkCount("points to propose", n); err != nil {
		return Proposals{}, err
	}
	return v.task.proposeFrom(ctx, v.fitted, n)
}

// inspected returns the options with the surrogate model of the fit, which includes
// Options.PriorMean.
func (t *task) inspected(f *fitted) Options {
	o := t.opts
	if m, err := t.centered(f.warp.scale); err == nil { // as in the fit
		o.Surrogate = m
	}
	return o
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
