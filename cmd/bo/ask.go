package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/functionspace/bo/internal/figures"
	"github.com/functionspace/bo/internal/flatjson"
	"github.com/functionspace/bo/internal/strictjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// trialJSON is a trial in the output of the verbs.
type trialJSON struct {
	Trial   int                `json:"trial"`
	Params  json.RawMessage    `json:"params"`
	Value   *float64           `json:"value"` // value of the objective; null unless complete
	State   store.State        `json:"state"`
	Numbers map[string]float64 `json:"numbers,omitempty"`
	// Feasible reports whether a complete trial meets the requirements; nil without
	// requirements.
	Feasible *bool `json:"feasible,omitempty"`
	// Front reports whether the trial is on the Pareto front; false for one objective.
	Front   bool          `json:"front,omitempty"`
	Failure store.Failure `json:"failure,omitempty"`
	Message string        `json:"message,omitempty"`
	Source  loop.Source   `json:"source"`
	Attempt int           `json:"attempt,omitempty"`
	Worker  string        `json:"worker,omitempty"`
	Seconds float64       `json:"seconds,omitempty"`
	// Steps has the values of the objective that the last attempt reported, in the order of arrival. Only
	// bo trials prints them.
	Steps []loop.Step `json:"steps,omitempty"`
}

func newTrialJSON(t *store.Trial, v *store.View) trialJSON {
	row := trialJSON{
		Trial: t.Number, Params: t.Params, State: t.State, Numbers: t.Numbers, Failure: t.Failure, Message: t.Message,
		Source: t.Source, Attempt: t.Attempt, Seconds: t.Seconds,
	}
	if t.Running(v.Now) {
		row.Worker = t.Owner.Name
	}
	if value, ok := t.Numbers[v.Definition.Objective().Name]; ok && t.State == store.Complete {
		row.Value = &value
		if v.Definition.Several() {
			row.Value = nil // no single number is the value
		}
		if len(v.Definition.Require) > 0 {
			feasible := v.Feasible(t)
			row.Feasible = &feasible
		}
	}
	return row
}

// trialText describes a trial on one line.
func trialText(t *store.Trial, v *store.View, digits numberDigits) string {
	number := strconv.Itoa(t.Number)
	head := strings.Repeat(" ", max(0, 4-len(number))) + number + "  " + paramsText(t.Params) + "  "
	switch value, ok := t.Numbers[v.Definition.Objective().Name]; {
	case t.State == store.Complete && ok:
		return head + numbersText(t, v.Definition, value, digits)
	case t.State == store.Complete:
		return head + "complete without " + v.Definition.Objective().Name
	case t.State != store.Pending && t.Message == "":
		return head + string(t.State)
	case t.State != store.Pending:
		return head + string(t.State) + ": " + oneLine(t.Message)
	case t.Running(v.Now):
		return head + "running on " + t.Owner.Name
	}
	return head + "waiting"
}

// numbersText writes the value of the objective, or the declared numbers by name if there are
// several, and whether the trial is infeasible.
func numbersText(t *store.Trial, d *study.Definition, value float64, digits numberDigits) string {
	declared := d.Declared()
	if len(declared) == 1 && len(d.Require) == 0 {
		return digits.text(declared[0], value)
	}
	var parts []string
	for _, name := range declared {
		if x, ok := t.Numbers[name]; ok {
			parts = append(parts, name+" "+digits.text(name, x))
		} else {
			parts = append(parts, "no "+name)
		}
	}
	if d.Missing(t.Numbers) == nil && !d.Feasible(t.Numbers) {
		parts = append(parts, "(infeasible)")
	}
	return strings.Join(parts, "  ")
}

// resultText is numbersText of a trial of a run. A single objective without requirements has the name "value".
func resultText(t *store.Trial, d *study.Definition) string {
	value := t.Numbers[d.Objective().Name]
	if len(d.Declared()) == 1 && len(d.Require) == 0 {
		return "value " + short(value)
	}
	return numbersText(t, d, value, nil)
}

// numberDigits is the number of significant digits of numbers that trials report, by name; six if it is missing.
type numberDigits map[string]int

