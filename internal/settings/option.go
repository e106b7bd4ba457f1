package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// An option is a field of an option struct with its declaration.
type option struct {
	key   string
	tag   reflect.StructTag
	value reflect.Value
	depth int

	standard string // the tag default, "" with auto
	bounds   string // the tag range, "" without bounds
}

// collect returns the options of a struct in the order of its fields. It panics
// on a malformed declaration.
func collect(v reflect.Value) []option {
	var options []option
	var walk func(v reflect.Value, depth int, ranges map[string]string)
	walk = func(v reflect.Value, depth int, ranges map[string]string) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			key := f.Tag.Get("set")
			switch {
			case f.Anonymous && f.Type.Kind() == reflect.Struct && key == "":
				walk(v.Field(i), depth+1, replacements(f.Tag))
			case key != "":
				here := declared(key, f.Tag, v.Field(i), depth, ranges)
				at := slices.IndexFunc(options, func(o option) bool { return o.key == key })
				if at < 0 {
					options = append(options, here)
				} else if depth < options[at].depth {
					options[at] = here
				}
			}
		}
	}
	walk(v, 0, nil)
	return options
}

// replacements reads the tag range of an embedded field into a map from keys to
// ranges.
func replacements(tag reflect.StructTag) map[string]string {
	ranges := map[string]string{}
	for part := range strings.SplitSeq(tag.Get("range"), ";") {
		key, bounds, _ := strings.Cut(part, "=")
		ranges[key] = bounds
	}
	return ranges
}

func declared(key string, tag reflect.StructTag, v reflect.Value, depth int, ranges map[string]string) option {
	o := option{key: key, tag: tag, value: v, depth: depth, standard: tag.Get("default"), bounds: tag.Get("range")}
	if s, ok := ranges[key]; ok {
		o.bounds = s
	}
	element := v.Type()
	if element.Kind() == reflect.Pointer || element.Kind() == reflect.Slice {
		element = element.Elem()
	}
	numeric := element.Kind() == reflect.Int || element.Kind() == reflect.Float64
	if numeric != (o.bounds != "") {
		panic(fmt.Sprintf("settings: %s: an option of type %v with the range %q", key, v.Type(), o.bounds))
	}
	if (o.standard == "") == (tag.Get("auto") == "") {
		panic(fmt.Sprintf("settings: %s: want one of the tags default and auto", key))
	}
	if k := v.Kind(); (k == reflect.Int || k == reflect.Float64) && o.standard != "0" && parseInterval(o.bounds).contains(0) {
		panic(fmt.Sprintf("settings: %s: 0 is in range and would stand for the default %s", key, o.standard))
	}
	return o
}

// fill puts the declared default in place of the zero value.
func (o option) fill() {
	if o.standard == "" || !o.value.IsZero() {
		return
	}
	if err := o.set(o.standard); err != nil {
		panic(fmt.Sprintf("settings: default: %v", err))
	}
}

// check returns the fault of a value that is set.
func (o option) check(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return o.check(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if err := o.check(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Int:
		return o.checkNumber(float64(v.Int()), v)
	case reflect.Float64:
		return o.checkNumber(v.Float(), v)
	case reflect.String:
		if valid := o.values(); valid != nil && !slices.Contains(valid, v.String()) {
			return Errorf("%s is %q, want %s", o.key, v, either(valid))
		}
	}
	return nil
}

func (o option) checkNumber(x float64, v reflect.Value) error {
	if r := parseInterval(o.bounds); !r.contains(x) {
		return Errorf("%s is %v, want %v", o.key, v, r)
	}
	return nil
}

// values returns the only texts allowed, or nil.
func (o option) values() []string {
	if v, ok := o.tag.Lookup("oneof"); ok {
		return strings.Split(v, ",")
	}
	return nil
}

// either joins words as in "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
