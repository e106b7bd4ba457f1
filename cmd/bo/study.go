package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/strictjson"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/study/studyfile"
)

type studyCmd struct {
	List    studyListCmd    `cmd:"" help:"List the studies of a store."`
	Show    studyShowCmd    `cmd:"" help:"Show a study on one screen: best and last trials, importance, calibration, next point."`
	Predict studyPredictCmd `cmd:"" help:"Predict the objectives of a study at points."`
	Create  studyCreateCmd  `cmd:"" help:"Store a study without running it."`
	Edit    studyEditCmd    `cmd:"" help:"Change a stored study: ranges, parameters, budget, method."`
	Delete  studyDeleteCmd  `cmd:"" help:"Delete a study and all its trials."`
	Export  studyExportCmd  `cmd:"" help:"Write a study to a file: whole, for Optuna, or as a table."`
	Import  studyImportCmd  `cmd:"" help:"Make a study from a file: an export, or a study of Optuna."`
}

type studyListCmd struct {
	storeFlags
	JSON bool `group:"result" name:"json" help:"Print a JSON array."`
}

func (studyListCmd) Help() string {
	return "FINISHED counts the finished trials of the budget. ADDED counts the trials that bo import added beside it."
}

func (c *studyListCmd) Run(e *env) error {
	return c.withStore(e.ctx, false, func(s *store.Store) error {
		list, err := s.List(e.ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			if list == nil {
				list = []store.Summary{}
			}
			return printJSON(e.stdout, list)
		}
		if len(list) == 0 {
			fmt.Fprintf(e.stderr, "%s has no studies\n", c.shown())
			return nil
		}
		rows := [][]string{{"STUDY", "FINISHED", "BUDGET", "ADDED", "CREATED"}}
		for _, l := range list {
			budget := fmt.Sprint(l.Budget)
			if l.Fault != "" {
				budget = "?"
				fmt.Fprintf(e.stderr, "bo: warning: study %s: %s\n", l.Name, oneLine(l.Fault))
			}
			rows = append(rows, []string{l.Name, fmt.Sprint(l.Finished - l.Added), budget, fmt.Sprint(l.Added), l.Created.Local().Format(time.DateTime)})
		}
		return printTable(e.stdout, rows)
	})
}

type studyCreateCmd struct {
	storeFlags
	File  string `arg:"" help:"The study file: FILE.yaml, FILE.yml or FILE.json."`
	Study string `group:"store" placeholder:"NAME" help:"Name of the study. Default: the name in the file."`
	JSON  bool   `group:"result" name:"json" help:"Print the stored definition as JSON."`
}

func (c *studyCreateCmd) Run(e *env) error {
	d, notes, err := readStudy(c.File)
	if err != nil {
		return err
	}
	if c.Study != "" {
		d.Name = c.Study
	}
	if d.Name == "" {
		return usagef("%s has no study name: add one, or give --study NAME", c.File)
	}
	return c.withStore(e.ctx, true, func(s *store.Store) error {
		u, err := s.Create(e.ctx, d)
		if err != nil {
			return asRefusal(err, store.ErrExists)
		}
		e.printNotes(notes)
		e.printHints(d)
		v, err := u.Brief(e.ctx)
		if err != nil {
			return err
		}
		warnUnfit(e, v, "definition of the study")
		if c.JSON {
			stored, _, err := u.Definition(e.ctx)
			if err != nil {
				return err
			}
			return printJSON(e.stdout, stored)
		}
		_, err = fmt.Fprintf(e.stdout, "created study %s in %s\n", u.Name(), c.shown())
		return err
	})
}

type studyDeleteCmd struct {
	storeFlags
	Study string `arg:"" complete:"studies" help:"Name of the study."`
	Yes   bool   `help:"Delete without confirmation."`
	JSON  bool   `group:"result" name:"json" help:"Print {\"deleted\": NAME}."`
}

func (c *studyDeleteCmd) Run(e *env) error {
	return c.withStore(e.ctx, false, func(s *store.Store) error {
		u, err := c.find(e.ctx, s, c.Study)
		if err != nil {
			return err
		}
		v, err := u.Brief(e.ctx)
		if err != nil {
			return err
		}
		if !c.Yes {
			return usagef("study %s has %s, which cannot be restored: add --yes to delete them", c.Study, count(len(v.Trials), "trial"))
		}
		if err := s.Delete(e.ctx, c.Study); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(e.stdout, map[string]string{"deleted": c.Study})
		}
		_, err = fmt.Fprintf(e.stdout, "deleted study %s with %s\n", c.Study, count(len(v.Trials), "trial"))
		return err
	})
}

