// Package stack describes the place of a panic.
package stack

import (
	"fmt"
	"runtime"
	"strings"
)

// depth is the largest number of calls that OfPanic returns.
const depth = 24

// OfPanic returns the calls that led to the panic, the innermost first: for each one a line with the
// function, and a line with file and line number. A deferred function that has recovered calls it.
func OfPanic() string {
	pc := make([]uintptr, 2*depth)
	frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	var text strings.Builder
	panicked := false
	for n := 0; n < depth; {
		f, more := frames.Next()
		if panicked && (n > 0 || !strings.HasPrefix(f.Function, "runtime.")) {
			fmt.Fprintf(&text, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
			n++
		}
		panicked = panicked || f.Function == "runtime.gopanic"
		if !more {
			break
		}
	}
	return text.String()
}
