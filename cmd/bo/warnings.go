package main

import (
	"fmt"
	"regexp"
	"slices"
)

// warnings prints the first warning of each kind, and counts the others.
type warnings struct {
	note   func(line string) // prints a line
	warned map[string]*warning
	kinds  []string // keys of warned, in order
}

// warning counts the warnings of one kind, which differ in numbers alone.
type warning struct {
	text        string // text of the first warning
	times, last int    // number of trials, and the ID of the last
}

// numbers matches the numbers of a warning, except numbers in a name such as lengthscale[1].
var numbers = regexp.MustCompile(`(^|[ (])[0-9][0-9.e+×-]*`)

func newWarnings(note func(line string)) *warnings {
	return &warnings{note: note, warned: map[string]*warning{}}
}

// add prints the warnings of kinds that were not printed before, and counts the others.
// Warnings of the whole run have trial 0.
func (ws *warnings) add(trial int, texts []string) {
	for _, text := range texts {
		kind := numbers.ReplaceAllString(text, "${1}0")
		w, known := ws.warned[kind]
		if !known {
			w = &warning{text: text}
			ws.warned[kind] = w
			ws.kinds = append(ws.kinds, kind)
			head := "bo: warning: "
			if trial > 0 {
				head = fmt.Sprintf("bo: warning: trial %d: ", trial)
			}
			ws.note(head + oneLine(text))
		}
		if trial > 0 {
			w.times, w.last = w.times+1, trial
		}
	}
}

// repeated prints the number of trials of each warning that several trials have.
func (ws *warnings) repeated() {
	for _, kind := range ws.kinds {
		if w := ws.warned[kind]; w.times > 1 {
			ws.note(fmt.Sprintf("bo: warning: in %d trials, the last %d: %s", w.times, w.last, oneLine(w.text)))
		}
	}
}

// addNew appends the texts that a list does not have yet.
func addNew(list []string, texts ...string) []string {
	for _, text := range texts {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}