type studyEditCmd struct {
	storeFlags
	Study       string   `arg:"" complete:"studies" help:"Name of the study."`
	File        string   `group:"what" placeholder:"FILE" help:"Take the whole definition from a study file."`
	Budget      *int     `group:"what" option:"budget" placeholder:"N" help:"Total number of trials."`
	Range       []string `group:"what" sep:"none" placeholder:"NAME=MIN:MAX" help:"New bounds of a parameter. Repeat for more."`
	Add         []string `group:"what" sep:"none" placeholder:"JSON" help:"Add a parameter, as in the study file with a \"default\": the value of the parameter in earlier trials. Numbers of this name that trials reported are not used. Repeat for more."`
	Remove      []string `group:"what" sep:"none" placeholder:"NAME" help:"Remove a parameter. Repeat for more."`
	Constrain   []string `group:"what" sep:"none" placeholder:"EXPRESSION" help:"Add a constraint such as 'layers * width <= 4096'. Repeat for more."`
	Unconstrain []string `group:"what" sep:"none" placeholder:"EXPRESSION" help:"Remove a constraint. Repeat for more."`
	Require     []string `group:"what" sep:"none" placeholder:"CONDITION" help:"Add a bound of a reported number such as 'latency <= 20'. Repeat for more."`
	Unrequire   []string `group:"what" sep:"none" placeholder:"CONDITION" help:"Remove a bound of a reported number. Repeat for more."`
	JSON        bool     `group:"result" name:"json" help:"Print the new definition as JSON."`
}

func (studyEditCmd) Help() string {
	return `Trials that do not fit the new definition are kept, never the best, counted by bo study show and marked by bo trials. Fits leave them out, unless they violate new constraints alone: a constraint can fix a parameter for a while. A waiting one fails when it would be issued.

A complete trial without a number of --require does not fit. Other settings change by --file.

Examples:

    bo study edit resnet --budget 120
    bo study edit resnet --range lr=1e-6:0.1
    bo study edit resnet --add '{"name": "momentum", "type": "float", "min": 0, "max": 0.99, "default": 0.9}'
    bo study edit resnet --constrain 'layers * width <= 4096'
    bo study edit resnet --unrequire 'latency <= 20' --require 'latency <= 15'
    bo study edit resnet --file study.yaml`
}

func (c *studyEditCmd) Run(e *env) error {
	if c.File == "" && c.Budget == nil && c.Range == nil && c.Add == nil && c.Remove == nil && c.Constrain == nil && c.Unconstrain == nil && c.Require == nil && c.Unrequire == nil {
		return usagef("nothing to change: give --file, --budget, --range, --add, --remove, --constrain, --unconstrain, --require or --unrequire")
	}
	var file *study.Definition
	var notes []string
	if c.File != "" {
		var err error
		if file, notes, err = readStudy(c.File); err != nil {
			return err
		}
	}
	return c.withStudy(e.ctx, c.Study, func(u *store.Study) error {
		before, err := u.Brief(e.ctx)
		if err != nil {
			return err
		}
		err = u.Edit(e.ctx, func(d study.Definition) (*study.Definition, error) { return c.change(d, file) })
		if err != nil {
			return asUsage(err, study.ErrInvalid)
		}
		e.printNotes(notes)
		if file != nil && file.Name != "" && file.Name != c.Study {
			fmt.Fprintf(e.stderr, "bo: %s: the name %q is left out: a study keeps its name, and bo study export and bo study import --study NAME copy it under another\n", c.File, file.Name)
		}
		v, err := u.Brief(e.ctx)
		if err != nil {
			return err
		}
		noteNumbers(e, before, v)
		if c.JSON {
			return printJSON(e.stdout, v.Definition)
		}
		if _, err := fmt.Fprintf(e.stdout, "edited study %s\n", c.Study); err != nil {
			return err
		}
		warnUnfit(e, v, "new definition")
		noteNarrowed(e, before, v)
		warnOver(e, v)
		return nil
	})
}