// digitsOf returns the digits that tell the values of a study apart.
func digitsOf(v *store.View) numberDigits {
	out := numberDigits{}
	for _, name := range v.Definition.Declared() {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range v.Trials {
			if x, ok := v.Trials[i].Numbers[name]; ok && v.Trials[i].State == store.Complete {
				low, high = min(low, x), max(high, x)
			}
		}
		out[name] = figures.Resolve(shortDigits, low, high)
	}
	return out
}

func (d numberDigits) text(name string, x float64) string {
	return figures.Format(x, cmp.Or(d[name], shortDigits))
}

// paramsText writes parameters as name=value in the order of the study, numbers with six digits.
func paramsText(params json.RawMessage) string {
	var text []byte
	read := flatjson.Each(string(params), func(name string, v flatjson.Value) {
		if len(text) > 0 {
			text = append(text, ' ')
		}
		text = append(append(text, name...), '=')
		if v.Kind == flatjson.Number {
			text = appendShort(text, v.Number)
		} else {
			text = fmt.Append(text, v.Any())
		}
	})
	if read {
		return string(text)
	}
	return eachParam(params, func(n json.Number) string {
		x, _ := n.Float64()
		return short(x)
	})
}

type askCmd struct {
	storeFlags
	Study string        `arg:"" complete:"studies" help:"Name of the study."`
	N     int           `name:"number" short:"n" group:"how" default:"1" min:"1" max:"10000" placeholder:"N" help:"Number of trials. Default: ${default}."`
	Lease time.Duration `group:"how" placeholder:"TIME" help:"Issue a trial again, as its next attempt, if it has no result after TIME, such as 24h. Default: never."`
	JSON  bool          `group:"result" name:"json" help:"Print a JSON array of objects with trial and params."`
}

func (askCmd) Help() string {
	return `Issues trials to a person or a program that reports each result with bo tell or bo fail. Trials that wait are issued first: enqueued trials, and trials whose lease has ended, under their numbers as the next attempt. A trial that is lost three times fails. A result that arrives late counts if the trial has none. In a study with batches, bo ask waits until all trials of a batch have a result before it issues the next one.

Examples:

    bo ask bread
    bo ask bread -n 4 --lease 24h --json`
}

func (c *askCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		var trials []store.Trial
		waiting := time.AfterFunc(waitNotice, func() { reportPendingBatch(e, u) })
		err := heed(e.ctx, func() (err error) {
			trials, err = u.AskFor(e.ctx, c.N, "bo ask", c.Lease)
			return err
		})
		waiting.Stop()
		if err != nil {
			return asRefusal(err, store.ErrBudget, store.ErrExhausted)
		}
		if len(trials) < c.N {
			v, err := u.Brief(e.ctx)
			if err != nil {
				return err
			}
			reason := "the study has no more, by its budget or because every other point has a trial"
			if b := v.Definition.Batch; b > 0 && len(v.Trials)-addedTrials(v) < v.Definition.Budget {
				reason = fmt.Sprintf("the next batch of %d begins when all issued trials have a result or have failed", b)
			}
			fmt.Fprintf(e.stderr, "bo: %d of %d trials: %s\n", len(trials), c.N, reason)
		}
		if ended, err := endOf(e.ctx, u, c.Study); err == nil && ended != "" { // the trials are issued in any case
			fmt.Fprintf(e.stderr, "bo: %s: further trials are not necessary\n", ended)
		}
		if c.JSON {
			type asked struct {
				Trial  int             `json:"trial"`
				Params json.RawMessage `json:"params"`
				Source loop.Source     `json:"source"`
			}
			out := make([]asked, len(trials))
			for i, t := range trials {
				out[i] = asked{t.Number, t.Params, t.Source}
			}
			return printJSON(e.stdout, out)
		}
		ws := newWarnings(func(line string) { fmt.Fprintln(e.stderr, line) })
		for _, t := range trials {
			ws.add(t.Number, t.Warnings)
			if _, err := fmt.Fprintf(e.stdout, "trial %d  %s\n", t.Number, fullParams(t.Params)); err != nil {
				return err
			}
		}
		ws.repeated()
		return nil
	})
}

// waitNotice is the time after which bo ask reports the trials for whose results it waits.
var waitNotice = 2 * time.Second

