package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

type bestCmd struct {
	storeFlags
	Study string   `arg:"" complete:"studies" help:"Name of the study."`
	Model bool     `help:"Fit the surrogate model, and print the trial with the best posterior mean."`
	Given []string `sep:"none" placeholder:"NAME=VALUE" help:"Value of a parameter, such as the humidity of the day: print the settings of a trial that have the best posterior mean with this value. May be repeated."`
	JSON  bool     `group:"result" name:"json" help:"Print the trial as JSON."`
}

func (c *bestCmd) Run(e *env) error {
	return c.withView(e.ctx, c.Study, func(u *store.Study, v *store.View) error {
		if v.Definition.Several() {
			return c.front(e, u, v)
		}
		best := v.Best()
		if best == nil {
			return noneComplete(v)
		}
		if len(c.Given) > 0 {
			return c.given(e, u, v)
		}
		if c.Model {
			return c.recommend(e, u)
		}
		if !v.Feasible(best) {
			fmt.Fprintf(e.stderr, "bo: no trial meets %s: this one violates it least\n", strings.Join(v.Definition.Require, " and "))
		}
		mean, err := conflicting(e, u)
		if err != nil {
			return err
		}
		if mean != nil {
			if v, err = u.View(e.ctx); err != nil { // the trial may be a later one
				return err
			}
			best = &v.Trials[mean.Trial.ID-1]
			fmt.Fprintf(e.stderr, "bo: trial %d has the best mean of the values at equal points: %s\n", best.Number, number(mean.Mean))
		}
		if c.JSON {
			return printJSON(e.stdout, newBestJSON(best, v, mean))
		}
		if _, err = fmt.Fprintln(e.stdout, resultLine(best, v.Definition)+noteText(best)); err != nil {
			return err
		}
		if o := v.Definition.Objective(); !o.NoiseFree && v.Feasible(best) && completeTrials(v) > 1 {
			fmt.Fprintf(e.stderr, "bo: trial %d has the best observed %s, which may be luck: bo best %s --model has the recommended trial\n", best.Number, o.Name, c.Study)
		}
		return nil
	})
}

func (bestCmd) Help() string {
	return `Prints the trial with the best observed value, or the Pareto front of several objectives. If the objective is not declared exact, this value may be luck, and --model names the trial with the best posterior mean.

With --given the trials are compared by their predictions with the given values in place of their own. The values may be new, and all trials count in the fit. A trial without a value of a parameter that the given values need is left out.

Examples:

    bo best bread --model
    bo best bread --given humidity=61 --given flour=rye`
}

// given prints the settings with the best posterior mean at given values.
func (c *bestCmd) given(e *env, u *store.Study, v *store.View) error {
	sp, options, h, err := u.History(e.ctx)
	if err != nil {
		return err
	}
	if h.Given, err = parseFlag(sp, "--given", c.Given); err != nil {
		return err
	}
	if _, err := sp.Slice(h.Given); err != nil {
		return usageError{fmt.Errorf("study %s: %w", c.Study, err)}
	}
	r, err := loop.RecommendGiven(e.ctx, sp, options, h)
	if err != nil {
		return asRefusal(err, loop.ErrNoValue, loop.ErrUntried)
	}
	params, err := json.Marshal(r.Point)
	if err != nil {
		return err
	}
	out := recommended{Trial: r.Trial.ID, Params: params, Mean: r.Mean, SD: r.SD}
	if len(options.Require) > 0 {
		out.Feasible = &r.Feasible
		if r.Feasible < loop.Confident {
			fmt.Fprintf(e.stderr, "bo: these settings meet %s with probability %.2g, by the surrogate model\n", strings.Join(v.Definition.Require, " and "), r.Feasible)
		}
	}
	if c.JSON {
		return printJSON(e.stdout, out)
	}
	mean := figures.Mean(r.Mean, r.SD)
	if insight.Scaleless(&loop.View{Options: options, Trials: h.Trials}) {
		mean = short(r.Mean)
	}
	_, err = fmt.Fprintf(e.stdout, "%s  %s mean %s  (settings of trial %d)\n", fullParams(params), v.Definition.Objective().Name, mean, out.Trial)
	return err
}

// recommend prints the trial with the best posterior mean. The JSON also has the one with the best value.
func (c *bestCmd) recommend(e *env, u *store.Study) error {
	sp, options, h, err := u.History(e.ctx)
	if err != nil {
		return err
	}
	r, err := loop.Recommend(e.ctx, sp, options, h)
	if err != nil {
		return err
	}
	v, err := u.View(e.ctx) // with all trials of the fit
	if err != nil {
		return err
	}
	if p := r.Model.Feasible; len(options.Require) > 0 && p < loop.Confident {
		fmt.Fprintf(e.stderr, "bo: trial %d meets %s with probability %.2g, by the surrogate model\n", r.Model.Trial.ID, strings.Join(v.Definition.Require, " and "), p)
	}
	if c.JSON {
		observed, err := newRecommended(&r.Observed, &options)
		if err != nil {
			return err
		}
		model, err := newRecommended(&r.Model, &options)
		if err != nil {
			return err
		}
		return printJSON(e.stdout, map[string]any{"observed": observed, "model": model})
	}
	t, mean := &v.Trials[r.Model.Trial.ID-1], figures.Mean(r.Model.Mean, r.Model.SD)
	if insight.Scaleless(&loop.View{Options: options, Trials: h.Trials}) {
		mean = short(r.Model.Mean)
	}
	_, err = fmt.Fprintf(e.stdout, "%s  mean %s%s\n", resultLine(t, v.Definition), mean, noteText(t))
	return err
}