// noteNarrowed names the edit that keeps complete trials outside narrowed ranges in fits.
func noteNarrowed(e *env, before, v *store.View) {
	left := false
	for i := range before.Trials {
		left = left || v.Trials[i].State == store.Complete && before.Points[i].Space() != nil && v.Points[i].Space() == nil && !v.Outside(i)
	}
	var words []string
	for _, was := range before.Space.Parameters() {
		i := slices.IndexFunc(v.Space.Parameters(), func(p space.Parameter) bool { return p.Name == was.Name && p.Kind == was.Kind })
		if i < 0 {
			continue
		}
		p, name := v.Space.Parameters()[i], expression.Reference(was.Name)
		if p.Min > was.Min || p.Max < was.Max {
			words = append(words, "--range", shellWord(fmt.Sprintf("%s=%s:%s", was.Name, number(min(was.Min, p.Min)), number(max(was.Max, p.Max)))))
		}
		if p.Min > was.Min {
			words = append(words, "--constrain", shellWord(name+" >= "+number(p.Min)))
		}
		if p.Max < was.Max {
			words = append(words, "--constrain", shellWord(name+" <= "+number(p.Max)))
		}
	}
	if left && words != nil {
		fmt.Fprintf(e.stderr, "bo: constraints in place of narrower ranges keep such trials in fits: bo study edit %s %s\n", v.Definition.Name, strings.Join(words, " "))
	}
}

// noteNumbers warns of trials that report a number with the name of an added parameter.
func noteNumbers(e *env, before, v *store.View) {
	for _, p := range v.Space.Parameters() {
		given, ok := v.Definition.Defaults[p.Name]
		if !ok || slices.ContainsFunc(before.Definition.Parameters, func(q space.Parameter) bool { return q.Name == p.Name }) {
			continue
		}
		n := 0
		for i := range v.Trials {
			if _, reported := v.Trials[i].Numbers[p.Name]; reported {
				n++
			}
		}
		if n > 0 {
			fmt.Fprintf(e.stderr, "bo: warning: %s have a number %s, which is not the value of the parameter: it is %v there; to use the numbers, create another study with this parameter and import the table into it\n", count(n, "trial"), p.Name, given)
		}
	}
}

// warnOver reports that more trials count against the budget of a study than it has.
func warnOver(e *env, v *store.View) {
	if issued := len(v.Trials) - addedTrials(v); issued > v.Definition.Budget {
		fmt.Fprintf(e.stderr, "bo: %d trials count against the budget of %d: the study issues no new trials\n", issued, v.Definition.Budget)
	}
}

// unfitNumbers lists the trials that do not fit the definition of a study and are left out of fits, or the ones that count
// in fits.
func unfitNumbers(v *store.View, outside bool) string {
	var numbers []string
	for i := range v.Trials {
		if v.Points[i].Space() == nil && v.Outside(i) == outside {
			numbers = append(numbers, strconv.Itoa(v.Trials[i].Number))
		}
	}
	return trialNumbers(numbers, 5)
}

