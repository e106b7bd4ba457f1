package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Alias is a short name for a method with settings, of which some may differ from
// problem to problem. Records have the name, and the method as Record.As.
type Alias struct {
	Name   string
	Method string            // as ParseMethod reads it
	On     map[string]string // more settings key=value;key=value on the problem of a name
}

// on returns the method that the alias stands for on a problem.
func (a Alias) on(problem string) string {
	more := a.On[problem]
	switch {
	case more == "":
		return a.Method
	case strings.Contains(a.Method, ":"):
		return a.Method + ";" + more
	}
	return a.Method + ":" + more
}

// String is the method and what is added on some problems, those together that get the
// same.
func (a Alias) String() string {
	problems := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(a.On)) {
		problems[a.On[name]] = append(problems[a.On[name]], name)
	}
	text := a.Method
	for _, more := range slices.Sorted(maps.Keys(problems)) {
		text += fmt.Sprintf("; on %s %s", strings.Join(problems[more], ", "), more)
	}
	return text
}

// method reads a name as on a problem: an alias of the suite, or as ParseMethod does.
func (s Suite) method(name, problem string) (Method, error) {
	i := slices.IndexFunc(s.Aliases, func(a Alias) bool { return a.Name == strings.TrimSpace(name) })
	if i < 0 {
		return ParseMethod(name)
	}
	m, err := ParseMethod(s.Aliases[i].on(problem))
	m.as, m.Name = m.Name, s.Aliases[i].Name
	return m, err
}
