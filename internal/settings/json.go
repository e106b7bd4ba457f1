package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Values returns the JSON form of the options of a pointer to a struct that are
// set, by key. Options with their zero value are left out.
func Values(options any) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for _, o := range collect(target(options)) {
		if o.value.IsZero() {
			continue
		}
		text, err := json.Marshal(o.value.Interface())
		if err != nil {
			return nil, Errorf("%s: %v", o.key, err)
		}
		values[o.key] = text
	}
	return values, nil
}

// SetValues sets options by the JSON form of their values. The error wraps
// ErrUnknown or ErrValue.
func SetValues(options any, values map[string]json.RawMessage) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		o, err := find(options, key)
		if err != nil {
			return err
		}
		v := reflect.New(o.value.Type())
		if err := json.Unmarshal(values[key], v.Interface()); err != nil {
			return Errorf("%s is %s, want %s", key, values[key], jsonWanted(o.value.Type()))
		}
		if err := o.check(v.Elem()); err != nil {
			return err
		}
		o.value.Set(v.Elem())
	}
	return nil
}

func jsonWanted(t reflect.Type) string {
	if t.Kind() == reflect.Slice {
		return fmt.Sprintf("a list of %s", kindOf(t))
	}
	return wanted(t)
}
