package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

type runCmd struct {
	File string `arg:"" optional:"" placeholder:"STUDY.yaml" help:"The study file: FILE.yaml, FILE.yml or FILE.json. Flags override it until the study is stored."`

	Objective string   `group:"what" complete:"objectives" placeholder:"NAME" help:"Built-in objective to optimise, such as branin or ackley4 (see bo list objectives)."`
	Command   string   `group:"what" placeholder:"LINE" help:"Program that evaluates the objective. It runs once for each trial, with {name} replaced by the value of the parameter."`
	Space     string   `group:"what" placeholder:"FILE" help:"File with the parameters of --command: FILE.json, FILE.yaml or FILE.yml."`
	Maximize  bool     `group:"what" help:"Maximise the objective. The default is to minimise it."`
	NoiseFree bool     `group:"what" help:"Declare the objective exact: equal points give equal values. Built-in objectives are declared already."`
	NoiseSD   *float64 `group:"what" name:"noise-sd" placeholder:"S" help:"Standard deviation of the noise of a value, in its unit, if you know it. Default: estimated."`

	Surrogate   *string    `group:"how" complete:"surrogates" placeholder:"NAME" help:"Surrogate model of the objective (see bo list surrogates). Default: gp."`
	Acquisition *string    `group:"how" complete:"acquisitions" placeholder:"NAME" help:"Acquisition function, which chooses the next points (see bo list acquisitions). Default: auto."`
	Set         []string   `group:"how" complete:"settings" sep:"none" placeholder:"KEY=VALUE" help:"Setting of the surrogate, acquisition.KEY=VALUE or maximizer.KEY=VALUE (see bo describe). May be repeated."`
	Warp        loop.Warp  `group:"how" enum:",${warp_values}" default:"" placeholder:"NAME" help:"${warp_help}. Default: ${warp_default}."`
	Local       loop.Local `group:"how" enum:",${local_values}" default:"" placeholder:"NAME" help:"${local_help}. Default: ${local_default}."`
	PriorMean   *string    `group:"how" placeholder:"EXPRESSION" help:"Prior mean function of the objective, such as '3 + 2*log(lr)'. Default: a constant that is estimated."`
	Optimum     []string   `group:"how" sep:"none" placeholder:"NAME=BELIEF" help:"Belief about the optimum: lr=0.001:3 (factor 3 is one standard deviation of a logarithmic parameter), depth=4:1 (1 is one standard deviation) or opt=adam:0.7,sgd:0.2 (probabilities). May be repeated."`
	First       []string   `group:"how" sep:"none" placeholder:"'NAME=VALUE …'" help:"Point to try first; parameters that are left out are completed by the initial design. May be repeated."`
	Earlier     string     `group:"how" placeholder:"FILE.csv" help:"Table of evaluations made before the study. They do not count against the budget."`
	Budget      *int       `group:"how" option:"budget" placeholder:"N" help:"${budget_help}. Default: ${budget_default}."`
	Initial     *int       `group:"how" option:"initial" placeholder:"N" help:"${initial_help}. Default: ${initial_default}."`
	Batch       *int       `group:"how" option:"batch" placeholder:"N" help:"Suggest N trials together and wait for all of them, so that results do not depend on --workers. Default: none, and no worker waits for another."`
	Workers     *int       `group:"how" option:"workers" placeholder:"N" help:"${workers_help}. Default: ${workers_default}."`
	Seed        *uint64    `group:"how" placeholder:"N" help:"${seed_help}. Default: ${seed_default}."`

	Time        time.Duration `group:"end" placeholder:"TIME" help:"Start no trial after TIME, such as 90m or 2h. Trials that run at that time are completed."`
	Target      *float64      `group:"end" placeholder:"VALUE" help:"End the run when a trial is at least as good as VALUE."`
	MaxFailures int           `group:"end" min:"1" placeholder:"N" default:"0" help:"End the run when more than N trials have failed."`
	Cost        string        `group:"end" placeholder:"'NAME <= LIMIT'" help:"Start no trial when the sum of a number that the program reports has reached LIMIT, such as 'dollars <= 50'."`
	Regret      float64       `group:"end" placeholder:"VALUE" default:"0" help:"End the run when the best trial is at most VALUE from the optimum with --probability, as the surrogate model estimates it. Estimates take time."`
	Probability float64       `group:"end" placeholder:"P" default:"0" help:"Probability of --regret, 0.5 to 0.99. Default: 0.95."`

	Stop    *string       `group:"program" placeholder:"RULE" help:"Rule that stops poor trials early, from the steps that the program reports: asha, median or none; a study file has its settings. Default: none."`
	Timeout time.Duration `group:"program" placeholder:"TIME" help:"Time limit of a trial, such as 90s or 2h. A trial that takes longer fails."`
	Shell   bool          `group:"program" help:"Run --command with a shell. Parameter values are never parsed as shell code."`

	storeFlags
	Study string `group:"store" complete:"studies" placeholder:"NAME" help:"Store the study under NAME. The same command resumes it, and other processes may join. The study of a file is always stored."`

	JSON   bool   `group:"result" name:"json" help:"Print the result as one JSON object."`
	Trials string `group:"result" placeholder:"FILE" help:"Write one row for each trial to FILE.csv or FILE.jsonl, as trials end. A file of another run is not overwritten."`
	Events string `group:"result" placeholder:"FILE" help:"Append the events of the study to FILE, one JSON object per line; - is standard output."`
	Quiet  bool   `group:"result" help:"Print no progress and no warnings."`
}

