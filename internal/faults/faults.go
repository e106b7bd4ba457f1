// Package faults collects the faults of the items of a list, such as the rows of a table.
package faults

import "fmt"

// most is the number of faults that a list has.
const most = 10

// List collects the faults of the items of one input: the first ten, and the number of the others.
type List struct {
	What string // noun of an item, in the plural
	list []error
	more int
}

// Add adds a fault of one item.
func (l *List) Add(err error) {
	if len(l.list) == most {
		l.more++
		return
	}
	l.list = append(l.list, err)
}

// Errors returns the faults, nil if there are none. The last entry counts the faults that are left out.
func (l *List) Errors() []error {
	if l.more > 0 {
		return append(l.list, fmt.Errorf("more %s with faults: %d", l.What, l.more))
	}
	return l.list
}
