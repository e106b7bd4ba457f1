package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/functionspace/bo/insight"
	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/surrogate"
)

type checkCmd struct {
	storeFlags
	Study string `arg:"" complete:"studies" help:"Name of the study."`
	JSON  bool   `group:"result" name:"json" help:"Print the verdicts, statistics and coverages as one JSON object."`
}

func (checkCmd) Help() string {
	return fmt.Sprintf(`Fits the surrogate model to the finished trials and tests whether it agrees with them: the errors of predictions one step ahead (for models other than gp, of fits without a fifth of the trials), fixed hyperparameters against the values that the data prefer, and equal points of an exact objective. Each objective and each number of an outcome constraint has a model of its own. Coverage is the part of the values inside their prediction intervals. Outliers are trials whose value is far from the prediction by the other trials; they do not change the verdict.

The exit code is 0 if every model is healthy or has too few complete trials for a verdict (%d are needed, and more for models other than gp in many inputs), and 3 if a model is miscalibrated.

Examples:

    bo check resnet
    bo check resnet --json | jq .verdict`, insight.MinChecked)
}

// errFault ends a command that has printed that a check failed. Its exit code is exitFault.
var errFault = errors.New("the check found a fault")

// checked is the object of bo check --json.
type checked struct {
	Study      string          `json:"study"`
	Verdict    insight.Verdict `json:"verdict"` // the worst of all models
	Surrogate  string          `json:"surrogate"`
	Objectives []*checkedModel `json:"objectives"`
	// Constraints are the models of the numbers of outcome constraints.
	Constraints []*checkedModel `json:"constraints,omitempty"`
	Warnings    []string        `json:"warnings,omitempty"`
}

// checkedModel is the verdict on the model of one objective or outcome constraint.
type checkedModel struct {
	Name         string             `json:"name"`
	Observations int                `json:"observations"` // complete trials of the fit
	Hypers       map[string]float64 `json:"hyperparameters,omitempty"`
	*insight.Health
	LeftOut *checkedLeftOut `json:"left_out,omitempty"`
}

// checkedLeftOut compares values with predictions from the other trials.
type checkedLeftOut struct {
	Method   string             `json:"method"`
	Coverage []insight.Coverage `json:"coverage"`
	Outliers []insight.LeftOut  `json:"outliers"`
}

