package catalog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/functionspace/bo/surrogate"
)

// ErrNoClassifier reports a surrogate that cannot be fitted to labels.
var ErrNoClassifier = errors.New("cannot classify")

// Classifiers lists the surrogates that can be fitted to labels.
func Classifiers() []Entry {
	var l []Entry
	for _, e := range surrogates {
		if _, ok := e.fresh().(surrogate.Classifier); ok {
			l = append(l, e.Entry)
		}
	}
	return l
}

// Classifier returns the surrogate as a classifier. The error wraps
// ErrNoClassifier and names the surrogates that are classifiers.
func (m *Method) Classifier() (surrogate.Classifier, error) {
	if c, ok := m.Surrogate.(surrogate.Classifier); ok {
		return c, nil
	}
	return nil, fmt.Errorf("surrogate %s %w: choose one of %s", m.surrogate, ErrNoClassifier, strings.Join(Names(Classifiers()), ", "))
}
