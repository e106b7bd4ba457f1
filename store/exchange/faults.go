package exchange

import (
	"fmt"

	"github.com/functionspace/bo/space"
)

// maxFaults is the number of faults that an error lists.
const maxFaults = 10

// faults collects the faults of the rows or the trials of a file: the first ones, and the number
// of the others.
type faults struct {
	what string // noun of an entry, in the plural
	list space.Faults
	more int
}

func (f *faults) add(err error) {
	if len(f.list) == maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, err)
}

// err returns the faults as a space.Faults, or nil. Its last entry counts the faults that it leaves
// out.
func (f *faults) err() error {
	switch {
	case len(f.list) == 0:
		return nil
	case f.more > 0:
		return append(f.list, fmt.Errorf("more %s with faults: %d", f.what, f.more))
	}
	return f.list
}
