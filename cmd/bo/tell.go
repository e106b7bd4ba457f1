package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/functionspace/bo/internal/strictjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

type tellCmd struct {
	storeFlags
	Study   string   `arg:"" complete:"studies" help:"Name of the study."`
	Trial   int      `arg:"" optional:"" help:"Number of the trial."`
	Value   []string `arg:"" optional:"" help:"The objective, or numbers by name: NAME=VALUE words, or one JSON object such as {\"loss\": 0.1, \"seconds\": 12}."`
	Table   string   `group:"data" placeholder:"FILE" help:"CSV table of results instead: the table of bo trials --format csv with the numbers filled in."`
	Move    bool     `group:"data" help:"With --table: a row with other values of parameters than the suggested ones has the result at its own values."`
	Step    *float64 `placeholder:"STEP" help:"Report the objective at a step, such as an epoch, of a trial that runs, and print continue or stop."`
	At      []string `sep:"none" placeholder:"NAME=VALUE" help:"Value of a parameter at which the trial was evaluated, if it differs from the suggested value. May be repeated."`
	Note    string   `placeholder:"TEXT" help:"Note on the result, which bo trials and reports show."`
	Correct bool     `help:"Replace the numbers of a finished trial. Numbers and a note that are not given stay."`
	Key     string   `placeholder:"TEXT" help:"Name of the request. A repeated request with the same name changes nothing."`
	JSON    bool     `group:"result" name:"json" help:"Print the stored trial as JSON."`
}

func (tellCmd) Help() string {
	return `A recorded result changes only with --correct. The former result stays in the history of the study.

With --table the results stand in a CSV table, as bo trials --format csv prints it: a row for each trial, with its number in the column trial, its numbers in further columns, and failed in the column state of a trial that failed. Rows without any number of the objectives, of their standard errors and of require are left out, and so are results that are recorded already. A row with a part of them and the state pending waits for the others. If a row has a fault, nothing is recorded. Other values of parameters than the suggested ones are a fault; with --move they are the values at which the trial was evaluated.

Examples:

    bo tell bread 1 7.5
    bo tell bread 2 taste=7.5 seconds=12
    bo tell bread 2 '{"taste": 7.5, "seconds": 12}' --note "flour of the new mill"
    bo tell bread 3 7 --at degrees=210 --at minutes=50
    bo tell bread 2 taste=5.7 --correct
    bo trials bread --format csv > bread.csv
    bo tell bread --table bread.csv
    bo tell bread --table bread.csv --move`
}

func (c *tellCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		d, sp, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		if c.Table != "" {
			return c.tellTable(e, u, d)
		}
		if c.Move {
			return usagef("--move is for --table: state other values of one trial with --at")
		}
		if c.Trial == 0 && c.Value == nil {
			return usagef("the number of the trial is missing, such as bo tell %s 1 %s", c.Study, shellWord(d.Objective().Name+"=12.6"))
		}
		if c.Step != nil {
			return c.report(e, u)
		}
		if len(c.Value) == 0 && !(c.Correct && (c.Note != "" || c.At != nil)) {
			return usagef("the value is missing, such as bo tell %s %d %s", c.Study, c.Trial, shellWord(d.Objective().Name+"=12.6"))
		}
		numbers, err := parseNumbers(c.Value, d.Objective().Name)
		if err != nil {
			return usageError{err}
		}
		at, err := parseFlag(sp, "--at", c.At)
		if err != nil {
			return err
		}
		return tellTrial(e, u, store.Report{Trial: c.Trial, Numbers: numbers, Message: c.Note, Key: c.Key, At: at, Correct: c.Correct}, c.JSON)
	})
}

// report records a step and prints the decision of the stopping rule.
func (c *tellCmd) report(e *env, u *store.Study) error {
	text := strings.Join(c.Value, " ")
	value, err := strconv.ParseFloat(text, 64)
	switch {
	case c.Key != "":
		return usagef("--key is not for --step: a repeated step changes nothing")
	case c.Correct:
		return usagef("--correct is not for --step: recorded steps do not change")
	case c.Note != "":
		return usagef("--note is not for --step: state it with the result")
	case c.At != nil:
		return usagef("--at is not for --step: state it with the result")
	case err != nil && !math.IsInf(value, 0):
		return usagef("the value is %s, want a number", brief(text))
	}
	t, err := u.ReportSteps(e.ctx, store.Attempt{Trial: c.Trial}, loop.Step{Step: *c.Step, Value: value})
	if err != nil {
		return asRefusal(asUsage(err, store.ErrNoTrial, loop.ErrNotFinite), store.ErrConflict)
	}
	stop := t.State == store.Stopped
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"trial": c.Trial, "step": *c.Step, "stop": stop, "reason": t.Message})
	}
	word := "continue"
	if stop {
		word = "stop: " + oneLine(t.Message)
	}
	_, err = fmt.Fprintln(e.stdout, word)
	return err
}

