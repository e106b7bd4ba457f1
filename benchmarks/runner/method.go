package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/internal/catalog"
	"github.com/functionspace/bo/internal/nearest"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// ErrSetting reports a setting of a method that is not written key=value.
var ErrSetting = errors.New("bad setting")

// Designs are the methods that choose points without looking at values.
const (
	Sobol  = "sobol"  // a scrambled Sobol sequence
	Random = "random" // uniform
)

// Method chooses the points of a run: a surrogate with an acquisition function,
// or a design.
type Method struct {
	// Name tells methods apart: the text that ParseMethod read.
	Name string

	base  string // Sobol, Random, or a surrogate
	pairs []pair
}

type pair struct{ key, value string }

// chooser is what a study needs of a method.
type chooser struct {
	model       surrogate.Model
	acquisition acquisition.Acquisition
	maximizer   acquisition.MaximizeOptions
}

// Methods lists the names that ParseMethod knows.
func Methods() []string {
	var names []string
	for _, e := range catalog.Surrogates() {
		names = append(names, e.Name)
	}
	return append(names, Sobol, Random)
}

// ParseMethod reads NAME or NAME:key=value;key=value. NAME is a surrogate, sobol
// or random. The keys are the surrogate's settings, "acquisition" for the name
// of the acquisition function, acquisition.KEY for its settings and
// maximizer.KEY for those of its maximiser. An error wraps ErrUnknown and names
// the nearest name, or wraps ErrSetting or an error of package settings.
func ParseMethod(text string) (Method, error) {
	text = strings.TrimSpace(text)
	base, list, some := strings.Cut(text, ":")
	m := Method{Name: text, base: base}
	if !slices.Contains(Methods(), base) {
		return m, fmt.Errorf("%w method %q: did you mean %s?", ErrUnknown, base, nearest.Name(base, Methods()))
	}
	if some {
		for item := range strings.SplitSeq(list, ";") {
			key, value, ok := strings.Cut(item, "=")
			if key = strings.TrimSpace(key); !ok || key == "" {
				return m, fmt.Errorf("method %s: %w %q: want key=value", text, ErrSetting, item)
			}
			m.pairs = append(m.pairs, pair{key, value})
		}
	}
	if m.design() && some {
		return m, fmt.Errorf("method %s: %w: %s has none", text, ErrSetting, base)
	}
	if _, err := m.chooser(); err != nil {
		return m, fmt.Errorf("method %s: %w", text, err)
	}
	return m, nil
}

// SplitMethods cuts a list at its commas, except at those before a number,
// which belong to a setting: "gp,fsp-laplace:hidden=50,50,sobol" has three
// methods.
func SplitMethods(list string) []string {
	var methods []string
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if n := len(methods); n > 0 && part != "" && strings.ContainsRune("0123456789.+-", rune(part[0])) {
			methods[n-1] += "," + part
		} else if part != "" {
			methods = append(methods, part)
		}
	}
	return methods
}

func (m Method) design() bool { return m.base == Sobol || m.base == Random }

// chooser returns fresh option structs with the settings in them.
func (m Method) chooser() (c chooser, err error) {
	if m.design() {
		return c, nil
	}
	if c.model, err = catalog.Surrogate(m.base); err != nil {
		return c, err
	}
	name := catalog.Acquisitions()[0].Name
	for _, p := range m.pairs {
		if p.key == "acquisition" {
			name = strings.TrimSpace(p.value)
		}
	}
	if c.acquisition, err = catalog.Acquisition(name); err != nil {
		return c, err
	}
	for _, p := range m.pairs {
		if err := c.set(p); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *chooser) set(p pair) error {
	owner, key, ok := strings.Cut(p.key, ".")
	switch {
	case p.key == "acquisition":
		return nil
	case ok && owner == "acquisition":
		return settings.Set(c.acquisition, key, p.value)
	case ok && owner == "maximizer":
		return settings.Set(&c.maximizer, key, p.value)
	}
	return settings.Set(c.model, p.key, p.value)
}

// check reports settings that no problem of dim inputs can have.
func (m Method) check(dim int) error {
	c, err := m.chooser()
	if err != nil {
		return err
	}
	switch model := c.model.(type) {
	case interface{ Check(dim int) error }:
		err = model.Check(dim)
	case interface {
		Process(dim int) (prior.Process, error)
	}:
		_, err = model.Process(dim)
	}
	if err != nil {
		return fmt.Errorf("method %s: %w", m.Name, err)
	}
	return nil
}
