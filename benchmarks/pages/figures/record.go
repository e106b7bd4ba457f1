package figures

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Record is one measurement.
type Record struct {
	Surrogate string  `json:"surrogate"`
	Prior     string  `json:"prior"`
	Seed      uint64  `json:"seed"`
	Distance  float64 `json:"distance"`
	Seconds   float64 `json:"seconds"` // of the fit
	Error     string  `json:"error,omitempty"`
	Commit    string  `json:"commit,omitempty"`
	Date      string  `json:"date"` // day
}

// fileName is the file with the records of a directory, a line each.
const fileName = "distances.jsonl"

// Read returns the records of a directory, none if it has no file.
func Read(dir string) ([]Record, error) {
	path := filepath.Join(dir, fileName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var records []Record
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// replace replaces the records of one surrogate in a directory and sorts all records
// by name.
func replace(dir, name string, fresh []Record) error {
	records, err := Read(dir)
	if err != nil {
		return err
	}
	records = slices.DeleteFunc(records, func(r Record) bool { return r.Surrogate == name })
	records = append(records, fresh...)
	slices.SortStableFunc(records, func(a, b Record) int { return cmp.Compare(a.Surrogate, b.Surrogate) })
	var text bytes.Buffer
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	return os.WriteFile(filepath.Join(dir, fileName), text.Bytes(), 0o644)
}
