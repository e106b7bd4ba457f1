package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

type runCmd struct {
	Objective string `group:"what" complete:"objectives" placeholder:"NAME" help:"Built-in objective to optimise, such as branin or ackley4 (see bo list objectives)."`
	Command   string `group:"what" placeholder:"LINE" help:"Program that evaluates the objective. It runs once for each trial, with {name} replaced by the value of the parameter."`
	Space     string `group:"what" placeholder:"FILE" help:"File with the parameters of --command: FILE.json, FILE.yaml or FILE.yml."`
	Maximize  bool   `group:"what" help:"Maximise the objective. The default is to minimise it."`
	NoiseFree bool   `group:"what" help:"Declare the objective exact: equal points give equal values. Built-in objectives are declared already."`

	Surrogate   string    `group:"how" complete:"surrogates" default:"gp" placeholder:"NAME" help:"Surrogate model of the objective (see bo list surrogates). Default: ${default}."`
	Acquisition string    `group:"how" complete:"acquisitions" placeholder:"NAME" default:"auto" help:"Acquisition function, which chooses the next points (see bo list acquisitions). Default: ${default}."`
	Set         []string  `group:"how" complete:"settings" sep:"none" placeholder:"KEY=VALUE" help:"Setting of the surrogate, acquisition.KEY=VALUE or maximizer.KEY=VALUE (see bo describe). May be repeated."`
	Warp        loop.Warp `group:"how" enum:"${warp_values}" default:"${warp_default}" placeholder:"NAME" help:"${warp_help}. Default: ${default}."`
	Budget      int       `group:"how" option:"budget" default:"${budget_default}" placeholder:"N" help:"${budget_help}. Default: ${default}."`
	Initial     *int      `group:"how" option:"initial" placeholder:"N" help:"${initial_help}. Default: ${initial_default}."`
	Batch       int       `group:"how" option:"batch" default:"${batch_default}" placeholder:"N" help:"${batch_help}. Default: ${default}."`
	Workers     int       `group:"how" option:"workers" default:"${workers_default}" placeholder:"N" help:"${workers_help}. Default: ${default}."`
	Seed        uint64    `group:"how" default:"${seed_default}" placeholder:"N" help:"${seed_help}. Default: ${default}."`

	Timeout time.Duration `group:"program" placeholder:"TIME" help:"Time limit of a trial, such as 90s or 2h. A trial that takes longer fails."`
	Shell   bool          `group:"program" help:"Run --command by a shell. Parameter values are never parsed as shell code."`

	JSON   bool   `group:"result" name:"json" help:"Print the result as one JSON object."`
	Trials string `group:"result" placeholder:"FILE" help:"Write one row for each trial to FILE.csv or FILE.jsonl, after each event. A file of another run is not overwritten."`
	State  string `group:"result" placeholder:"FILE" help:"Save the run to FILE after each event. The same command resumes the run."`
	Quiet  bool   `group:"result" help:"Print no progress and no warnings."`
}

func (runCmd) Help() string {
	return `Each {name} in --command is replaced by the value of the parameter, inside one argument. Standard input holds all parameters as one JSON object. The last line of output that is not blank must be a number, or a JSON object with a number under "value".

A trial fails if the program exits with an error, prints no finite number, or exceeds --timeout. A failed trial counts as a bad value, so later suggestions avoid its neighbourhood.

Blanks separate the arguments of --command, quotes group them, and {{ and }} stand for braces. No shell is started unless --shell is given.

Progress goes to standard error, the result to standard output. Ctrl-C ends the run and prints the result so far.

Examples:

    bo run --objective branin
    bo run --objective hartmann6 --surrogate fsp-laplace --budget 80
    bo run --command 'python train.py --lr {lr}' --space space.yaml --timeout 10m --state run.state
    bo run --command './simulate' --space space.json --batch 4 --workers 4 --trials trials.csv`
}

func (c *runCmd) check() error {
	switch {
	case c.Initial != nil && *c.Initial > c.Budget:
		return usagef("--initial %d is more than --budget %d", *c.Initial, c.Budget)
	case c.Batch > c.Budget:
		return usagef("--batch %d is more than --budget %d", c.Batch, c.Budget)
	case c.State != "" && c.Trials != "" && filepath.Clean(c.State) == filepath.Clean(c.Trials):
		return usagef("--state and --trials are one file, %s", c.State)
	}
	return nil
}

