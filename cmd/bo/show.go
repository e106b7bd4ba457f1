package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

type studyShowCmd struct {
	storeFlags
	Study string `arg:"" complete:"studies" help:"Name of the study."`
	All   bool   `help:"Fit the surrogate model whatever its costs, and to more trials."`
	Brief bool   `help:"Leave out the surrogate model: recommendation, importance, calibration and next point."`
	JSON  bool   `group:"result" name:"json" help:"Print one JSON object: the definition, counts, the best trial, and the surrogate model under model."`
}

func (studyShowCmd) Help() string {
	return fmt.Sprintf(`Prints the counts, the best and the last trials and, from a fit of the surrogate model: the trial with the best prediction, the importance of the parameters, the verdict of bo check, warnings, and the next point with reasons.

The importance of a parameter is its total Sobol index: the part of the variance of the prediction over the search space that it explains, with its interactions.

The answer comes within about a second: with more than %d finished trials gp is fitted to %d of them, and surrogate models that need longer are left out. --all fits all models, to at most %d trials, estimates the regret of a single objective without requirements, and computes the intervals of --json. The output depends on the study alone.

Examples:

    bo study show resnet
    bo study show resnet --all
    bo study show resnet --brief --json`, shownRows, shownRows, maxInspected)
}

// shownStudy is the object of bo study show --json.
type shownStudy struct {
	Definition *study.Definition `json:"definition"`
	Created    time.Time         `json:"created"`
	Trials     int               `json:"trials"`
	Complete   int               `json:"complete"`
	Infeasible int               `json:"infeasible,omitempty"` // complete trials that miss a requirement
	Failed     int               `json:"failed"`
	Stopped    int               `json:"stopped,omitempty"` // ended early by the stopping rule
	Running    int               `json:"running"`
	Waiting    int               `json:"waiting"`
	Unfit      int               `json:"unfit"`
	Ended      string            `json:"ended,omitempty"` // why the end of the definition is reached
	Best       *trialJSON        `json:"best,omitempty"`
	Pareto     *frontJSON        `json:"pareto,omitempty"` // of several objectives
	Revision   int64             `json:"revision"`
	// Selection is the model that the surrogate auto selected for the last suggestion.
	Selection *surrogate.Selection `json:"selection,omitempty"`
	Model     *shownModel          `json:"model,omitempty"`
}

func (c *studyShowCmd) Run(e *env) error {
	if c.All && c.Brief {
		return usagef("--all and --brief exclude each other")
	}
	return c.withView(e.ctx, c.Study, func(u *store.Study, v *store.View) error {
		out := summarize(v)
		var err error
		if out.Ended, err = endOf(e.ctx, u, c.Study); err != nil {
			return err
		}
		if last := lastSuggested(v); last != nil {
			t, _, err := u.Trial(e.ctx, last.Number) // with its prediction
			if err != nil {
				return err
			}
			out.Selection = selectionOf(&t)
		}
		if !c.Brief {
			if out.Model, err = showModel(e, u, v, c.All); err != nil {
				return err
			}
		}
		if c.JSON {
			return printJSON(e.stdout, out)
		}
		return c.print(e.stdout, v, out)
	})
}

// endOf returns the reason for which the end of a study is reached; "" if it is not.
func endOf(ctx context.Context, u *store.Study, name string) (string, error) {
	ended, err := u.Ended(ctx)
	if err != nil || ended == nil {
		return "", err
	}
	return oneLine(strings.TrimPrefix(ended.Error(), "study "+name+": ")), nil
}

func summarize(v *store.View) *shownStudy {
	out := &shownStudy{Definition: v.Definition, Created: v.Created, Trials: len(v.Trials), Unfit: v.Unfit, Revision: v.Revision}
	for i := range v.Trials {
		switch t := &v.Trials[i]; {
		case t.State == store.Complete:
			out.Complete++
			if !v.Feasible(t) {
				out.Infeasible++
			}
		case t.State == store.Stopped:
			out.Stopped++
		case t.State != store.Pending:
			out.Failed++
		case t.Running(v.Now):
			out.Running++
		default:
			out.Waiting++
		}
	}
	if best := v.Best(); best != nil {
		row := newTrialJSON(best, v)
		out.Best = &row
	}
	if v.Definition.Several() {
		front := newFront(v)
		out.Pareto = &front
	}
	return out
}

func (c *studyShowCmd) print(w io.Writer, v *store.View, out *shownStudy) error {
	var b strings.Builder
	width := outputWidth(w)
	row := func(name, format string, args ...any) { fold(&b, name, fmt.Sprintf(format, args...), width) }
	o, digits := v.Definition.Objective(), digitsOf(v)
	row("study", "%s  (created %s)", c.Study, v.Created.Local().Format(time.DateTime))
	for i, g := range v.Definition.Goals() {
		row([]string{"objective", ""}[min(i, 1)], "%s %s", g.Goal, g.Name)
	}
	added, stopped, infeasible := addedTrials(v), "", ""
	if out.Infeasible > 0 {
		infeasible = fmt.Sprintf(" (%d infeasible)", out.Infeasible)
	}
	if out.Stopped > 0 {
		stopped = fmt.Sprintf(" %d stopped,", out.Stopped)
	}
	row("trials", "%d of %d: %d complete%s, %d failed,%s %d running, %d waiting", finishedTrials(v), v.Definition.Budget+added, out.Complete, infeasible, out.Failed, stopped, out.Running, out.Waiting)
	if added > 0 {
		row("", "%d of them %s not count against the budget of %d", added, agree(added, "was added and does", "were added and do"), v.Definition.Budget)
	}
	left := v.LeftOut()
	if n := v.Unfit - left; n > 0 {
		row("", "%d of them %s never the best: %s; bo trials has the reasons", n,
			agree(n, "violates the constraints, counts in fits and is", "violate the constraints, count in fits and are"), unfitNumbers(v, true))
	}
	if left > 0 {
		row("", "%d of them %s left out of fits: %s; bo trials has the reasons", left,
			agree(left, "does not fit the present definition and is", "do not fit the present definition and are"), unfitNumbers(v, false))
	}
	if out.Ended != "" {
		row("ended", "%s", out.Ended)
	}
	if s := out.Selection; s != nil {
		row("selected", "%s: %s", s.Surrogate, s.Reason)
	}
	if v.Fitting != "" {
		row("fitting", "%s", printable(v.Fitting))
	}
	if best := v.Best(); best != nil {
		row("best", "%s  (trial %d)", digits.text(o.Name, best.Numbers[o.Name]), best.Number)
		row("at", "%s", paramsText(best.Params))
		if best.Message != "" {
			row("note", "%s", joinedLines(best.Message))
		}
	}
	if out.Pareto != nil && len(out.Pareto.Front) > 0 {
		row("front", "%s", frontLine(out.Pareto, v.Definition))
	}
	if out.Model != nil {
		out.Model.printRecommended(row)
	}
	const last = 5
	for i := max(0, len(v.Trials)-last); i < len(v.Trials); i++ {
		t := &v.Trials[i]
		name := ""
		if i == max(0, len(v.Trials)-last) {
			name = "last trials"
		}
		row(name, "%s", trialText(t, v, digits))
	}
	if out.Model != nil {
		out.Model.print(row, terminal(w) != nil, width)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