func (runCmd) Help() string {
	return `A study file (bo init writes one), --objective, or --command with --space defines the objective.

Each {name} in --command is replaced by the value of the parameter, inside one argument. Standard input holds all parameters as one JSON object, and the study, trial and attempt under "bo"; {bo.trial}, BO_STUDY, BO_TRIAL and BO_ATTEMPT name them too. The last line of output that is not blank must be a number, or a JSON object of numbers with the objectives and the numbers of require among them.

A program may report its progress on lines such as {"step": 3, "value": 0.41}, or with the name of the objective in place of "value". With --stop, poor trials are stopped: the program gets SIGTERM and, ten seconds later, SIGKILL, with all processes of its group.

A trial fails if the program exits with an error, prints no finite number, or exceeds --timeout. The probability of a failure is learned, so later suggestions avoid points that are likely to fail. Three first trials that fail alike end the run.

Blanks separate the arguments of --command, quotes group them, and {{ and }} stand for braces. No shell is started unless --shell is given.

With a study file or --study, the study is stored. The same command resumes it after an interrupt or a crash. Several processes that run the same study share its trials.

Progress goes to standard error, the result to standard output. Ctrl-C ends the run and prints the result so far.

Examples:

    bo run study.yaml
    bo run --objective branin
    bo run --objective hartmann6 --surrogate fsp-laplace --budget 80
    bo run --command 'python train.py --lr {lr}' --space space.yaml --timeout 10m --study resnet
    bo run study.yaml --store postgres://user@host/database --workers 4`
}

func (c *runCmd) Run(e *env) error {
	s := &session{runCmd: c, e: e}
	defer s.close()
	for _, step := range []func() error{s.define, s.open, s.prepare} {
		if err := step(); err != nil {
			return err
		}
	}
	return s.run()
}

// runResult is the object of --json.
type runResult struct {
	Study       string       `json:"study,omitempty"`
	Objective   string       `json:"objective"`
	Direction   string       `json:"direction"`
	Surrogate   string       `json:"surrogate"`
	Acquisition string       `json:"acquisition"`
	Seed        uint64       `json:"seed"`
	Trials      int          `json:"trials"` // finished
	Failed      int          `json:"failed"`
	StoppedN    int          `json:"stopped_trials,omitempty"` // trials that the stopping rule ended
	Best        *bestTrial   `json:"best,omitempty"`           // absent with several objectives
	Pareto      *frontJSON   `json:"pareto,omitempty"`         // of several objectives
	Recommended *recommended `json:"recommended,omitempty"`
	Regret      *float64     `json:"regret,omitempty"`
	// Estimate is the last estimate of the regret, with --regret.
	Estimate *study.Regret `json:"regret_estimate,omitempty"`
	// Selection is the model that the surrogate auto selected for the last suggestion.
	Selection   *surrogate.Selection `json:"selection,omitempty"`
	Incumbents  []bestTrial          `json:"incumbents"`
	Warnings    []string             `json:"warnings,omitempty"`
	Interrupted bool                 `json:"interrupted,omitempty"`
	Stopped     string               `json:"stopped,omitempty"` // reason for the end of the run ahead of the budget
	ElapsedS    float64              `json:"elapsed_s"`
}

