package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/surrogate"
)

type checkCmd struct {
	storeFlags
	Study string `arg:"" complete:"studies" help:"Name of the study."`
	JSON  bool   `group:"result" name:"json" help:"Print the verdicts, statistics and coverages as one JSON object."`
}

func (checkCmd) Help() string {
	return fmt.Sprintf(`Fits the surrogate model to the finished trials and tests whether it agrees with them: the errors of predictions one step ahead, fixed hyperparameters against the values that the data prefer, and equal points of an exact objective. Coverage is the part of the values inside the prediction intervals of the other trials.

The exit code is 0 if every objective is healthy or has too few complete trials for a verdict (%d are needed), and 3 if an objective is miscalibrated.

Examples:

    bo check resnet
    bo check resnet --json | jq .verdict`, insight.MinChecked)
}

// errFault ends a command that has printed that a check failed. Its exit code is exitFault.
var errFault = errors.New("the check found a fault")

// checked is the object of bo check --json.
type checked struct {
	Study      string             `json:"study"`
	Verdict    insight.Verdict    `json:"verdict"` // the worst of the objectives
	Surrogate  string             `json:"surrogate"`
	Objectives []checkedObjective `json:"objectives"`
	Warnings   []string           `json:"warnings,omitempty"`
}

// checkedObjective is the verdict on the model of one objective.
type checkedObjective struct {
	Name         string             `json:"name"`
	Observations int                `json:"observations"` // complete trials of the fit
	Hypers       map[string]float64 `json:"hyperparameters,omitempty"`
	*insight.Health
	Coverage []insight.Coverage `json:"coverage"`
	Method   string             `json:"method"` // of the predictions of the coverage
}

func (c *checkCmd) Run(e *env) error {
	var out *checked
	err := c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		in, err := newInspection(e.ctx, u)
		if err != nil {
			return err
		}
		d, _, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		out = &checked{Study: c.Study, Surrogate: cmp.Or(d.Surrogate.Name, catalog.Surrogates()[0].Name)}
		ctx, stop := watch(e.ctx, e.stderr, in.finished)
		defer stop()
		return heed(e.ctx, func() error { return out.check(ctx, in, d.Objective().Name) })
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(e.stdout, out)
	} else {
		err = out.print(e.stdout, outputWidth(e.stdout))
	}
	if err == nil && out.Verdict == insight.Miscalibrated {
		return errFault
	}
	return err
}

// check adds the verdicts on all objectives; name is the name of a single one.
func (out *checked) check(ctx context.Context, in *inspection, name string) error {
	out.Verdict = insight.Healthy
	if text := in.bounded(); text != "" {
		out.Warnings = append(out.Warnings, text)
	}
	for _, objective := range in.objectives() {
		o := checkedObjective{Name: cmp.Or(objective, name), Observations: in.complete, Coverage: []insight.Coverage{}}
		if in.complete == 0 {
			o.Health = insight.Unchecked(0)
		} else if err := o.check(ctx, in, objective, out); err != nil {
			return err
		}
		if text := in.conflicts(); text != "" {
			o.Verdict, o.Summary = insight.Miscalibrated, "The values contradict the declaration of an exact objective."
			o.Findings = append(o.Findings, insight.Finding{Test: "equal points", Text: text, Remedy: "remove noise_free from the study, or find out why equal points have different values"})
		}
		switch {
		case o.Verdict == insight.Miscalibrated:
			out.Verdict = o.Verdict
		case o.Verdict == insight.TooFew && out.Verdict == insight.Healthy:
			out.Verdict = o.Verdict
		}
		out.Objectives = append(out.Objectives, o)
	}
	return nil
}

// check adds the verdict on one objective, and the warnings of its fit to out.
func (o *checkedObjective) check(ctx context.Context, in *inspection, objective string, out *checked) error {
	v, err := in.view(ctx, objective)
	if err != nil {
		return err
	}
	c, err := insight.LeaveOneOut(ctx, v)
	if err != nil {
		return err
	}
	o.Health, o.Coverage, o.Method, o.Observations = c.Health, c.Coverage, c.Method, len(c.Predictions)
	if o.Coverage == nil {
		o.Coverage = []insight.Coverage{}
	}
	o.Hypers = hypersOf(v.Posterior)
	for _, w := range v.Fit.Warnings {
		out.warn(w)
	}
	return nil
}

// hypersOf returns the hyperparameters of a posterior, nil if it does not describe them.
func hypersOf(p surrogate.Posterior) map[string]float64 {
	d, ok := p.(surrogate.Describer)
	if !ok {
		return nil
	}
	hypers := map[string]float64{}
	for _, h := range d.Hypers() {
		hypers[h.Name] = h.Value
	}
	return hypers
}

// warn adds a warning once.
func (out *checked) warn(text string) {
	for _, w := range out.Warnings {
		if w == text {
			return
		}
	}
	out.Warnings = append(out.Warnings, text)
}

func (out *checked) print(w io.Writer, width int) error {
	var b strings.Builder
	row := func(name, format string, args ...any) { fold(&b, name, fmt.Sprintf(format, args...), width) }
	row("study", "%s", out.Study)
	row("surrogate", "%s", out.Surrogate)
	for _, o := range out.Objectives {
		row("objective", "%s, %s", o.Name, count(o.Observations, "complete trial"))
		if len(o.Findings) > 0 {
			row("verdict", "%s", o.Verdict)
		} else {
			row("verdict", "%s: %s", o.Verdict, o.Summary)
		}
		for i, f := range o.Findings {
			row([]string{"findings", ""}[min(i, 1)], "%s. Remedy: %s.", f.Text, f.Remedy)
		}
		for i, t := range o.Tests {
			row([]string{"tests", ""}[min(i, 1)], "%s", testText(t))
		}
		for i, p := range o.Profiles {
			row([]string{"fixed", ""}[min(i, 1)], "%s %s, the most likely multiple is %s, log likelihood ratio %.2f, accepted up to %.2f", p.Name, short(p.Value), short(p.Best), p.Gain, p.Critical)
		}
		if len(o.Coverage) > 0 {
			row("coverage", "%s", coverageText(o.Coverage))
			row("", "of the prediction intervals, by %s", o.Method)
		}
	}
	for i, w := range out.Warnings {
		row([]string{"warnings", ""}[min(i, 1)], "%s", w)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func testText(t insight.Test) string {
	if t.Low == 0 {
		return fmt.Sprintf("%s %.4g, accepted up to %.4g", t.Name, float64(t.Statistic), t.High)
	}
	return fmt.Sprintf("%s %.4g, accepted from %.4g to %.4g", t.Name, float64(t.Statistic), t.Low, t.High)
}

// coverageText lists the nominal and the observed coverages.
func coverageText(coverage []insight.Coverage) string {
	var parts []string
	for _, c := range coverage {
		parts = append(parts, fmt.Sprintf("%.0f %%: %.0f %%", 100*c.Nominal, 100*float64(c.Observed)))
	}
	return strings.Join(parts, ", ")
}
