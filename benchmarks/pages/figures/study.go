package figures

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
)

// Study is a measurement from the appendices of papers on priors over functions.
type Study struct {
	Name, Summary string

	// run writes the measurements of the seeds 1 to seeds to path.jsonl, and calls tell
	// with each.
	run func(ctx context.Context, path string, seeds int, tell func(string)) error
	// show returns the table of the measurements in path.jsonl, and a function that draws
	// them.
	show func(path string) (table string, draw func() error, err error)
}

// Studies returns all studies.
func Studies() []Study {
	return []Study{
		{"context-points", "distance of fsp-laplace from the exact process by number and placement of context points", runContext, showContext},
		{"eigenvalues", "eigenvalues of Gram matrices of kernels at uniform points", runEigenvalues, showEigenvalues},
		lengthscales().study(), noises().study(), measurementPoints().study(), snelson().study(), implicitPriors().study(),
		moonsStudy(),
	}
}

// Run measures the seeds 1 to seeds and calls tell with each measurement. It writes
// the measurements to NAME.jsonl in a directory, their picture to NAME.png and
// for some NAME.svg, and a table to w.
func (s Study) Run(ctx context.Context, dir string, seeds int, w io.Writer, tell func(string)) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := s.run(ctx, filepath.Join(dir, s.Name), seeds, tell); err != nil {
		return err
	}
	return s.Show(dir, w, true)
}

// Show writes the table of the measurements in a directory to w, and makes the picture if draw is
// true.
func (s Study) Show(dir string, w io.Writer, draw bool) error {
	table, paint, err := s.show(filepath.Join(dir, s.Name))
	if err == nil && draw {
		err = paint()
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(w, table)
	return err
}

// writeLines writes a JSON line for each record.
func writeLines[T any](path string, records []T) error {
	var text bytes.Buffer
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

// readLines reads a file that writeLines wrote.
func readLines[T any](path string) ([]T, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var records []T
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var r T
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// savePanels writes panels in rows of two as PNG and as SVG.
func savePanels(panels []*plot.Plot, path string) error {
	for _, ext := range []string{".png", ".svg"} {
		if err := saveGrid(pairs(panels), path+ext); err != nil {
			return err
		}
	}
	return nil
}