type bestTrial struct {
	Trial  int             `json:"trial"`
	Params json.RawMessage `json:"params"`
	Value  float64         `json:"value"`
	// Numbers are all reported numbers of a study with requirements, and Feasible reports
	// whether they are met.
	Numbers  map[string]float64 `json:"numbers,omitempty"`
	Feasible *bool              `json:"feasible,omitempty"`
	// Message is the note on the numbers.
	Message string `json:"message,omitempty"`
}

// recommended is the trial with the best posterior mean.
type recommended struct {
	Trial  int             `json:"trial"`
	Params json.RawMessage `json:"params"`
	Mean   float64         `json:"mean"`
	SD     float64         `json:"sd"`
	// Feasible is the probability that the requirements are met; nil without requirements.
	Feasible *float64 `json:"feasible,omitempty"`
}

func newRecommended(e *loop.Estimate, o *loop.Options) (*recommended, error) {
	params, err := json.Marshal(e.Trial.Point)
	out := &recommended{Trial: e.Trial.ID, Params: params, Mean: e.Mean, SD: e.SD}
	if len(o.Require) > 0 {
		out.Feasible = &e.Feasible
	}
	return out, err
}

// newBest returns a complete trial in the object of --json.
func newBest(t *store.Trial, d *study.Definition) bestTrial {
	b := bestTrial{Trial: t.Number, Params: t.Params, Value: t.Numbers[d.Objective().Name], Message: t.Message}
	if len(d.Require) > 0 {
		feasible := d.Feasible(t.Numbers)
		b.Numbers, b.Feasible = t.Numbers, &feasible
	}
	return b
}

// result returns the object of --json.
func (s *session) result(v *store.View, elapsed float64) *runResult {
	o := s.definition.Objective()
	out := &runResult{
		Objective: s.target.name, Direction: o.Goal, Surrogate: s.definition.SurrogateName(),
		Acquisition: s.definition.AcquisitionName(), Seed: s.definition.Seed, ElapsedS: elapsed,
		Incumbents: []bestTrial{},
	}
	out.Selection = selectionOf(lastSuggested(v))
	if s.kept {
		out.Study = s.study.Name()
	}
	for i := range v.Trials {
		t := &v.Trials[i]
		value, ok := t.Numbers[o.Name]
		switch {
		case t.State == store.Pending:
			continue
		case t.State == store.Complete && ok:
			n := len(out.Incumbents)
			if v.Definition.Several() || !v.Feasible(t) || v.Points[i].Space() == nil {
				break
			}
			if n == 0 || o.Goal == study.Maximize && value > out.Incumbents[n-1].Value || o.Goal != study.Maximize && value < out.Incumbents[n-1].Value {
				out.Incumbents = append(out.Incumbents, newBest(t, v.Definition))
			}
		case t.State == store.Stopped:
			out.StoppedN++
		default:
			out.Failed++
		}
		out.Trials++
		out.Warnings = addNew(out.Warnings, t.Warnings...)
	}
	if best := v.Best(); best != nil {
		b := newBest(best, v.Definition)
		out.Best = &b
	}
	if v.Definition.Several() {
		front := newFront(v)
		out.Pareto = &front
	}
	if s.target.minimum != nil && out.Best != nil {
		regret := out.Best.Value - *s.target.minimum
		out.Regret = &regret
	}
	return out
}

