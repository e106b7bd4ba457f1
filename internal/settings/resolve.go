package settings

import (
	"fmt"
	"reflect"
	"strings"
)

// Resolve returns a copy of options, a struct, with declared defaults in place of
// zero values. The error lists the values that are outside their range or none of the
// allowed values. It wraps ErrValue and begins with name, if not empty.
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

func resolve(v reflect.Value) error {
	var faults []string
	for _, o := range collect(v) {
		if o.value.IsZero() {
			o.fill()
		} else if err := o.check(o.value); err != nil {
			faults = append(faults, err.Error())
		}
	}
	if faults != nil {
		return Errorf("%s", strings.Join(faults, "; "))
	}
	return nil
}
