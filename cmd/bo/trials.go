package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/store"
)

// trialWriter returns the writer of trials that the extension of path asks for.
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

// ownTrials reports a file at --trials that was not written for this study. Each row of the
// file must hold the number and the parameters of one of the first trials.
func (s *session) ownTrials(v *store.View) error {
	text, err := readRegular(s.Trials)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && len(text) == 0:
		return nil
	case err != nil:
		return err
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
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
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

// trialRows are the trials of a study as JSON values.
func trialRows(v *store.View) []trialJSON {
	rows := make([]trialJSON, len(v.Trials))
	for i := range v.Trials {
		rows[i] = newTrialJSON(&v.Trials[i], v)
	}
	return rows
}

// writeTrialsJSON writes a JSON object per line and trial.
func writeTrialsJSON(w io.Writer, v *store.View) error {
	b := bufio.NewWriter(w)
	for _, row := range trialRows(v) {
		if err := printJSON(b, row); err != nil {
			return err
		}
	}
	return b.Flush()
}

// writeTrialsCSV writes trials with a column for every parameter that a trial has. A column
// of a parameter is named params.NAME where NAME is one of the other columns.
func writeTrialsCSV(w io.Writer, v *store.View) error {
	rows := trialRows(v)
	last := []string{"value", "state", "seconds", "failure", "message"}
	var names []string
	for _, p := range v.Definition.Parameters {
		names = append(names, p.Name)
	}
	values := make([]map[string]any, len(rows))
	for i := range rows {
		dec := json.NewDecoder(bytes.NewReader(rows[i].Params))
		dec.UseNumber()
		if err := dec.Decode(&values[i]); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(values[i])) {
			if !slices.Contains(names, name) {
				names = append(names, name) // name of a parameter that was removed
			}
		}
	}
	header := []string{"trial"}
	for _, name := range names {
		if name == "trial" || slices.Contains(last, name) {
			name = "params." + name
		}
		header = append(header, name)
	}
	out := csv.NewWriter(w)
	if err := out.Write(append(header, last...)); err != nil {
		return err
	}
	for i, r := range rows {
		cells := []string{strconv.Itoa(r.Trial)}
		for _, name := range names {
			cell := ""
			if value, ok := values[i][name]; ok {
				cell = fmt.Sprint(value)
			}
			cells = append(cells, cell)
		}
		value := ""
		if r.Value != nil {
			value = number(*r.Value)
		}
		if err := out.Write(append(cells, value, string(r.State), number(r.Seconds), string(r.Failure), r.Message)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
