package store

import (
	"fmt"
	"regexp"
)

// alike is the number of first trials that end a run if all fail alike.
const alike = 3

// numbers may differ between messages of one cause: values, times, addresses, process IDs.
var numbers = regexp.MustCompile(`-?(0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)`)

// Firsts detects that the first three trials of a run all fail, with messages that differ in numbers
// only. The program is then at fault, and further trials would fail too. The zero value is ready.
type Firsts struct {
	// Expected leaves out failures of the program, which are normal. A result without a needed number counts.
	Expected bool

	message string // of the first failure, without numbers
	failed  int
	settled bool // a trial did not fail like the others
}

// Add adds the result of a trial. Unreported states that it failed because it lacks a needed number. After the
// third of three failures alike Add returns an error that wraps ErrFailures.
func (f *Firsts) Add(failed, unreported bool, message string) error {
	if failed && !unreported && f.Expected {
		return nil
	}
	short := numbers.ReplaceAllString(message, "0")
	if f.settled || !failed || f.failed > 0 && short != f.message {
		f.settled = true
		return nil
	}
	f.message = short
	if f.failed++; f.failed < alike {
		return nil
	}
	hint := " (set failures: expected if such failures are normal)"
	if unreported {
		hint = ""
	}
	return fmt.Errorf("%w: the first %d failed alike: %s%s", ErrFailures, alike, message, hint)
}