// recommendsOther reports whether the front of the posterior means differs from the front of the values.
func (p *frontJSON) recommendsOther() bool {
	return p.Model != nil && !slices.EqualFunc(p.Model, p.Front, func(a study.FrontEstimate, b trialJSON) bool { return a.Trial == b.Trial })
}

// joinTrials lists the trials of a front.
func joinTrials(front []study.FrontEstimate) string {
	var names []string
	for _, e := range front {
		names = append(names, strconv.Itoa(e.Trial))
	}
	return strings.Join(names, ", ")
}

// namedLines collects lines of a name and a text.
type namedLines struct{ strings.Builder }

func (b *namedLines) add(name, format string, args ...any) {
	fmt.Fprintf(b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
}

// print writes the result of the run.
func (s *session) print(w io.Writer, out *runResult) error {
	if s.JSON {
		return printJSON(w, out)
	}
	var b namedLines
	if out.Best != nil {
		s.bestRows(&b, out)
	}
	if out.Pareto != nil {
		s.frontRows(&b, out)
	}
	if out.Regret != nil {
		b.add("regret", "%.3g  (the minimum is %s)", *out.Regret, short(*s.target.minimum))
	}
	if e := out.Estimate; e != nil {
		b.add("estimate", "%s", regretText(e))
	}
	if r := out.Recommended; r != nil && out.Best != nil && r.Trial != out.Best.Trial {
		b.add("recommended", "trial %d, with the best posterior mean %s: the best value may be luck", r.Trial, figures.Mean(r.Mean, r.SD))
		b.add("at", "%s", paramsText(r.Params))
	}
	if sel := out.Selection; sel != nil {
		b.add("selected", "%s: %s", sel.Surrogate, sel.Reason)
	}
	if out.Failed > 0 {
		b.add("failed", "%d of %d trials", out.Failed, out.Trials)
	}
	if out.StoppedN > 0 {
		b.add("ended early", "%d of %d trials, by the stopping rule", out.StoppedN, out.Trials)
	}
	if out.Stopped != "" {
		b.add("stopped", "%s", out.Stopped)
	}
	spent := s.bar.spent
	b.add("elapsed", "%s  (fit %s, suggest %s, evaluate %s)", duration(out.ElapsedS), duration(spent["fit"]), duration(spent["suggest"]), duration(spent["evaluate"]))
	_, err := io.WriteString(w, b.String())
	return err
}

// bestRows writes the best trial.
func (s *session) bestRows(b *namedLines, out *runResult) {
	best := out.Best
	b.add("best value", "%s  (trial %d of %d)", short(best.Value), best.Trial, out.Trials)
	b.add("at", "%s", paramsText(best.Params))
	if best.Message != "" {
		b.add("note", "%s", joinedLines(best.Message))
	}
	if f := best.Feasible; f != nil && !*f {
		b.add("infeasible", "no trial meets %s: this one violates it least", strings.Join(s.definition.Require, " and "))
	}
}

// frontRows writes the Pareto front.
func (s *session) frontRows(b *namedLines, out *runResult) {
	p := out.Pareto
	b.add("front", "%d of %d trials", len(p.Front), out.Trials)
	for _, t := range p.Front {
		var parts []string
		for _, name := range s.definition.Declared() {
			parts = append(parts, name+" "+short(t.Numbers[name]))
		}
		b.add(fmt.Sprintf("  trial %d", t.Trial), "%s  at %s", strings.Join(parts, "  "), paramsText(t.Params))
	}
	if n := len(p.Hypervolume); n > 0 {
		b.add("hypervolume", "%s%s", short(p.Hypervolume[n-1]), referenceText(p, s.definition))
	}
	if p.recommendsOther() {
		b.add("recommended", "trials %s, the front of the posterior means: observed values may be luck", joinTrials(p.Model))
	}
}

// regretText describes an estimate of the regret.
func regretText(e *study.Regret) string {
	return fmt.Sprintf("trial %d is at most %s from the optimum with probability %v (expected %s), by the surrogate model",
		e.Trial, figures.Format(e.Bound, 3), e.Probability, figures.Format(e.Mean, 3))
}
