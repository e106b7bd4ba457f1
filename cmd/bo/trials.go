package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
)

// trialWriter returns the writer of trials that the extension of path asks for.
func trialWriter(path string) (func(io.Writer, *space.Space, []loop.Trial) error, error) {
	switch ext := filepath.Ext(path); ext {
	case ".jsonl":
		return writeTrialsJSON, nil
	case ".csv":
		return writeTrialsCSV, nil
	}
	return nil, usagef("--trials %s: want a name that ends in .jsonl or .csv", path)
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

// writeTrialsCSV names a parameter's column params.NAME where NAME is that of
// another column.
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
