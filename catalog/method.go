package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
)

// Method is a surrogate and, for a search, an acquisition function and its
// maximizer. NewMethod returns one.
type Method struct {
	Surrogate   surrogate.Model
	Acquisition acquisition.Acquisition // nil before Choose
	Maximizer   acquisition.MaximizeOptions

	surrogate, acquisition string   // names
	learned                []string // keys of the surrogate that Set left to the fit
}

// NewMethod returns the named surrogate with its defaults and no acquisition
// function. The error wraps ErrUnknown.
func NewMethod(name string) (*Method, error) {
	model, err := Surrogate(name)
	if err != nil {
		return nil, err
	}
	return &Method{Surrogate: model, surrogate: name}, nil
}

// Choose sets the acquisition function, with its defaults. The error wraps
// ErrUnknown.
func (m *Method) Choose(name string) error {
	a, err := Acquisition(name)
	if err != nil {
		return err
	}
	m.Acquisition, m.acquisition = a, name
	return nil
}

// owner is an option struct of a method. Its keys begin with prefix.
type owner struct {
	prefix, kind, name string
	options            any // a pointer to a struct
}

const acquisitionPrefix, maximizerPrefix = "acquisition.", "maximizer."

// owners returns the option structs whose options Set changes.
func (m *Method) owners() []owner {
	list := []owner{{"", "surrogate", m.surrogate, m.Surrogate}}
	if m.Acquisition != nil {
		list = append(list,
			owner{acquisitionPrefix, "acquisition", m.acquisition, m.Acquisition},
			owner{maximizerPrefix, "maximizer", "", &m.Maximizer})
	}
	return list
}

// String returns a text such as "surrogate gp".
func (o owner) String() string { return strings.TrimSpace(o.kind + " " + o.name) }

// wrap begins err with the owner, and drops the name that err itself begins with.
func (o owner) wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case strings.HasPrefix(err.Error(), o.name+": "):
		return fmt.Errorf("%s %w", o.kind, err)
	}
	return fmt.Errorf("%v: %w", o, err)
}

// Set reads KEY=VALUE and sets the option of that key: a key of the surrogate, or
// acquisition.KEY or maximizer.KEY. The error wraps ErrUnknown or ErrSetting and
// names the accepted keys or values. An option that the preset surrogate.Published fixes cannot be
// learned beside it, in any order of the pairs.
func (m *Method) Set(pair string) error {
	key, text, _ := strings.Cut(pair, "=")
	key, text = strings.TrimSpace(key), strings.TrimSpace(text)
	if key == "" || text == "" {
		return fmt.Errorf("%w %q: want key=value", ErrSetting, pair)
	}
	owners := m.owners()
	to := owners[0]
	for _, o := range owners[1:] {
		if strings.HasPrefix(key, o.prefix) {
			to = o
		}
	}
	bare := strings.TrimPrefix(key, to.prefix)
	err := settings.Set(to.options, bare, text)
	if errors.Is(err, ErrUnknown) && !strings.Contains(err.Error(), "did you mean") {
		for _, o := range owners {
			if slices.ContainsFunc(settings.List(o.options), func(s settings.Setting) bool { return s.Key == bare }) {
				return fmt.Errorf("%v: %w setting %q: did you mean %s%s?", to, ErrUnknown, bare, o.prefix, bare)
			}
		}
	}
	if err == nil && to.prefix == "" {
		err = m.checkLearned(bare, text)
	}
	return to.wrap(err)
}

// checkLearned returns an error if the preset, now set, fixes an option that an earlier pair left to
// the fit.
func (m *Method) checkLearned(key, text string) error {
	if text == settings.Learned {
		m.learned = append(m.learned, key)
	}
	if key != settings.PresetKey || text != settings.Published {
		return nil
	}
	for _, learned := range m.learned {
		value, err := settings.Get(m.Surrogate, learned)
		if err == nil && value == settings.Learned {
			err = settings.Set(m.Surrogate, learned, settings.Learned)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Setting is an option of a method.
type Setting struct {
	Key     string   // in the syntax of Set
	Value   string   // the present value; "learned", "0" or "" if not set
	Type    string   // in words: "number", "whole number", "numbers", "text", …
	Default string   // in words if it depends on other settings or on the data
	Range   string   // accepted numbers, in words: "1 to 1000", "more than 0"
	Values  []string // the only values allowed; nil allows all in the range
	Help    string
}

// Settings lists the options that Set changes.
func (m *Method) Settings() []Setting {
	var list []Setting
	for _, o := range m.owners() {
		for _, s := range settings.List(o.options) {
			value, err := settings.Get(o.options, s.Key)
			if err != nil {
				panic(err) // List returned the key
			}
			list = append(list, Setting{
				Key: o.prefix + s.Key, Value: value, Type: s.Type, Default: s.Default, Range: s.Range, Values: s.Values, Help: s.Help,
			})
		}
	}
	return list
}

// Has reports whether Set accepts the key.
func (m *Method) Has(key string) bool {
	return slices.ContainsFunc(m.Settings(), func(s Setting) bool { return s.Key == key })
}

// Check returns the error of settings that fail for every dataset of dim inputs.
func (m *Method) Check(dim int) error {
	owners := m.owners()
	if err := surrogate.Check(m.Surrogate, dim); err != nil {
		return owners[0].wrap(err)
	}
	for _, o := range owners[1:] {
		if err := settings.Check(o.options); err != nil {
			return o.wrap(err)
		}
	}
	return nil
}
