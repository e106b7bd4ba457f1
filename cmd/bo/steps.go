package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os/exec"
	"sync"
	"time"

	"github.com/functionspace/bo/internal/pythonjson"
	"github.com/functionspace/bo/loop"
)

const (
	maxStepLine = 4 << 10 // bytes of a line that may report a step
	maxSteps    = 100_000 // steps of one trial; further steps are ignored
)

// stopTime is the time from SIGTERM to SIGKILL. Tests change it.
var stopTime = 10 * time.Second

// stepReader is a Writer that reports the steps in a program's output while the program runs.
// Write never waits for the store.
type stepReader struct {
	objective string
	line      []byte // the present line
	long      bool   // the present line is too long

	mu    sync.Mutex
	steps []loop.Step // not reported yet
	count int
	ready chan struct{} // receives when there are steps
}

func newStepReader(objective string) *stepReader {
	return &stepReader{objective: objective, ready: make(chan struct{}, 1)}
}

func (r *stepReader) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		part, rest, ended := bytes.Cut(b, []byte("\n"))
		if r.long = r.long || len(r.line)+len(part) > maxStepLine; !r.long {
			r.line = append(r.line, part...)
		}
		if ended {
			r.end()
		}
		b = rest
	}
	return n, nil
}

// end ends the present line.
func (r *stepReader) end() {
	if s, ok := parseStep(r.line, r.objective); ok && !r.long {
		r.mu.Lock()
		if r.count++; r.count <= maxSteps {
			r.steps = append(r.steps, s)
		}
		r.mu.Unlock()
		select {
		case r.ready <- struct{}{}:
		default:
		}
	}
	r.line, r.long = r.line[:0], false
}

// parseStep reads a line such as {"step": 3, "value": 0.41}, or with the name of the objective
// in place of "value". A value that is no finite number is NaN.
func parseStep(line []byte, objective string) (loop.Step, bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || !bytes.Contains(line, []byte(`"step"`)) {
		return loop.Step{}, false
	}
	var object map[string]json.RawMessage
	null := func(string) string { return "null" }
	if json.Unmarshal(line, &object) != nil && json.Unmarshal(pythonjson.Replace(line, null), &object) != nil {
		return loop.Step{}, false
	}
	var step, value *float64
	if json.Unmarshal(object["step"], &step) != nil || step == nil {
		return loop.Step{}, false
	}
	text, given := object["value"]
	if !given {
		text, given = object[objective]
	}
	if !given || json.Unmarshal(text, &value) != nil {
		return loop.Step{}, false
	}
	if value == nil {
		return loop.Step{Step: *step, Value: math.NaN()}, true
	}
	return loop.Step{Step: *step, Value: *value}, true
}

// take returns the steps since the last call.
func (r *stepReader) take() []loop.Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := r.steps
	r.steps = nil
	return steps
}

// report reports steps until ended is closed and all steps are reported, or the trial is
// stopped. It returns loop.ErrStopped if the trial is stopped, after a call of stop. Steps that
// the store does not take are lost.
func (r *stepReader) report(ctx context.Context, ended <-chan struct{}, stop func()) error {
	for over := false; !over; {
		select {
		case <-r.ready:
		case <-ended:
			over = true
		}
		steps := r.take()
		if len(steps) == 0 {
			continue
		}
		if err := loop.ReportSteps(ctx, steps...); errors.Is(err, loop.ErrStopped) {
			stop()
			return err
		}
	}
	return nil
}

// terminate ends a program and its process group: SIGTERM and, after stopTime, SIGKILL. It
// returns when no process of the group is left, and kills them at once if ctx ends.
func terminate(ctx context.Context, cmd *exec.Cmd) {
	limit := time.NewTimer(stopTime)
	defer limit.Stop()
	_ = askGroup(cmd)
	// groupExists may read the state of all processes of the machine, so the interval grows.
	for wait := 20 * time.Millisecond; groupExists(cmd); wait = min(wait*5/4, 250*time.Millisecond) {
		select {
		case <-ctx.Done():
			_ = killGroup(cmd)
			return
		case <-limit.C:
			_ = killGroup(cmd)
			return
		case <-time.After(wait):
		}
	}
}
