package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/table"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

// trialWriter returns the writer of trials for the extension of path.
func trialWriter(path string) (func(io.Writer, *store.View) error, error) {
	switch ext := filepath.Ext(path); ext {
	case ".jsonl":
		return writeTrialsJSON, nil
	case ".csv":
		return writeTrialsCSV, nil
	}
	if _, err := strconv.Atoi(path); err == nil {
		return nil, usagef("--trials %s: want a file; the number of trials is --budget %s", path, path)
	}
	return nil, usagef("--trials %s: want a name that ends in .jsonl or .csv", path)
}

// ownTrials reports a text of the file at --trials that was not written for this study. Each row
// must hold the number and the parameters of one of the first trials. "" is a new file.
func (s *session) ownTrials(text []byte, v *store.View) error {
	if len(text) == 0 {
		return nil
	}
	keys := trialKeysCSV
	if filepath.Ext(s.Trials) == ".jsonl" {
		keys = trialKeysJSON
	}
	var b bytes.Buffer
	if err := s.writeRows(&b, v); err != nil {
		return err
	}
	columns := len(v.Definition.Parameters)
	want, err := keys(b.Bytes(), columns)
	if err != nil {
		return err
	}
	got, err := keys(text, columns)
	if err != nil || len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
		return fmt.Errorf("%s exists and is not of this run: choose another name, or remove it", s.Trials)
	}
	return nil
}

// trialKeysCSV returns the cells of the header's and each row's ID and parameters.
func trialKeysCSV(text []byte, parameters int) ([]string, error) {
	records, err := table.Records(text)
	keys := make([]string, len(records))
	for i, r := range records {
		keys[i] = strings.Join(r[:min(len(r), 1+parameters)], "\x00")
	}
	return keys, err
}

func trialKeysJSON(text []byte, _ int) ([]string, error) {
	var keys []string
	for line := range bytes.Lines(text) {
		var row struct {
			Trial  int             `json:"trial"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, err
		}
		keys = append(keys, fmt.Sprint(row.Trial, string(row.Params)))
	}
	return keys, nil
}

// trialRows returns the trials of a study as JSON values.
func trialRows(v *store.View) []trialJSON {
	rows, front := make([]trialJSON, len(v.Trials)), onFront(v)
	for i := range v.Trials {
		rows[i] = newTrialJSON(&v.Trials[i], v)
		rows[i].Front = front[v.Trials[i].Number]
		rows[i].Unfit = unfitReason(v, i)
	}
	return rows
}

// unfitReason returns the reason for which the i-th trial does not fit the definition, "" if it fits.
func unfitReason(v *store.View, i int) string {
	if v.Points[i].Space() != nil {
		return ""
	}
	return oneLine(v.Fault(i).Error())
}

// addSteps adds the steps of the trials of v to their rows.
func addSteps(ctx context.Context, u *store.Study, v *store.View, rows []trialJSON) error {
	steps, err := u.Steps(ctx, 0)
	if err != nil {
		return err
	}
	objective := v.Definition.Objective().Name
	for _, s := range steps {
		if s.Trial <= len(rows) && s.Attempt == rows[s.Trial-1].Attempt && s.Name == objective {
			value := &s.Value
			if !s.Usable() {
				value = nil
			}
			rows[s.Trial-1].Steps = append(rows[s.Trial-1].Steps, study.Step{Step: s.Step, Value: value})
		}
	}
	return nil
}

// writeTrialsJSON writes a JSON object per line and trial.
func writeTrialsJSON(w io.Writer, v *store.View) error { return writeRowsJSON(w, trialRows(v)) }

func writeRowsJSON(w io.Writer, rows []trialJSON) error {
	b := bufio.NewWriter(w)
	for _, row := range rows {
		if err := printJSON(b, row); err != nil {
			return err
		}
	}
	return b.Flush()
}

// writeTrialsCSV writes a table of the trials.
func writeTrialsCSV(w io.Writer, v *store.View) error {
	return exchange.WriteCSV(w, v.Definition, v.Trials)
}

type trialsCmd struct {
	storeFlags
	Study  string `arg:"" complete:"studies" help:"Name of the study."`
	Format string `group:"result" enum:"table,csv,csv-semicolons,jsonl" default:"table" placeholder:"FORMAT" help:"table, csv, csv-semicolons (with decimal commas, as spreadsheets open in German or French) or jsonl. Default: ${default}."`
	Logs   int    `group:"result" min:"1" default:"0" placeholder:"TRIAL" help:"Print the output of the program in the last attempt at TRIAL, if it ran on this machine."`
	JSON   bool   `group:"result" name:"json" help:"Print a JSON array of trials."`
}

// printLogs prints the output of the program of a trial, on a terminal with control characters escaped.
func (c *trialsCmd) printLogs(e *env, v *store.View) error {
	if c.Logs > len(v.Trials) {
		return usagef("study %s: no such trial: %d, the last one is %d", c.Study, c.Logs, len(v.Trials))
	}
	attempt := v.Trials[c.Logs-1].Attempt
	dir := attemptFolder(c.trialsFolder(c.Study), c.Logs, attempt)
	found := false
	for _, log := range []struct {
		name string
		to   io.Writer
	}{{"stdout", e.stdout}, {"stderr", e.stderr}} {
		f, err := os.Open(filepath.Join(dir, log.name))
		if err != nil {
			continue
		}
		found = true
		if terminal(log.to) == nil {
			_, err = io.Copy(log.to, f)
		} else {
			err = copyPrintable(log.to, f)
		}
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
		case c.Format == "csv-semicolons":
			return exchange.WriteSemicolons(e.stdout, v.Definition, v.Trials)
		}
		b, front, digits := bufio.NewWriter(e.stdout), onFront(v), digitsOf(v)
		for i := range v.Trials {
			mark := ""
			if front[v.Trials[i].Number] {
				mark = "  (front)"
			}
			if reason := unfitReason(v, i); reason != "" {
				mark = "  (left out of fits: " + reason + ")"
				if v.Outside(i) {
					mark = "  (never the best: " + reason + ")"
				}
			}
			fmt.Fprintln(b, trialText(&v.Trials[i], v, digits)+mark)
		}
		return b.Flush()
	})
}