// reportPendingBatch names the running trials for whose results the next batch of the study waits.
func reportPendingBatch(e *env, u *store.Study) {
	v, err := u.Brief(e.ctx)
	if err != nil || v.Definition.Batch == 0 {
		return
	}
	const most = 10
	var numbers []string
	for i := range v.Trials {
		if v.Trials[i].Running(v.Now) {
			numbers = append(numbers, fmt.Sprint(v.Trials[i].Number))
		}
	}
	if len(numbers) == 0 {
		return
	}
	word := "trial"
	if len(numbers) > 1 {
		word = "trials"
	}
	if more := len(numbers) - most; more > 0 {
		numbers = append(numbers[:most], fmt.Sprintf("and %d more", more))
	}
	fmt.Fprintf(e.stderr, "bo: waits for %s %s: the next batch of %d begins when all trials of this one have a result or have failed (bo tell, bo fail)\n",
		word, strings.Join(numbers, ", "), v.Definition.Batch)
}

// fullParams writes parameters with all digits.
func fullParams(params json.RawMessage) string { return eachParam(params, json.Number.String) }

// eachParam writes parameters as name=value, and numbers by the function number.
func eachParam(params json.RawMessage, number func(json.Number) string) string {
	dec := json.NewDecoder(bytes.NewReader(params))
	dec.UseNumber()
	var parts []string
	name, value := "", false
	for {
		t, err := dec.Token()
		if err != nil {
			return strings.Join(parts, " ")
		}
		switch n, isNumber := t.(json.Number); {
		case t == json.Delim('{'), t == json.Delim('}'):
			continue
		case !value:
			name = fmt.Sprint(t)
		case isNumber:
			parts = append(parts, name+"="+number(n))
		default:
			parts = append(parts, fmt.Sprintf("%s=%v", name, t))
		}
		value = !value
	}
}

type tellCmd struct {
	storeFlags
	Study string   `arg:"" complete:"studies" help:"Name of the study."`
	Trial int      `arg:"" help:"Number of the trial."`
	Value string   `arg:"" help:"The objective, or a JSON object of numbers such as {\"loss\": 0.1, \"seconds\": 12}."`
	Step  *float64 `placeholder:"STEP" help:"Report the objective at a step, such as an epoch, of a trial that runs, and print continue or stop."`
	Key   string   `placeholder:"TEXT" help:"Name of the request. A repeated request with the same name changes nothing."`
	JSON  bool     `group:"result" name:"json" help:"Print the stored trial as JSON."`
}

func (tellCmd) Help() string {
	return `A recorded result cannot change. To correct one, export the study, edit the number in the file, and import the file under another name. Trials that wait for a result keep their numbers there.

Examples:

    bo tell bread 1 7.5
    bo tell bread 2 '{"taste": 7.5, "minutes": 12}'
    bo study export bread -o bread.json
    bo study import bread.json --study corrected`
}

func (c *tellCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		d, _, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		if c.Step != nil {
			return c.report(e, u)
		}
		numbers, err := parseNumbers(c.Value, d.Objective().Name)
		if err != nil {
			return usageError{err}
		}
		return tellTrial(e, u, store.Report{Trial: c.Trial, Numbers: numbers, Key: c.Key}, c.JSON)
	})
}

// report records a step and prints the decision of the stopping rule.
func (c *tellCmd) report(e *env, u *store.Study) error {
	value, err := strconv.ParseFloat(c.Value, 64)
	switch {
	case c.Key != "":
		return usagef("--key is not for --step: a repeated step changes nothing")
	case err != nil && !math.IsInf(value, 0):
		return usagef("the value is %s, want a number", brief(c.Value))
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
		word = "stop: " + t.Message
	}
	_, err = fmt.Fprintln(e.stdout, word)
	return err
}

