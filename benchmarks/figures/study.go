package figures

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A Study is a measurement of one thing that papers on priors over functions show
// in their appendices.
type Study struct {
	Name, Summary string

	run func(ctx context.Context, dir string, seeds int, tell func(string)) (table string, err error)
}

// Studies are all there are.
func Studies() []Study {
	return []Study{
		{"context-points", "distance of fsp-laplace from the exact process by number and place of context points", contextStudy},
		{"eigenvalues", "eigenvalues of Gram matrices of kernels at uniform points", eigenvalueStudy},
	}
}

// Run measures the seeds 1 to seeds, tells of each, and writes the measurements to
// NAME.jsonl in a directory, their picture to NAME.png and NAME.svg, and a table to w.
func (s Study) Run(ctx context.Context, dir string, seeds int, w io.Writer, tell func(string)) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	table, err := s.run(ctx, filepath.Join(dir, s.Name), seeds, tell)
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
