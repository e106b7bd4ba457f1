package figures

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
)

// Record is one measurement.
type Record struct {
	Surrogate string  `json:"surrogate"`
	Prior     string  `json:"prior"`
	Seed      uint64  `json:"seed"`
	Distance  float64 `json:"distance"`
	Seconds   float64 `json:"seconds"` // duration of the fit
	Error     string  `json:"error,omitempty"`
	Commit    string  `json:"commit,omitempty"`
	Date      string  `json:"date"` // day
}

// fileName is the file with the records of a directory, a line each.
const fileName = "distances.jsonl"

// Read returns the records of a directory, none if it has no file.
func Read(dir string) ([]Record, error) {
	records, err := readLines[Record](filepath.Join(dir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return records, err
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
	return writeLines(filepath.Join(dir, fileName), records)
}