// parseNumbers reads a number, which is the objective, or a JSON object of numbers.
func parseNumbers(text, objective string) (map[string]float64, error) {
	if y, err := parseNumber(text); err == nil {
		return map[string]float64{objective: y}, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil || members == nil {
		return nil, fmt.Errorf("the value is %s, want a number or a JSON object of numbers", brief(text))
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

// parseNumber reads a finite number.
func parseNumber(text string) (float64, error) {
	y, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && (math.IsNaN(y) || math.IsInf(y, 0)) {
		err = errors.New("not finite")
	}
	return y, err
}

func tellTrial(e *env, u *store.Study, r store.Report, asJSON bool) error {
	told, err := u.Tell(e.ctx, r)
	if errors.Is(err, store.ErrConflict) {
		return refusal{fmt.Errorf("%w; bo tell --help has the way to correct a result", err)}
	}
	if err != nil {
		return asUsage(err, store.ErrNoTrial, loop.ErrNotFinite)
	}
	if told.State == store.Failed && r.Message != "" && r.Message != told.Message {
		fmt.Fprintf(e.stderr, "bo: trial %d failed at %s already, and keeps the first reason: %s was not recorded\n",
			told.Number, told.Finished.Format(time.DateTime), brief(r.Message))
	}
	d, _, err := u.Definition(e.ctx)
	if err != nil {
		return err
	}
	v := &store.View{Definition: d}
	if asJSON {
		return printJSON(e.stdout, newTrialJSON(&told, v))
	}
	_, err = fmt.Fprintf(e.stdout, "trial %s\n", strings.TrimSpace(trialText(&told, v, nil)))
	return err
}

type failCmd struct {
	storeFlags
	Study   string `arg:"" complete:"studies" help:"Name of the study."`
	Trial   int    `arg:"" help:"Number of the trial."`
	Message string `arg:"" optional:"" help:"Reason of the failure."`
	JSON    bool   `group:"result" name:"json" help:"Print the stored trial as JSON."`
}

func (c *failCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		return tellTrial(e, u, store.Report{Trial: c.Trial, Failure: store.FailedByProgram, Message: c.Message}, c.JSON)
	})
}

type enqueueCmd struct {
	storeFlags
	Study  string   `arg:"" complete:"studies" help:"Name of the study."`
	Values []string `arg:"" help:"A value for every parameter, NAME=VALUE, or one JSON object."`
	Key    string   `placeholder:"TEXT" help:"Name of the request. A repeated request with the same name changes nothing."`
	JSON   bool     `group:"result" name:"json" help:"Print the stored trial as JSON."`
}

func (c *enqueueCmd) Run(e *env) error {
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		d, sp, err := u.Definition(e.ctx)
		if err != nil {
			return err
		}
		values, err := parseValues(sp, c.Values)
		if err != nil {
			return usageError{err}
		}
		trials, err := u.Enqueue(e.ctx, c.Key, values)
		if err != nil {
			return asRefusal(asUsage(err, space.ErrPoint), store.ErrBudget)
		}
		if c.JSON {
			return printJSON(e.stdout, newTrialJSON(&trials[0], &store.View{Definition: d}))
		}
		_, err = fmt.Fprintf(e.stdout, "trial %d  %s  waits\n", trials[0].Number, fullParams(trials[0].Params))
		return err
	})
}

// parseValues reads NAME=VALUE words, or one JSON object. Text that a categorical parameter
// lists as a number or boolean is read as such.
func parseValues(s *space.Space, words []string) (map[string]any, error) {
	values := map[string]any{}
	if len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{") {
		if err := json.Unmarshal([]byte(words[0]), &values); err != nil {
			return nil, fmt.Errorf("%s is not a JSON object: %w", brief(words[0]), err)
		}
		if err := strictjson.Repeated([]byte(words[0])); err != nil {
			return nil, fmt.Errorf("%s: %w", brief(words[0]), err)
		}
		return values, nil
	}
	kinds := map[string]space.Parameter{}
	for _, p := range s.Parameters() {
		kinds[p.Name] = p
	}
	for _, w := range words {
		name, text, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("%s: want NAME=VALUE", brief(w))
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		values[name] = valueOf(kinds[name], text)
	}
	return values, nil
}

// valueOf reads the text of a parameter's value.
func valueOf(p space.Parameter, text string) any {
	if p.Check(text) == nil {
		return text
	}
	if y, err := parseNumber(text); err == nil && (p.Kind == space.KindFloat || p.Kind == space.KindInt || p.Check(y) == nil) {
		return y
	}
	if b, err := strconv.ParseBool(text); err == nil && p.Check(b) == nil {
		return b
	}
	return text
}

type trialsCmd struct {
	storeFlags
	Study  string `arg:"" complete:"studies" help:"Name of the study."`
	Format string `group:"result" enum:"table,csv,jsonl" default:"table" placeholder:"FORMAT" help:"table, csv or jsonl. Default: ${default}."`
	Logs   int    `group:"result" min:"1" default:"0" placeholder:"TRIAL" help:"Print the output of the program in the last attempt at TRIAL, if it ran on this machine."`
	JSON   bool   `group:"result" name:"json" help:"Print a JSON array of trials."`
}