func (c *checkCmd) Run(e *env) error {
	var out *checked
	err := c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		in, err := newInspection(e.ctx, u, maxInspected)
		if err != nil {
			return err
		}
		d, _, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		out = &checked{Study: c.Study, Surrogate: d.SurrogateName()}
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

// check adds the verdicts on all models; name is the name of a single objective.
func (out *checked) check(ctx context.Context, in *inspection, name string) error {
	out.Verdict = insight.Healthy
	for _, text := range []string{in.bounded(), in.broken()} {
		if text != "" {
			out.Warnings = append(out.Warnings, text)
		}
	}
	if in.complete == 0 {
		for _, objective := range in.objectives() {
			out.Objectives = append(out.Objectives, &checkedModel{Name: cmp.Or(objective, name), Health: insight.Unchecked(0)})
		}
		out.Verdict = insight.TooFew
		return nil
	}
	views, err := in.views(ctx)
	if err != nil {
		return err
	}
	out.Warnings = addNew(out.Warnings, views[0].Fit.Warnings...)
	for _, v := range views {
		m, err := checkModel(ctx, v)
		if err != nil {
			return err
		}
		m.Name = cmp.Or(v.Objective, name)
		if v.Requirement != nil {
			m.Name = v.Requirement.String()
			out.Constraints = append(out.Constraints, m)
		} else {
			out.Objectives = append(out.Objectives, m)
		}
		if text := in.conflicts(); text != "" && v.Requirement == nil {
			m.Verdict, m.Summary = insight.Miscalibrated, "The values contradict the declaration of an exact objective."
			m.Findings = append(m.Findings, insight.Finding{Test: "equal points", Text: text, Remedy: "remove noise_free from the study, or find out why equal points have different values"})
		}
		switch {
		case m.Verdict == insight.Miscalibrated:
			out.Verdict = m.Verdict
		case m.Verdict == insight.TooFew && out.Verdict == insight.Healthy:
			out.Verdict = m.Verdict
		}
	}
	return nil
}

// checkModel returns the verdict on the model of a view.
func checkModel(ctx context.Context, v *loop.View) (*checkedModel, error) {
	c, err := insight.LeaveOneOut(ctx, v)
	if err != nil {
		return nil, err
	}
	m := &checkedModel{Health: c.Health, Observations: len(c.Predictions), Hypers: hypersOf(v.Posterior)}
	if c.Coverage != nil {
		m.LeftOut = &checkedLeftOut{c.Method, c.Coverage, c.Outliers}
	}
	return m, nil
}

// hypersOf returns the finite hyperparameters of a posterior, nil if it does not describe them.
func hypersOf(p surrogate.Posterior) map[string]float64 {
	d, ok := p.(surrogate.Describer)
	if !ok {
		return nil
	}
	hypers := map[string]float64{}
	for _, h := range d.Hypers() {
		if !math.IsNaN(h.Value) && !math.IsInf(h.Value, 0) {
			hypers[h.Name] = h.Value
		}
	}
	return hypers
}

func (out *checked) print(w io.Writer, width int) error {
	var b strings.Builder
	row := func(name, format string, args ...any) { fold(&b, name, fmt.Sprintf(format, args...), width) }
	row("study", "%s", out.Study)
	row("surrogate", "%s", out.Surrogate)
	for i, m := range slices.Concat(out.Objectives, out.Constraints) {
		kind := "objective"
		if i >= len(out.Objectives) {
			kind = "constraint"
		}
		row(kind, "%s, %s", m.Name, count(m.Observations, "complete trial"))
		m.print(row)
	}
	for i, w := range out.Warnings {
		row([]string{"warnings", ""}[min(i, 1)], "%s", w)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (m *checkedModel) print(row func(name, format string, args ...any)) {
	if len(m.Findings) > 0 {
		row("verdict", "%s", m.Verdict)
	} else {
		row("verdict", "%s: %s", m.Verdict, m.Summary)
	}
	for i, f := range m.Findings {
		row([]string{"findings", ""}[min(i, 1)], "%s. Remedy: %s.", f.Text, f.Remedy)
	}
	m.printOutliers(row)
	for i, t := range m.Tests {
		row([]string{"tests", ""}[min(i, 1)], "%s", testText(t))
	}
	for i, p := range m.Profiles {
		row([]string{"fixed", ""}[min(i, 1)], "%s %s, the most likely value is %s, log likelihood ratio %.2f, accepted up to %.2f", p.Name, short(p.Value), short(p.Best), p.Gain, p.Critical)
	}
	m.printCoverage(row)
}

// mostOutliers is the number of outliers that are printed.
const mostOutliers = 5

// printOutliers writes the trials that differ most from the predictions by the others.
func (m *checkedModel) printOutliers(row func(name, format string, args ...any)) {
	if m.LeftOut == nil {
		return
	}
	all := m.LeftOut.Outliers
	for i, p := range all[:min(len(all), mostOutliers)] {
		row([]string{"outliers", ""}[min(i, 1)], "%s", outlierText(p))
	}
	if more := len(all) - mostOutliers; more > 0 {
		row("", "and %d more", more)
	}
}

func outlierText(p insight.LeftOut) string {
	n := figures.Distinct(4, float64(p.Mean), float64(p.P95.Low), float64(p.P95.High))
	return fmt.Sprintf("trial %d: observed %s, predicted %s (95 %% interval %s to %s) from other trials: check the entry", p.Trial, short(float64(p.Value)), n[0], n[1], n[2])
}

// printCoverage writes the coverages that the verdict uses, and the coverages of leave-one-out.
func (m *checkedModel) printCoverage(row func(name, format string, args ...any)) {
	if len(m.Coverage) == 0 {
		return
	}
	if m.LeftOut == nil || m.LeftOut.Method != insight.LeaveOneOutMethod {
		row("coverage", "%s", coverageText(m.Coverage))
		return
	}
	row("coverage", "one step ahead  %s", coverageText(m.Coverage))
	row("", "leave-one-out   %s", coverageText(m.LeftOut.Coverage))
	wide := false
	for i, c := range m.LeftOut.Coverage {
		wide = wide || c.Inside > m.Coverage[i].High
	}
	if wide {
		row("", "The verdict uses the first line. Trials near the best one predict each other, so that leave-one-out intervals hold more values.")
	}
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
