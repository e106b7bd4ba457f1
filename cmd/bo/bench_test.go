package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks/runner"
)

// interrupter calls stop when a given text is written.
type interrupter struct {
	bytes.Buffer
	at   string
	stop func()
}

func (w *interrupter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.at)) {
		w.stop()
	}
	return w.Buffer.Write(p)
}

func TestBenchInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"bench", "run", "smoke", "--workers", "2", "--out", dir}
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &interrupter{at: "5/27", stop: cancel}
	require.Equal(t, exitInterrupted, run(ctx, args, nil, io.Discard, stderr))
	require.Regexp(t, `(?m)^bo: interrupted after [5-7] of 27 runs; the same command continues$`, stderr.String())
	kept, err := os.ReadFile(filepath.Join(dir, "runs.jsonl"))
	require.NoError(t, err)

	var again bytes.Buffer
	require.Equal(t, exitDone, run(t.Context(), args, nil, io.Discard, &again))
	all, err := os.ReadFile(filepath.Join(dir, "runs.jsonl"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(all), string(kept)), "existing records stay")
	require.Equal(t, 27, strings.Count(string(all), "\n"))
}

func TestBenchInUse(t *testing.T) {
	dir := t.TempDir()
	other, err := runner.OpenStore(dir)
	require.NoError(t, err)
	args := []string{"bench", "run", "smoke", "--methods", "sobol", "--quiet", "--out", dir}
	var stderr bytes.Buffer
	require.Equal(t, exitFailed, run(t.Context(), args, nil, io.Discard, &stderr))
	require.Equal(t, "bo: "+filepath.Join(dir, "runs.jsonl")+": another process adds results: wait for its end, or use another directory\n", stderr.String())
	require.NoError(t, other.Close())
	require.Equal(t, exitDone, run(t.Context(), args, nil, io.Discard, io.Discard))
}

func TestMixture(t *testing.T) {
	for _, c := range []struct {
		stored []string
		commit string
		want   string
	}{
		{nil, "b", ""},
		{[]string{"b"}, "b", ""},
		{[]string{""}, "", ""},
		{[]string{"a", "b"}, "b", "the results mix commits a and b: use another --out to separate them"},
		{[]string{"", "a"}, "b", "the results mix commits unknown, a and b: use another --out to separate them"},
		{[]string{"a"}, "", "the results mix commits a and unknown: use another --out to separate them"},
	} {
		require.Equal(t, c.want, mixture(c.stored, c.commit))
	}
}