// completeTrials returns the number of complete trials that fit the definition.
func completeTrials(v *store.View) (n int) {
	for i := range v.Trials {
		if v.Trials[i].State == store.Complete && v.Points[i].Space() != nil {
			n++
		}
	}
	return n
}

// noneComplete is the error of a study without a best trial.
func noneComplete(v *store.View) error {
	fits := ""
	if v.Unfit > 0 {
		fits = " and fits the definition"
	}
	return refusal{fmt.Errorf("study %s: no trial is complete%s", v.Definition.Name, fits)}
}

// bestJSON is the trial of bo best. Mean is the mean of the values at its point if values of an
// exact objective conflict.
type bestJSON struct {
	trialJSON
	Mean *float64 `json:"mean,omitempty"`
}

func newBestJSON(best *store.Trial, v *store.View, mean *loop.Estimate) bestJSON {
	out := bestJSON{trialJSON: newTrialJSON(best, v)}
	if mean != nil {
		out.Mean = &mean.Mean
	}
	return out
}

// conflicting prints the warning about trials that contradict a noise-free objective, and returns
// the point with the best mean of its values; nil if there are none. The best single value would
// be the luckiest.
func conflicting(e *env, u *store.Study) (*loop.Estimate, error) {
	sp, options, h, err := u.History(e.ctx)
	if err != nil || !options.NoiseFree {
		return nil, err
	}
	text := conflictText(loop.Conflicts(h.Trials))
	if text == "" {
		return nil, nil
	}
	fmt.Fprintf(e.stderr, "bo: warning: %s\n", text)
	r, err := loop.Recommend(e.ctx, sp, options, h)
	return &r.Model, err
}

// frontJSON is the Pareto front of a study in the output of the verbs.
type frontJSON struct {
	Front       []trialJSON        `json:"front"`
	Reference   map[string]float64 `json:"reference,omitempty"`
	Hypervolume []float64          `json:"hypervolume,omitempty"` // after each finished trial
	// Model is the front of the posterior means; nil without a fit.
	Model []study.FrontEstimate `json:"model,omitempty"`
}

// onFront returns the numbers of the trials on the Pareto front; nil for one objective.
func onFront(v *store.View) map[int]bool {
	if !v.Definition.Several() {
		return nil
	}
	set := map[int]bool{}
	for _, t := range v.Pareto().Front {
		set[t.ID] = true
	}
	return set
}

// frontLine describes the front, the hypervolume and its reference point.
func frontLine(f *frontJSON, d *study.Definition) string {
	text := count(len(f.Front), "trial")
	if n := len(f.Hypervolume); n > 0 {
		text += "  hypervolume " + short(f.Hypervolume[n-1])
	}
	return text + referenceText(f, d)
}

// referenceText writes the reference point; empty if there is none.
func referenceText(f *frontJSON, d *study.Definition) string {
	if f.Reference == nil {
		return ""
	}
	var parts []string
	for _, g := range d.Goals() {
		parts = append(parts, g.Name+" "+short(f.Reference[g.Name]))
	}
	return "  from " + strings.Join(parts, "  ")
}

func newFront(v *store.View) frontJSON {
	p := v.Pareto()
	out := frontJSON{Front: []trialJSON{}, Hypervolume: p.Hypervolume}
	for _, t := range p.Front {
		out.Front = append(out.Front, newTrialJSON(&v.Trials[t.ID-1], v))
	}
	for i, r := range p.Reference {
		if out.Reference == nil {
			out.Reference = map[string]float64{}
		}
		out.Reference[v.Definition.Goals()[i].Name] = r
	}
	return out
}

// front prints the Pareto front.
func (c *bestCmd) front(e *env, u *store.Study, v *store.View) error {
	if len(c.Given) > 0 {
		return usagef("--given is for one objective, and study %s has %d: bo study predict %[1]s --at FILE predicts all of them for settings with given values", c.Study, len(v.Definition.Goals()))
	}
	out := newFront(v)
	if c.Model && out.Reference != nil {
		model, err := modelFront(e, u)
		if err != nil {
			return err
		}
		if v, err = u.View(e.ctx); err != nil { // with all trials of the fit
			return err
		}
		out.Model = model
	}
	if c.JSON {
		return printJSON(e.stdout, out)
	}
	if out.Reference == nil {
		return noneComplete(v)
	}
	if len(out.Front) == 0 {
		return refusal{fmt.Errorf("study %s: no trial meets %s", c.Study, strings.Join(v.Definition.Require, " and "))}
	}
	b := bufio.NewWriter(e.stdout)
	if c.Model {
		for _, row := range out.Model {
			fmt.Fprintf(b, "trial %d  %s", row.Trial, fullParams(v.Trials[row.Trial-1].Params))
			for _, g := range v.Definition.Goals() {
				fmt.Fprintf(b, "  %s %s", g.Name, figures.Mean(row.Mean[g.Name], row.SD[g.Name]))
			}
			fmt.Fprintln(b)
		}
		return b.Flush()
	}
	for _, row := range out.Front {
		t := &v.Trials[row.Trial-1]
		fmt.Fprintln(b, resultLine(t, v.Definition)+noteText(t))
	}
	if n := len(out.Hypervolume); n > 0 {
		fmt.Fprintf(b, "hypervolume %s%s\n", short(out.Hypervolume[n-1]), referenceText(&out, v.Definition))
	}
	return b.Flush()
}

// modelFront returns the front of the posterior means.
func modelFront(e *env, u *store.Study) ([]study.FrontEstimate, error) {
	sp, options, h, err := u.History(e.ctx)
	if err != nil {
		return nil, err
	}
	r, err := loop.RecommendFront(e.ctx, sp, options, h)
	if err != nil {
		return nil, err
	}
	return study.NewFront(r, options).Model, nil
}
