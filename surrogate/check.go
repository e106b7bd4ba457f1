package surrogate

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

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
// data of dim inputs would return the same error. A nil model or nil pointer is an error that wraps
// ErrSetting.
func Check(m Model, dim int) error {
	if m == nil {
		return settings.Errorf("the model is nil, want a model such as gp.Model")
	}
	if v := reflect.ValueOf(m); v.Kind() == reflect.Pointer && v.IsNil() {
		return settings.Errorf("the model is a nil %T, want a model such as gp.Model", m)
	}
	if err := settings.Check(m); err != nil {
		return err
	}
	if c, ok := m.(Checker); ok {
		return c.Check(dim)
	}
	return nil
}

// PriorStater is a Model that reports whether its settings state a prior on the values. A
// study takes no logarithm of the values for such a model, because a stated prior refers to
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

// NameInputs returns m with the inputs that its kernel may name. In this copy they are the Inputs of each
// prior.Spec: in m itself, in the structs that it embeds, and in the model of a Scaled. A model without a
// prior.Spec is returned unchanged.
func NameInputs(m Model, inputs []prior.Input) Model {
	v := reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() != reflect.Struct {
		return m
	}
	named := reflect.New(v.Type())
	named.Elem().Set(v)
	if !nameInputs(named.Elem(), inputs) {
		return m
	}
	if reflect.TypeOf(m).Kind() != reflect.Pointer {
		named = named.Elem()
	}
	return named.Interface().(Model)
}

// nameInputs changes the struct v and reports whether there was a prior.Spec.
func nameInputs(v reflect.Value, inputs []prior.Input) bool {
	found := false
	for t, f := range v.Fields() {
		if !t.IsExported() {
			continue
		}
		switch x := f.Addr().Interface().(type) {
		case *prior.Spec:
			x.Inputs, found = inputs, true
		case *Model:
			*x, found = NameInputs(*x, inputs), true
		default:
			found = t.Anonymous && f.Kind() == reflect.Struct && nameInputs(f, inputs) || found
		}
	}
	return found
}

// FixNoise returns m with a known variance of the observation noise, in the squared unit of the targets: a copy with this
// value of the setting noise: a field with the tags of prior.Spec.Noise, which models of other modules may have too. Nil is
// unknown, which the model learns. A model without this setting is an error, as is a variance outside its range. A fit of
// Scaled divides the variance by the square of its output scale.
func FixNoise(m Model, variance *float64) (Model, error) {
	switch s := m.(type) {
	case *Scaled:
		return FixNoise(*s, variance)
	case Scaled:
		if s.noise = variance; variance != nil {
			_, err := FixNoise(s.Model, new(1.0)) // a fit checks the scaled variance
			return s, err
		}
		inner, err := FixNoise(s.Model, nil)
		s.Model = inner
		return s, err
	}
	text := settings.Learned
	if variance != nil {
		text = strconv.FormatFloat(*variance, 'g', -1, 64)
	}
	missing := fmt.Errorf("surrogate: %T has no setting noise, a field with the tags of prior.Spec.Noise", m)
	v := reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() != reflect.Struct {
		return nil, missing
	}
	fixed := reflect.New(v.Type())
	fixed.Elem().Set(v)
	switch err := settings.Set(fixed.Interface(), "noise", text); {
	case errors.Is(err, settings.ErrUnknown):
		return nil, missing
	case err != nil:
		return nil, fmt.Errorf("surrogate: %T: %w", m, err)
	}
	if reflect.TypeOf(m).Kind() != reflect.Pointer {
		fixed = fixed.Elem()
	}
	return fixed.Interface().(Model), nil
}

// Check implements Checker: it validates the scalings and Model.
func (s Scaled) Check(dim int) error {
	if err := s.checkModel(); err != nil {
		return err
	}
	if err := checkInput(s.Inputs); err != nil {
		return err
	}
	if err := checkOutput(s.Outputs); err != nil {
		return err
	}
	return Check(s.Model, dim)
}

func (s Scaled) checkModel() error {
	if s.Model == nil {
		return errors.New("surrogate: Scaled without a Model, want the model to fit in scaled units")
	}
	return nil
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

// Stated implements PriorStater: it reports whether Model states a prior.
func (s Scaled) Stated() bool {
	if s.noise != nil {
		if m, err := FixNoise(s.Model, new(1.0)); err == nil {
			return s.Mean != nil || StatesPrior(m)
		}
	}
	return s.Mean != nil || StatesPrior(s.Model)
}
