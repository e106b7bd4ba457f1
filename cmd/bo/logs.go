package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxLog is the number of leading bytes of each output that a trial's folder keeps.
const maxLog = 10 << 20

// logs are the files that keep the output of one evaluation.
type logs struct {
	dir            string // "" without files
	stdout, stderr io.Writer
	files          []*os.File
}

// logs makes the folder of an attempt, DIR/TRIAL.ATTEMPT, with the files stdout and stderr. Output
// without a file is discarded; the error is the reason.
func (p *program) logs(c *call) (*logs, error) {
	l := &logs{stdout: io.Discard, stderr: io.Discard}
	if p.dir == "" {
		return l, nil
	}
	dir, err := filepath.Abs(attemptFolder(p.dir, c.trial.Number, c.trial.Attempt))
	if err != nil {
		return l, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return l, err
	}
	l.dir = dir
	for name, to := range map[string]*io.Writer{"stdout": &l.stdout, "stderr": &l.stderr} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return l, err
		}
		l.files = append(l.files, f)
		*to = &capped{w: f, left: maxLog}
	}
	return l, nil
}

func attemptFolder(dir string, trial, attempt int) string {
	return filepath.Join(dir, fmt.Sprintf("%d.%d", trial, attempt))
}

func (l *logs) close() {
	for _, f := range l.files {
		_ = f.Close()
	}
}

// capped is a Writer that keeps the first bytes. It never fails, so that a full disk does not
// fail a trial.
type capped struct {
	w    io.Writer
	left int
}

func (c *capped) Write(b []byte) (int, error) {
	n := min(len(b), c.left)
	if n > 0 {
		if _, err := c.w.Write(b[:n]); err != nil {
			n = c.left // write nothing more
		}
		c.left -= n
	}
	return len(b), nil
}
