package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/faults"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

// tellTable records the results in a table.
func (c *tellCmd) tellTable(e *env, u *store.Study, d *study.Definition) error {
	if c.Trial != 0 || c.Step != nil || c.At != nil || c.Note != "" || c.Key != "" {
		return usagef("--table takes the place of trial, value, --step, --at, --note and --key")
	}
	var r io.Reader = e.stdin
	if c.Table != "-" {
		if err := regular(c.Table); err != nil {
			return fmt.Errorf("%s: %w", c.Table, err)
		}
		f, err := os.Open(c.Table)
		if err != nil {
			return err
		}
		defer f.Close()
		r = f
	}
	results, texts, err := exchange.ReadResults(c.Table, r, d)
	if err != nil {
		return c.faulty(e, err)
	}
	v, err := u.View(e.ctx)
	if err != nil {
		return err
	}
	reports, rows, known, err := c.newResults(v, results)
	if err != nil {
		return c.faulty(e, err)
	}
	notes(e, c.Table, texts)
	told := []store.Trial{}
	if len(reports) > 0 {
		told, err = u.TellAll(e.ctx, reports)
	}
	wrong, ok := errors.AsType[*store.ReportError](err)
	switch {
	case err == nil:
	case e.ctx.Err() != nil, errors.Is(err, store.ErrUnavailable): // the transaction may be stored
		return fmt.Errorf("%w; either all results of the table are recorded, or none: run the same command again", err)
	case ok:
		return c.faulty(e, fmt.Errorf("%s: %w; nothing is recorded", rows[wrong.Index], wrong.Err))
	default:
		return fmt.Errorf("%w; nothing is recorded", err)
	}
	if known > 0 {
		notes(e, c.Table, []string{fmt.Sprintf("%s recorded already", count(known, "result"))})
	}
	ws := newWarnings(func(line string) { fmt.Fprintln(e.stderr, line) })
	for i := range told {
		if text := unreadText(&told[i], d); text != "" {
			ws.add(told[i].Number, []string{text})
		}
	}
	ws.repeated()
	if c.JSON {
		rows := make([]any, len(told))
		for i := range told {
			rows[i] = newTrialJSON(&told[i], v)
		}
		return printJSON(e.stdout, rows)
	}
	for i := range told {
		if _, err := fmt.Fprintln(e.stdout, trialText(&told[i], v, nil)); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(e.stdout, "recorded %s of study %s\n", count(len(told), "result"), c.Study)
	return err
}

// newResults returns the reports of results that are not recorded, their rows, and the number of the other results. It returns all
// faults: trials that do not exist, other values of parameters, missing numbers and, without --correct, other results than the recorded ones.
func (c *tellCmd) newResults(v *store.View, results []exchange.Result) (reports []store.Report, rows []string, known int, err error) {
	wrong := faults.List{What: "rows"}
	for _, r := range results {
		report := r.Report
		switch k := report.Trial - 1; {
		case k >= len(v.Trials):
			wrong.Add(fmt.Errorf("%s: there is no trial %d, the last one is %d", r.Row, report.Trial, len(v.Trials)))
		default:
			same, at, err := c.compare(v, &v.Trials[k], &r)
			switch {
			case err != nil:
				wrong.Add(fmt.Errorf("%s: %w", r.Row, err))
			case same:
				known++
			default:
				report.Correct, report.At = v.Trials[k].State != store.Pending && c.Correct, at
				reports, rows = append(reports, report), append(rows, r.Row)
			}
		}
	}
	if list := wrong.Errors(); list != nil {
		return nil, nil, 0, space.Faults(list)
	}
	return reports, rows, known, nil
}

// compare reports whether the result of a row is the recorded result of its trial. It returns the values of
// parameters at which --move places the result. The error states other values without --move, or another result
// without --correct.
func (c *tellCmd) compare(v *store.View, t *store.Trial, r *exchange.Result) (same bool, at map[string]any, err error) {
	d := v.Definition
	var params map[string]any
	if err := json.Unmarshal(t.Params, &params); err != nil {
		return false, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		was, ok := params[name]
		if !ok {
			if was, ok = d.Defaults[name]; !ok {
				continue // a fixed or inactive parameter
			}
		}
		switch row := r.Params[name]; {
		case sameSetting(was, row):
		case !c.Move:
			return false, nil, fmt.Errorf("trial %d was suggested at %s=%v, and the row has %v: record a result at other values by bo tell %s %[1]d VALUE --at %[6]s, or the results of all rows at their values with --move",
				t.Number, name, was, row, c.Study, shellWord(fmt.Sprintf("%s=%v", name, row)))
		case at == nil:
			at = map[string]any{name: row}
		default:
			at[name] = row
		}
	}
	if at != nil { // a condition that now holds takes values of the row
		values := maps.Clone(r.Params)
		maps.Copy(values, d.Defaults)
		maps.Copy(values, params)
		p, err := v.Space.PointWith(at, values)
		if err != nil {
			return false, nil, fmt.Errorf("trial %d: %w", t.Number, err)
		}
		at = p.Map()
	}
	same, err = c.compareResult(d, t, r)
	if same && at != nil && !c.Correct {
		err = fmt.Errorf("%w: trial %d has this result at other values; --correct moves it", store.ErrConflict, t.Number)
	}
	return same && at == nil, at, err
}

// compareResult is compare of the numbers, the state and the note.
func (c *tellCmd) compareResult(d *study.Definition, t *store.Trial, r *exchange.Result) (same bool, err error) {
	report := r.Report
	contradicts := report.Failure != "" && d.Missing(report.Numbers) == nil && !subset(report.Numbers, t.Numbers)
	if contradicts && (t.State != store.Failed || c.Correct) {
		return false, fmt.Errorf("trial %d has the state failed and the numbers of a result: delete the numbers, or write %s into the column state", t.Number, store.Complete)
	}
	if t.State == store.Pending {
		return false, nil
	}
	if t.State == store.Failed && report.Failure != "" && !c.Correct && !subset(report.Numbers, t.Numbers) {
		return false, fmt.Errorf("the failed trial %d has a number that is not recorded: write %s into the column state if this is its result", t.Number, store.Complete)
	}
	noted := report.Message == "" || report.Message == t.Message
	if noted && report.Failure != "" && t.State == store.Failed && subset(report.Numbers, t.Numbers) || noted && report.Failure == "" && t.State == store.Complete && subset(report.Numbers, t.Numbers) {
		return true, nil
	}
	if t.Failure == store.Lost || t.Failure == store.Unfit || c.Correct {
		return false, nil
	}
	return false, fmt.Errorf("%w: trial %d has another result or note: %s; --correct replaces it", store.ErrConflict, t.Number, trialResult(t))
}

// trialResult describes the result of a finished trial.
func trialResult(t *store.Trial) string {
	if t.State != store.Complete {
		return string(t.State)
	}
	text, _ := json.Marshal(t.Numbers)
	return string(text)
}

// subset reports whether all numbers are among others with the same values.
func subset(numbers, others map[string]float64) bool {
	for name, v := range numbers {
		if w, ok := others[name]; !ok || v != w {
			return false
		}
	}
	return true
}

// sameSetting reports whether two values of a parameter are equal. Numbers may differ by 1e-5 of their magnitude, because spreadsheets
// round small ones to six digits.
func sameSetting(a, b any) bool {
	x, ok := a.(float64)
	y, also := b.(float64)
	if ok && also {
		return math.Abs(y-x) <= 1e-5*math.Abs(x)
	}
	return a == b
}

// faulty prints the faults of several rows, one on a line, and returns the error that ends the command.
func (c *tellCmd) faulty(e *env, err error) error {
	text := strings.TrimPrefix(err.Error(), exchange.ErrFormat.Error()+": ") // the text names the file
	if list, ok := errors.AsType[space.Faults](err); ok && len(list) > 1 {
		for _, fault := range list {
			notes(e, c.Table, []string{oneLine(fault.Error())})
		}
		text = c.Table + ": nothing is recorded"
	}
	if errors.Is(err, store.ErrConflict) {
		return refusal{errors.New(text)}
	}
	return errors.New(text)
}
