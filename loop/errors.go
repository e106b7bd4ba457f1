package loop

import "errors"

var (
	// ErrOptions reports options that no study can be made of.
	ErrOptions = errors.New("loop: bad options")
	// ErrNotFinite reports a value told that is NaN, infinite or beyond
	// MaxValue.
	ErrNotFinite = errors.New("loop: value is not a usable number")
	// ErrUnknownTrial reports a trial ID that was never asked.
	ErrUnknownTrial = errors.New("loop: no such trial")
	// ErrFinished reports a trial that was told or failed before.
	ErrFinished = errors.New("loop: trial is already finished")
	// ErrExhausted reports that every point of a finite space has been asked
	// and that, the objective being noise-free, none is worth repeating.
	ErrExhausted = errors.New("loop: every point of the space has been tried")
	// ErrNoValue reports that no trial has a value yet, or that all failed.
	ErrNoValue = errors.New("loop: no trial has a value")
	// ErrState reports a saved study that cannot be read.
	ErrState = errors.New("loop: bad saved study")
	// ErrMismatch reports options that differ from those of a saved study.
	ErrMismatch = errors.New("loop: options differ from the saved study")
	// ErrRunning reports a second Run while one is under way.
	ErrRunning = errors.New("loop: the study is already running")
)

// MaxValue is the largest magnitude of a value that a study accepts.
const MaxValue = 1e300
