package loop

import "errors"

var (
	// ErrOptions reports invalid options or arguments.
	ErrOptions = errors.New("loop: invalid options")
	// ErrHistory reports a History that Propose or Recommend cannot use.
	ErrHistory = errors.New("loop: invalid history")
	// ErrNotFinite reports a value that is NaN, infinite, or beyond MaxValue.
	ErrNotFinite = errors.New("loop: no usable number")
	// ErrUnknownTrial reports an ID that no trial of the study has.
	ErrUnknownTrial = errors.New("loop: no such trial")
	// ErrFinished reports a trial that is not pending.
	ErrFinished = errors.New("loop: trial is already finished")
	// ErrExhausted reports that every point of a finite space has a trial that is not lost. The objective is
	// noise-free, so repeating a point is useless.
	ErrExhausted = errors.New("loop: every point of the space has been tried")
	// ErrNoValue reports that no trial has a value.
	ErrNoValue = errors.New("loop: no trial has a value")
	// ErrEqualValues reports that all values are equal, from which a regret cannot be estimated.
	ErrEqualValues = errors.New("loop: all values are equal")
	// ErrState reports a saved study that cannot be read.
	ErrState = errors.New("loop: bad saved study")
	// ErrMismatch reports options that differ from the options of a saved study.
	ErrMismatch = errors.New("loop: options differ from the saved study")
	// ErrRunning reports a Run of a study that is running already.
	ErrRunning = errors.New("loop: the study is already running")
)

// MaxValue is the largest magnitude of a value that a study accepts.
const MaxValue = 1e300