// printLogs prints the output of the program of a trial.
func (c *trialsCmd) printLogs(e *env, v *store.View) error {
	if c.Logs > len(v.Trials) {
		return usagef("study %s: no such trial: %d, the last one is %d", c.Study, c.Logs, len(v.Trials))
	}
	attempt := v.Trials[c.Logs-1].Attempt
	dir := attemptFolder(c.trialsFolder(c.Study), c.Logs, attempt)
	found := false
	for name, to := range map[string]io.Writer{"stdout": e.stdout, "stderr": e.stderr} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		found = true
		_, err = io.Copy(to, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("no output of trial %d, attempt %d, in %s: it ran on another machine, or without bo run", c.Logs, attempt, dir)
	}
	return nil
}

func (c *trialsCmd) Run(e *env) error {
	return c.withView(e.ctx, c.Study, func(u *store.Study, v *store.View) error {
		switch {
		case c.Logs > 0:
			return c.printLogs(e, v)
		case c.JSON, c.Format == "jsonl":
			rows := trialRows(v)
			if err := addSteps(e.ctx, u, v, rows); err != nil {
				return err
			}
			if c.JSON {
				return printJSON(e.stdout, rows)
			}
			return writeRowsJSON(e.stdout, rows)
		case c.Format == "csv":
			return writeTrialsCSV(e.stdout, v)
		}
		b, front, digits := bufio.NewWriter(e.stdout), onFront(v), digitsOf(v)
		for i := range v.Trials {
			mark := ""
			if front[v.Trials[i].Number] {
				mark = "  (front)"
			}
			fmt.Fprintln(b, trialText(&v.Trials[i], v, digits)+mark)
		}
		return b.Flush()
	})
}

type bestCmd struct {
	storeFlags
	Study string `arg:"" complete:"studies" help:"Name of the study."`
	JSON  bool   `group:"result" name:"json" help:"Print the trial as JSON."`
}

func (c *bestCmd) Run(e *env) error {
	return c.withView(e.ctx, c.Study, func(u *store.Study, v *store.View) error {
		if v.Definition.Several() {
			return c.front(e, v)
		}
		best := v.Best()
		if best == nil {
			return noneComplete(v)
		}
		if !v.Feasible(best) {
			fmt.Fprintf(e.stderr, "bo: no trial meets %s: this one violates it least\n", strings.Join(v.Definition.Require, " and "))
		}
		mean, err := conflicting(e, u)
		if err != nil {
			return err
		}
		if mean != nil {
			best = &v.Trials[mean.Trial.ID-1]
			fmt.Fprintf(e.stderr, "bo: trial %d has the best mean of the values at equal points: %s\n", best.Number, number(mean.Mean))
		}
		if c.JSON {
			return printJSON(e.stdout, newBestJSON(best, v, mean))
		}
		_, err = fmt.Fprintf(e.stdout, "trial %d  %s  %s\n", best.Number, fullParams(best.Params), allNumbers(best, v.Definition))
		return err
	})
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

// allNumbers writes the declared numbers of a trial by name, with all digits.
func allNumbers(t *store.Trial, d *study.Definition) string {
	var parts []string
	for _, name := range d.Declared() {
		parts = append(parts, name+" "+number(t.Numbers[name]))
	}
	return strings.Join(parts, "  ")
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
func (c *bestCmd) front(e *env, v *store.View) error {
	out := newFront(v)
	if c.JSON {
		return printJSON(e.stdout, out)
	}
	if out.Reference == nil {
		return noneComplete(v)
	}
	if len(out.Front) == 0 {
		return fmt.Errorf("study %s: no trial meets %s", c.Study, strings.Join(v.Definition.Require, " and "))
	}
	b := bufio.NewWriter(e.stdout)
	for _, row := range out.Front {
		t := &v.Trials[row.Trial-1]
		fmt.Fprintf(b, "trial %d  %s  %s\n", t.Number, fullParams(t.Params), allNumbers(t, v.Definition))
	}
	if n := len(out.Hypervolume); n > 0 {
		fmt.Fprintf(b, "hypervolume %s%s\n", short(out.Hypervolume[n-1]), referenceText(&out, v.Definition))
	}
	return b.Flush()
}