// trialNumbers lists the first numbers of trials, and counts the others.
func trialNumbers(numbers []string, most int) string {
	text := agree(len(numbers), "trial ", "trials ")
	shown := min(most, len(numbers))
	text += strings.Join(numbers[:shown], ", ")
	if more := len(numbers) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// warnUnfit reports the trials that do not fit the definition of a study, and the declared
// numbers that complete trials lack.
func warnUnfit(e *env, v *store.View, what string) {
	left := v.LeftOut()
	if n := v.Unfit - left; n > 0 {
		fmt.Fprintf(e.stderr, "bo: %d of %d trials %s (%s)\n", n, len(v.Trials),
			agree(n, "violates the constraints: it counts in fits and is never the best", "violate the constraints: they count in fits and are never the best"), unfitNumbers(v, true))
	}
	if left == 0 {
		return
	}
	text := fmt.Sprintf("bo: %d of %d trials %s not fit the %s: %s kept and left out of fits (%s)", left, len(v.Trials),
		agree(left, "does", "do"), what, agree(left, "it is", "they are"), unfitNumbers(v, false))
	for _, name := range v.Definition.Declared() {
		lacking := 0
		for i := range v.Trials {
			if _, ok := v.Trials[i].Numbers[name]; !ok && v.Trials[i].State == store.Complete {
				lacking++
			}
		}
		if lacking > 0 {
			text += fmt.Sprintf("; %d of them %s no number %q", lacking, agree(lacking, "has", "have"), name)
		}
	}
	fmt.Fprintln(e.stderr, text)
}

// change returns the edited definition d, given the definition of --file or nil.
func (c *studyEditCmd) change(d study.Definition, file *study.Definition) (*study.Definition, error) {
	if file != nil {
		name, budget := d.Name, d.Budget
		d = *file
		d.Name, d.Budget = name, cmp.Or(file.Budget, budget)
	}
	if c.Budget != nil {
		d.Budget = *c.Budget
	}
	params := append([]space.Parameter(nil), d.Parameters...)
	find := func(name string) (int, error) {
		var names []string
		for i := range params {
			names = append(names, params[i].Name)
			if params[i].Name == name {
				return i, nil
			}
		}
		return 0, fmt.Errorf("%w: there is no parameter %q%s", study.ErrInvalid, name, didyoumean.Hint(name, names))
	}
	given := map[string]bool{}
	for _, r := range c.Range {
		name, bounds, ok := strings.Cut(r, "=")
		lo, hi, ok2 := strings.Cut(bounds, ":")
		low, err := parseNumber(lo)
		high, err2 := parseNumber(hi)
		if !ok || !ok2 || err != nil || err2 != nil {
			return nil, fmt.Errorf("%w: --range %s: want NAME=MIN:MAX", study.ErrInvalid, r)
		}
		i, err := find(name)
		if err != nil {
			return nil, err
		}
		if given[name] {
			return nil, fmt.Errorf("%w: --range: %s is given twice", study.ErrInvalid, name)
		}
		given[name] = true
		params[i].Min, params[i].Max = low, high
	}
	for _, name := range c.Remove {
		i, err := find(name)
		if err != nil {
			return nil, err
		}
		params = append(params[:i], params[i+1:]...)
		delete(d.Defaults, name)
	}
	d.Parameters = params
	var err error
	if d.Constraints, err = replaced(d.Constraints, c.Constrain, c.Unconstrain, "--unconstrain: there is no constraint"); err != nil {
		return nil, err
	}
	if d.Require, err = replaced(d.Require, c.Require, c.Unrequire, "--unrequire: there is no requirement"); err != nil {
		return nil, err
	}
	for _, text := range c.Add {
		if err := addParameter(&d, text); err != nil {
			return nil, fmt.Errorf("%w: --add: %w", study.ErrInvalid, err)
		}
	}
	return &d, nil
}

// replaced returns a list of conditions with others added, each once, and removed. The error of a condition that is not in the list
// begins with missing.
func replaced(list, added, removed []string, missing string) ([]string, error) {
	list = slices.Clone(list)
	for _, text := range added {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, text := range removed {
		i := slices.Index(list, text)
		if i < 0 {
			return nil, fmt.Errorf("%w: %s %q%s", study.ErrInvalid, missing, text, didyoumean.Hint(text, list))
		}
		list = slices.Delete(list, i, i+1)
	}
	return list, nil
}

// addParameter adds a parameter with the value of earlier trials under "default".
func addParameter(d *study.Definition, text string) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &keys); err != nil {
		return fmt.Errorf("want a JSON object: %w", err)
	}
	if err := strictjson.Repeated([]byte(text)); err != nil {
		return err
	}
	given, ok := keys["default"]
	delete(keys, "default")
	if !ok {
		return errors.New(`"default" is missing: the value of the parameter in earlier trials`)
	}
	rest, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	var p space.Parameter
	if err := json.Unmarshal(rest, &p); err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(given, &v); err != nil {
		return err
	}
	defaults := map[string]any{p.Name: v}
	for name, old := range d.Defaults {
		if name != p.Name {
			defaults[name] = old
		}
	}
	d.Parameters, d.Defaults = append(d.Parameters, p), defaults
	return nil
}

// readStudy reads a study file. The notes name what is left out of the table of earlier evaluations. An error is a
// usage error unless the system reports it.
func readStudy(path string) (d *study.Definition, notes []string, err error) {
	d, err = studyfile.Read(path, checkProgram, func(d *study.Definition) (faults []error) {
		notes, faults = readEarlier(d, filepath.Dir(path))
		return faults
	})
	if err != nil && !errors.As(err, new(syscall.Errno)) {
		err = usageError{err}
	}
	return d, notes, err
}

