package surrogate

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/prior"
)

// ErrSetting reports a setting of a model outside its range or its allowed values.
// Errors of Check and of fits wrap it.
var ErrSetting = settings.ErrValue

// Checker is a Model that validates settings that depend on each other or on the number
// of inputs, such as a kernel expression.
type Checker interface {
	// Check returns an error if every fit to data of dim inputs would return it.
	Check(dim int) error
}

// Check validates the settings of a model without data: each setting by the range and the
// allowed values in its struct tag, and all settings together if m is a Checker. A fit to
// data of dim inputs would return the same error.
func Check(m Model, dim int) error {
	if err := settings.Check(m); err != nil {
		return err
	}
	if c, ok := m.(Checker); ok {
		return c.Check(dim)
	}
	return nil
}

// PriorStater is a Model that reports whether its settings state a prior on the values. A
// study does not transform the values of such a model, because a stated prior refers to
// the values themselves.
type PriorStater interface {
	Stated() bool
}

// StatesPrior reports whether m is a PriorStater with a stated prior.
func StatesPrior(m Model) bool {
	s, ok := m.(PriorStater)
	return ok && s.Stated()
}

var (
	_ WarmStarter = Scaled{}
	_ Checker     = Scaled{}
	_ PriorStater = Scaled{}
)

// InputNamer is a Model whose kernel may name its inputs.
type InputNamer interface {
	// WithInputs returns the model with the inputs that its kernel may name.
	WithInputs(inputs []prior.Input) Model
}

// NameInputs returns m with the inputs that its kernel may name. A model that is not an
// InputNamer is returned unchanged. So is a struct that embeds one without a WithInputs of
// its own, because the result of the promoted method lacks the methods of the struct.
func NameInputs(m Model, inputs []prior.Input) Model {
	n, ok := m.(InputNamer)
	if !ok {
		return m
	}
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if named := n.WithInputs(inputs); reflect.TypeOf(named) == t {
		return named
	}
	return m
}

// Check implements Checker: it validates the scalings and Model.
func (s Scaled) Check(dim int) error {
	if err := checkInput(s.Inputs); err != nil {
		return err
	}
	if err := checkOutput(s.Outputs); err != nil {
		return err
	}
	return Check(s.Model, dim)
}

func checkInput(s Scaling) error {
	if slices.Contains([]Scaling{"", Raw, Unit, ZScore}, s) {
		return nil
	}
	return fmt.Errorf("surrogate: input scaling %q, want raw, unit or zscore", string(s))
}

func checkOutput(s Scaling) error {
	if slices.Contains([]Scaling{"", Raw, ZScore}, s) {
		return nil
	}
	return fmt.Errorf("surrogate: output scaling %q, want raw or zscore", string(s))
}

// WithInputs implements InputNamer.
func (s Scaled) WithInputs(inputs []prior.Input) Model {
	s.Model = NameInputs(s.Model, inputs)
	return s
}

// Stated implements PriorStater: it reports whether Model states a prior.
func (s Scaled) Stated() bool { return StatesPrior(s.Model) }
