package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// trialWriter returns the writer of trials for the extension of path.
func trialWriter(path string) (func(io.Writer, *space.Space, []loop.Trial) error, error) {
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

// ownTrials reports a file at path that was not written by the run with these trials. Each row
// of the file must hold the ID and the parameters of one of the first trials.
func ownTrials(path string, s *space.Space, trials []loop.Trial) error {
	text, err := readRegular(path)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && len(text) == 0:
		return nil
	case err != nil:
		return err
	}
	keys, ours := trialKeysCSV, writeTrialsCSV
	if filepath.Ext(path) == ".jsonl" {
		keys, ours = trialKeysJSON, writeTrialsJSON
	}
	var b bytes.Buffer
	if err := ours(&b, s, trials); err != nil {
		return err
	}
	want, err := keys(b.Bytes(), s.Dim())
	if err != nil {
		return err
	}
	got, err := keys(text, s.Dim())
	if err != nil || len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
		return fmt.Errorf("%s exists and is not of this run: choose another name, or remove it", path)
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

// trialRow is a line of a .jsonl file.
type trialRow struct {
	Trial     int         `json:"trial"`
	Params    space.Point `json:"params"`
	Value     *float64    `json:"value"` // null unless complete
	State     loop.State  `json:"state"`
	SuggestS  float64     `json:"suggest_s"`
	EvaluateS float64     `json:"evaluate_s"`
	Reason    string      `json:"reason,omitempty"`
}

func writeTrialsJSON(w io.Writer, _ *space.Space, trials []loop.Trial) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for _, t := range trials {
		row := trialRow{t.ID, t.Point, nil, t.State, t.SuggestSeconds, t.EvaluateSeconds, t.Error}
		if t.State == loop.Complete {
			row.Value = &t.Value
		}
		if err := enc.Encode(row); err != nil {
			return err
		}
	}
	return b.Flush()
}

// writeTrialsCSV writes one row for each trial. The column of a parameter with the name of
// another column is params.NAME.
func writeTrialsCSV(w io.Writer, s *space.Space, trials []loop.Trial) error {
	last := []string{"value", "state", "suggest_s", "evaluate_s", "reason"}
	header := []string{"trial"}
	names := parameterNames(s)
	for _, name := range names {
		if name == "trial" || slices.Contains(last, name) {
			name = "params." + name
		}
		header = append(header, name)
	}
	cw := csv.NewWriter(w)
	if err := cw.Write(append(header, last...)); err != nil {
		return err
	}
	for _, t := range trials {
		row := []string{strconv.Itoa(t.ID)}
		for _, name := range names {
			row = append(row, t.Point.Text(name))
		}
		value := ""
		if t.State == loop.Complete {
			value = number(t.Value)
		}
		row = append(row, value, string(t.State), number(t.SuggestSeconds), number(t.EvaluateSeconds), t.Error)
		if err := cw.Write(row); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}