// readEarlier replaces the name of a table in d.Earlier by the evaluations in the table. A relative
// name begins in folder. The notes begin with the name.
func readEarlier(d *study.Definition, folder string) (notes []string, faults []error) {
	path := d.Earlier.File
	d.Earlier.File = ""
	if path == "" || len(d.Parameters) == 0 {
		return nil, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	fault := func(err error) ([]string, []error) {
		return nil, []error{&study.Fault{Path: []any{"earlier"}, Err: fmt.Errorf("earlier: %s", strings.TrimPrefix(err.Error(), exchange.ErrFormat.Error()+": "))}}
	}
	if err := regular(path); err != nil {
		return fault(fmt.Errorf("%s: %w", path, err))
	}
	f, err := os.Open(path)
	if err != nil {
		return fault(err)
	}
	defer f.Close()
	d.Earlier.Trials, notes, err = exchange.ReadEarlier(path, f, d)
	if list, ok := errors.AsType[space.Faults](err); ok {
		for _, err := range list {
			_, one := fault(err)
			faults = append(faults, one...)
		}
		return nil, faults
	}
	if err != nil {
		return fault(err)
	}
	for i := range notes {
		notes[i] = path + ": " + notes[i]
	}
	return notes, nil
}

// useBuiltin gives a definition the parameters of its built-in objective, and declares it
// exact if the objective is. The objectives and requirements of a problem of several are defaults.
func useBuiltin(d *study.Definition) error {
	o, err := benchmarks.Lookup(d.Builtin)
	if err != nil {
		return err
	}
	d.Builtin, d.Parameters = o.Name, o.Space.Parameters()
	if o.Outcomes != nil {
		return useOutcomes(d, o.Outcomes)
	}
	if d.Several() {
		return fmt.Errorf("%s has one value, and there are %d objectives", d.Builtin, len(d.Objectives))
	}
	objective := d.Objective()
	if o.NoiseFree && objective.NoiseSD != nil {
		return fmt.Errorf("%s has no noise: leave out noise_sd", d.Builtin)
	}
	objective.NoiseFree = objective.NoiseFree || o.NoiseFree
	d.Objectives = []study.Objective{objective}
	return nil
}

// useOutcomes completes the objectives and requirements of a definition.
func useOutcomes(d *study.Definition, o *benchmarks.Outcomes) error {
	names, m := o.Names(), len(o.Reference)
	if len(d.Objectives) == 0 {
		for j := range m {
			d.Objectives = append(d.Objectives, study.Objective{Name: names[j], Reference: &o.Reference[j]})
		}
	}
	if len(d.Require) == 0 {
		for c, bound := range o.Bounds {
			d.Require = append(d.Require, loop.Requirement{Name: names[m+c], Bound: bound}.String())
		}
	}
	for _, name := range d.Declared() {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s has no number %q: it has %s", d.Builtin, name, strings.Join(names, ", "))
		}
	}
	for i := range d.Objectives {
		d.Objectives[i].NoiseFree = d.Objectives[i].NoiseFree || o.NoiseFree
	}
	return nil
}

// checkBuiltin completes a definition with a built-in objective. Parameters that are given
// must be the parameters of the objective.
func checkBuiltin(d *study.Definition) []error {
	given := d.Parameters
	if err := useBuiltin(d); err != nil {
		return []error{&study.Fault{Path: []any{"builtin"}, Err: fmt.Errorf("builtin: %w", err)}}
	}
	if given != nil && !reflect.DeepEqual(given, d.Parameters) {
		return []error{&study.Fault{Path: []any{"parameters"}, Err: fmt.Errorf("builtin %s has parameters of its own: leave the key parameters out", d.Builtin)}}
	}
	return nil
}

// checkProgram returns the faults of builtin and command.
func checkProgram(d *study.Definition) []error {
	if d.Builtin != "" {
		return checkBuiltin(d)
	}
	if d.Command == "" || len(d.Parameters) == 0 {
		return nil
	}
	parse := (&program{}).parseLine
	if d.Shell {
		parse = (&program{}).parseShell
	}
	if err := parse(d.Command, placeholdersOf(d)); err != nil {
		text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "--"), "--shell", "shell: true")
		return []error{&study.Fault{Path: []any{"command"}, Err: errors.New(text)}}
	}
	return nil
}

// printJSON writes one JSON value on a line.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printTable writes rows in columns.
func printTable(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for j, cell := range r {
			widths[j] = max(widths[j], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		line := ""
		for j, cell := range r {
			line += cell + strings.Repeat(" ", widths[j]-len([]rune(cell))+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// asUsage marks an error that wraps one of kinds as a fault of the command line.
func asUsage(err error, kinds ...error) error {
	if isAny(err, kinds) {
		return usageError{err}
	}
	return err
}

// asRefusal marks an error that wraps one of kinds as a refusal.
func asRefusal(err error, kinds ...error) error {
	if isAny(err, kinds) {
		return refusal{err}
	}
	return err
}

// isAny reports whether err wraps one of kinds.
func isAny(err error, kinds []error) bool {
	return slices.ContainsFunc(kinds, func(k error) bool { return errors.Is(err, k) })
}
