package store

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
)

// alike is the number of trials that end a run if all fail alike.
const alike = 3

// numbers may differ between messages of one cause: values, times, addresses, process IDs.
var numbers = regexp.MustCompile(`-?(0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)`)

// cause returns a message without numbers.
func cause(message string) string { return numbers.ReplaceAllString(message, "0") }

// Alike returns the number of trials with the latest results of the study that failed with a message, numbers aside.
func (u *Study) Alike(ctx context.Context, message string) (int, error) {
	before := u.begin()
	if err := u.mu.lock(ctx); err != nil {
		return 0, named(u.name, err)
	}
	defer u.mu.unlock()
	if err := u.renew(ctx, before, false); err != nil {
		return 0, err
	}
	var finished []*Trial
	for i := range u.trials {
		if t := &u.trials[i]; t.State != Pending {
			finished = append(finished, t)
		}
	}
	slices.SortFunc(finished, func(a, b *Trial) int { return cmp.Compare(b.Told, a.Told) })
	n, short := 0, cause(message)
	for n < len(finished) && finished[n].State == Failed && cause(finished[n].Message) == short {
		n++
	}
	return n, nil
}

// Firsts detects that the first trials of a run fail with messages that differ in numbers only: three of the run, or fewer if the
// latest three of the study, by other runs too, failed so. The program is then at fault, and further trials would fail
// too. The zero value is ready.
type Firsts struct {
	// Expected leaves out failures of the program, which are normal. A result without a needed number counts.
	Expected bool

	message string // of the first failure, without numbers
	failed  int
	settled bool // a trial did not fail like the others
}

// Add adds the result of a trial. Unreported states that it failed because it lacks a needed number; latest is Study.Alike of a
// failure. After the third of three failures alike Add returns an error that wraps ErrFailures.
func (f *Firsts) Add(failed, unreported bool, message string, latest int) error {
	if failed && !unreported && f.Expected {
		return nil
	}
	short := cause(message)
	if f.settled || !failed || f.failed > 0 && short != f.message {
		f.settled = true
		return nil
	}
	f.message = short
	which := "first"
	if f.failed++; f.failed < alike {
		if latest < alike {
			return nil
		}
		which = "latest"
	}
	hint := " (set failures: expected if such failures are normal)"
	if unreported {
		hint = ""
	}
	return fmt.Errorf("%w: the %s %d failed alike: %s%s", ErrFailures, which, alike, message, hint)
}
