package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Resolve returns a copy of options, a struct, with declared defaults in place of zero values. If the option
// "preset" is Published, published values take their place instead. The error lists the values that are outside
// their range or none of the allowed values. The error wraps ErrValue and begins with name, if not empty.
func Resolve[T any](name string, options T) (T, error) {
	err := resolve(reflect.ValueOf(&options).Elem())
	if err != nil && name != "" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return options, err
}

// Check returns the error that Resolve returns, without a name, for options, a
// struct or a pointer to a struct. Other types have no options.
func Check(options any) error {
	v := reflect.ValueOf(options)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	fresh := reflect.New(v.Type()).Elem()
	fresh.Set(v)
	return resolve(fresh)
}

// isPublished reports whether the preset is Published.
func isPublished(options []option) bool {
	return slices.ContainsFunc(options, func(o option) bool { return o.key == PresetKey && o.value.String() == Published })
}

func resolve(v reflect.Value) error {
	var faults []string
	options := collect(v)
	published := isPublished(options)
	for _, o := range options {
		if o.value.IsZero() {
			o.fill(published)
		} else if err := o.check(o.value); err != nil {
			faults = append(faults, err.Error())
		}
	}
	if faults != nil {
		return Errorf("%s", strings.Join(faults, "; "))
	}
	return nil
}
