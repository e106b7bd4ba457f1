package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// Alias is a short name for a method with settings, which may differ between
// problems. A Record has the name as Method and the method as As.
type Alias struct {
	Name   string
	Method string            // in the syntax of ParseMethod
	On     map[string]string // further settings key=value;key=value by problem
}

// on returns the method on a problem.
func (a Alias) on(problem string) string {
	if more := a.On[problem]; more != "" {
		return withSettings(a.Method, more)
	}
	return a.Method
}

// withSettings adds settings key=value;key=value to a method in the syntax of ParseMethod.
func withSettings(method, settings string) string {
	if strings.Contains(method, ":") {
		return method + ";" + settings
	}
	return method + ":" + settings
}

// String returns the method and the further settings, with the problems that share
// them.
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

// names returns the names of the methods in Go and of the aliases.
func (s Suite) names() []string {
	names := slices.Collect(maps.Keys(s.Own))
	for _, a := range s.Aliases {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

// typedMethod is ParseMethod without repeated settings. In an alias a later setting replaces an earlier one.
func typedMethod(text string) (Method, error) {
	_, list, _ := strings.Cut(text, ":")
	given := map[string]bool{}
	for s := range strings.SplitSeq(list, ";") {
		key, _, _ := strings.Cut(s, "=")
		if key = strings.TrimSpace(key); given[key] {
			return Method{}, fmt.Errorf("method %s: %w: %s is given twice", text, ErrSetting, key)
		}
		given[key] = true
	}
	return ParseMethod(text)
}

// method parses a name on a problem: a method in Go or an alias of the suite, or the syntax of
// ParseMethod, in which no setting may be repeated.
func (s Suite) method(name, problem string) (Method, error) {
	name = strings.TrimSpace(name)
	if own, ok := s.Own[name]; ok {
		return Method{Name: name, inGo: &own}, nil
	}
	i := slices.IndexFunc(s.Aliases, func(a Alias) bool { return a.Name == name })
	if i < 0 {
		base, _, _ := strings.Cut(name, ":")
		if valid := Methods(); !slices.Contains(valid, base) {
			return Method{}, fmt.Errorf("%w method %q%s", ErrUnknown, base, didyoumean.Hint(base, append(valid, s.names()...)))
		}
		return typedMethod(name)
	}
	m, err := ParseMethod(s.Aliases[i].on(problem))
	m.as, m.Name = m.Name, s.Aliases[i].Name
	return m, err
}