func (c *runCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	s := &session{runCmd: c, e: e}
	var err error
	if c.Trials != "" {
		if s.writeRows, err = trialWriter(c.Trials); err != nil {
			return err
		}
	}
	if s.target, err = c.target(); err != nil {
		return err
	}
	m, err := newMethod(c.Surrogate, &c.Acquisition, c.Set)
	if err != nil {
		return err
	}
	if err := check(m, s.target.space.Dim()); err != nil {
		return err
	}
	if err := s.open(m); err != nil {
		return err
	}
	return s.run()
}

// arguments lists the flags on which suggestions and values depend.
func (c *runCmd) arguments(t *target, m *catalog.Method) []argument {
	s, err := json.Marshal(t.space)
	if err != nil {
		panic(err)
	}
	initial := ""
	if c.Initial != nil {
		initial = fmt.Sprint(*c.Initial)
	}
	args := []argument{
		{"--objective", c.Objective}, {"--command", c.Command}, {"--shell", fmt.Sprint(c.Shell)}, {"--space", string(s)},
		{"--maximize", fmt.Sprint(c.Maximize)}, {"--noise-free", fmt.Sprint(c.NoiseFree)},
		{"--surrogate", c.Surrogate}, {"--acquisition", c.Acquisition}, {"--warp", string(c.Warp)},
		{"--initial", initial}, {"--batch", fmt.Sprint(c.Batch)}, {"--seed", fmt.Sprint(c.Seed)},
	}
	for _, s := range m.Settings() {
		args = append(args, argument{"--set " + s.Key, s.Value})
	}
	return args
}

// runResult is the object of --json.
type runResult struct {
	Objective   string    `json:"objective"`
	Direction   string    `json:"direction"`
	Surrogate   string    `json:"surrogate"`
	Acquisition string    `json:"acquisition"`
	Seed        uint64    `json:"seed"`
	Trials      int       `json:"trials"`
	Best        bestTrial `json:"best"`
	Regret      *float64  `json:"regret,omitempty"`
	ElapsedS    float64   `json:"elapsed_s"`
}

type bestTrial struct {
	Trial  int         `json:"trial"`
	Params space.Point `json:"params"`
	Value  float64     `json:"value"`
}

func (c *runCmd) print(w io.Writer, t *target, r loop.Result, elapsed float64, spent map[string]float64) error {
	out := runResult{
		Objective: t.name, Direction: "minimize", Surrogate: c.Surrogate, Acquisition: c.Acquisition, Seed: c.Seed,
		Trials: finishedTrials(r.Trials), Best: bestTrial{r.Best.ID, r.Best.Point, r.Best.Value}, ElapsedS: elapsed,
	}
	if c.Maximize {
		out.Direction = "maximize"
	}
	if t.minimum != nil {
		regret := r.Best.Value - *t.minimum
		out.Regret = &regret
	}
	if c.JSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(out)
	}
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("best value", "%s  (trial %d of %d)", short(r.Best.Value), r.Best.ID, out.Trials)
	row("at", "%s", display(r.Best.Point))
	if out.Regret != nil {
		row("regret", "%.3g  (the minimum is %s)", *out.Regret, short(*t.minimum))
	}
	if m := r.Recommendation.Model; m.Trial.ID != 0 && m.Trial.ID != r.Best.ID {
		row("recommended", "trial %d, where the surrogate expects %s ± %.2g: the best value may be luck", m.Trial.ID, short(m.Mean), m.SD)
		row("at", "%s", display(m.Trial.Point))
	}
	failed := 0
	for _, t := range r.Trials {
		if t.State == loop.Failed {
			failed++
		}
	}
	if failed > 0 {
		row("failed", "%d of %d trials", failed, out.Trials)
	}
	row("elapsed", "%s  (fit %s, suggest %s, evaluate %s)", duration(elapsed), duration(spent["fit"]), duration(spent["suggest"]), duration(spent["evaluate"]))
	_, err := io.WriteString(w, b.String())
	return err
}

// display formats the parameters of p with six digits.
func display(p space.Point) string {
	var parts []string
	for _, q := range p.Space().Parameters() {
		text := p.Text(q.Name)
		if x, ok := p.Value(q.Name).(float64); ok {
			text = short(x)
		}
		parts = append(parts, q.Name+"="+text)
	}
	return strings.Join(parts, " ")
}
