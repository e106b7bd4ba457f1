package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/loop"
)

// ErrSetting reports a setting that does not have the form key=value.
var ErrSetting = catalog.ErrSetting

// The methods that choose points independently of the values.
const (
	Sobol  = "sobol"  // a scrambled Sobol sequence
	Random = "random" // uniform
)

// Method chooses the points of a run: a surrogate with an acquisition function, or a
// design.
type Method struct {
	// Name identifies the method: the text given to ParseMethod, or the name of an
	// Alias.
	Name string

	as       string // the text given to ParseMethod if Name is an Alias
	base     string // Sobol, Random, or a surrogate
	warp     loop.Warp
	local    loop.Local
	hidden   bool // noise-free objectives are not declared
	settings []string
	inGo     *catalog.Method // of Suite.Own; the settings are then not used
}

// Methods returns the names that ParseMethod accepts.
func Methods() []string {
	return append(catalog.Names(catalog.Surrogates()), Sobol, Random)
}

// ParseMethod parses NAME or NAME:key=value;key=value. NAME is a surrogate, sobol or
// random. The keys are the settings of the surrogate. In addition, acquisition is the name of the acquisition
// function, and acquisition.KEY is one of its settings. maximizer.KEY is a setting of its maximiser, warp is
// loop.Options.Warp, and local is loop.Options.Local. The setting noise-free=false hides from the method that
// an objective is noise-free. The error wraps ErrUnknown, ErrSetting or an error of package settings.
func ParseMethod(text string) (Method, error) {
	text = strings.TrimSpace(text)
	base, list, some := strings.Cut(text, ":")
	m := Method{Name: text, base: base}
	if !slices.Contains(Methods(), base) {
		return m, fmt.Errorf("%w method %q%s", ErrUnknown, base, didyoumean.Hint(base, Methods()))
	}
	if some {
		for s := range strings.SplitSeq(list, ";") {
			own, err := m.own(s)
			if err != nil {
				return m, fmt.Errorf("method %s: %w: %w", text, ErrSetting, err)
			}
			if !own {
				m.settings = append(m.settings, s)
			}
		}
	}
	if m.design() && some {
		return m, fmt.Errorf("method %s: %w: %s has no settings", text, ErrSetting, base)
	}
	if _, err := m.chooser(); err != nil {
		return m, fmt.Errorf("method %s: %w", text, err)
	}
	return m, nil
}

// own applies a setting of the run and reports whether it is one.
func (m *Method) own(setting string) (bool, error) {
	key, value, ok := strings.Cut(setting, "=")
	value = strings.TrimSpace(value)
	switch key = strings.TrimSpace(key); {
	case !ok:
		return false, nil
	case key == "warp":
		if m.warp = loop.Warp(value); m.warp != loop.WarpAuto && m.warp != loop.WarpNone {
			return true, fmt.Errorf("warp is %q, want %s or %s", value, loop.WarpAuto, loop.WarpNone)
		}
		return true, nil
	case key == "local":
		if m.local = loop.Local(value); m.local != loop.LocalAuto && m.local != loop.LocalNone {
			return true, fmt.Errorf("local is %q, want %s or %s", value, loop.LocalAuto, loop.LocalNone)
		}
		return true, nil
	case key == "noise-free":
		if m.hidden = value == "false"; !m.hidden {
			return true, fmt.Errorf("noise-free is %q, want false", value)
		}
		return true, nil
	}
	return false, nil
}

// SplitMethods splits a list at its commas. A comma before a number belongs to a
// setting: "gp,fsp-laplace:hidden=50,50,sobol" has three methods.
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

// classifies reports whether the method can be fitted to labels.
func (m Method) classifies() bool {
	c, err := m.chooser()
	if err != nil || m.design() {
		return false
	}
	_, err = c.Classifier()
	return err == nil
}

// chooser returns new options of surrogate, acquisition and maximiser with the
// settings applied, empty for a design. The settings of a prior come first if the
// surrogate has a kernel.
func (m Method) chooser(prior ...string) (*catalog.Method, error) {
	if m.design() {
		return &catalog.Method{}, nil
	}
	if m.inGo != nil {
		return m.inGo, nil
	}
	c, err := catalog.NewMethod(m.base)
	if err != nil {
		return nil, err
	}
	name := catalog.Acquisitions()[0].Name
	var rest []string
	if c.Has("kernel") {
		rest = append(rest, prior...)
	}
	for _, s := range m.settings {
		if key, value, _ := strings.Cut(s, "="); strings.TrimSpace(key) == "acquisition" {
			name = strings.TrimSpace(value)
		} else {
			rest = append(rest, s)
		}
	}
	if err := c.Choose(name); err != nil {
		return nil, err
	}
	for _, s := range rest {
		if err := c.Set(s); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// check reports settings that are invalid for every problem with dim inputs.
func (m Method) check(dim int, prior ...string) error {
	if m.design() {
		return nil
	}
	c, err := m.chooser(prior...)
	if err == nil {
		err = c.Check(dim)
	}
	if err != nil {
		return fmt.Errorf("method %s: %w", m.Name, err)
	}
	return nil
}