// parseNumbers reads a number, which is the objective, NAME=VALUE words, or a JSON object of numbers.
func parseNumbers(words []string, objective string) (map[string]float64, error) {
	if len(words) == 0 {
		return nil, nil
	}
	text := words[0]
	if len(words) > 1 || strings.Contains(text, "=") && !strings.HasPrefix(strings.TrimSpace(text), "{") {
		if _, err := parseNumber(text); err == nil {
			return nil, fmt.Errorf("the value is %s: several numbers need names, such as %s", brief(strings.Join(words, " ")), shellWord(objective+"="+text))
		}
		return parseNamed(words)
	}
	if y, err := parseNumber(text); err == nil {
		return map[string]float64{objective: y}, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil || members == nil {
		return nil, fmt.Errorf("the value is %s, want a number such as 12.6, or a JSON object of numbers", brief(text))
	}
	numbers := make(map[string]float64, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var v *float64
		if err := json.Unmarshal(members[name], &v); err != nil || v == nil {
			return nil, fmt.Errorf("the value is %s: %s is %s, want a number such as 12.6", brief(text), name, members[name])
		}
		numbers[name] = *v
	}
	if err := strictjson.Repeated([]byte(text)); err != nil {
		return nil, fmt.Errorf("the value is %s: %w", brief(text), err)
	}
	return numbers, nil
}

// parseNamed reads NAME=VALUE words.
func parseNamed(words []string) (map[string]float64, error) {
	numbers := map[string]float64{}
	for _, w := range words {
		name, text, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("the value is %s, want NAME=VALUE", brief(w))
		}
		if _, twice := numbers[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		y, err := parseNumber(text)
		if err != nil {
			return nil, fmt.Errorf("the value is %s: %s is %s, want a number such as 12.6", brief(w), name, brief(text))
		}
		numbers[name] = y
	}
	return numbers, nil
}

// parseNumber reads a finite number.
func parseNumber(text string) (float64, error) {
	y, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && (math.IsNaN(y) || math.IsInf(y, 0)) {
		err = errors.New("not finite")
	}
	return y, err
}

// parseFlag reads the NAME=VALUE words of a flag.
func parseFlag(s *space.Space, flag string, words []string) (map[string]any, error) {
	values, err := parseValues(s, words)
	if err != nil {
		return nil, usagef("%s: %w", flag, err)
	}
	return values, nil
}

func tellTrial(e *env, u *store.Study, r store.Report, asJSON bool) error {
	told, err := u.Tell(e.ctx, r)
	if errors.Is(err, store.ErrConflict) {
		now, _, unread := u.Trial(e.ctx, r.Trial)
		if !r.Correct && r.Key == "" && unread == nil && now.State != store.Stopped {
			err = fmt.Errorf("%w; --correct replaces a result", err)
		}
		return refusal{err}
	}
	if err != nil {
		return asUsage(err, store.ErrNoTrial, loop.ErrNotFinite, space.ErrPoint)
	}
	if r.Message != "" && r.Message != told.Message && len(r.Message) <= store.MaxMessage { // a longer one is cut
		ended, kept := "ended", "note"
		if told.State == store.Failed {
			ended, kept = "failed", "reason"
		}
		fmt.Fprintf(e.stderr, "bo: trial %d %s at %s already, and keeps the first %s: %s was not recorded\n",
			told.Number, ended, told.Finished.UTC().Format(time.RFC3339), kept, brief(r.Message))
	}
	d, _, err := u.Definition(e.ctx)
	if err != nil {
		return err
	}
	if text := unreadText(&told, d); text != "" {
		fmt.Fprintf(e.stderr, "bo: warning: trial %d: %s\n", told.Number, text)
	}
	v := &store.View{Definition: d}
	if asJSON {
		return printJSON(e.stdout, newTrialJSON(&told, v))
	}
	_, err = fmt.Fprintf(e.stdout, "trial %s\n", strings.TrimSpace(trialText(&told, v, nil)))
	return err
}

// unreadText is the warning of study.Definition.Unread about a complete trial; "" for other trials.
func unreadText(t *store.Trial, d *study.Definition) string {
	if t.State != store.Complete {
		return ""
	}
	return d.Unread(t.Numbers)
}

type failCmd struct {
	storeFlags
	Study   string   `arg:"" complete:"studies" help:"Name of the study."`
	Trial   int      `arg:"" help:"Number of the trial."`
	Message string   `arg:"" optional:"" help:"Reason of the failure."`
	Lost    bool     `help:"The result was lost for a reason other than the parameters, such as a broken instrument: fits leave the trial out."`
	At      []string `sep:"none" placeholder:"NAME=VALUE" help:"Value of a parameter at which the trial was evaluated, if it differs from the suggested value. May be repeated."`
	Correct bool     `help:"Replace the result of a finished trial."`
	JSON    bool     `group:"result" name:"json" help:"Print the stored trial as JSON."`
}

func (failCmd) Help() string {
	return `The model expects failures near a failed trial, and avoids such points. It ignores a trial that failed with --lost, and bo tell can still record the result of that trial.

Examples:

    bo fail bread 2 "the dough did not rise"
    bo fail bread 3 "the oven broke" --lost
    bo fail bread 1 "no salt by mistake" --lost --correct`
}

func (c *failCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		kind := store.FailedByProgram
		if c.Lost {
			kind = store.Lost
		}
		_, sp, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		at, err := parseFlag(sp, "--at", c.At)
		if err != nil {
			return err
		}
		return tellTrial(e, u, store.Report{Trial: c.Trial, Failure: kind, Message: c.Message, At: at, Correct: c.Correct}, c.JSON)
	})
}
