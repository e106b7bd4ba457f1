package settings

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// option is a field of an option struct with its declaration.
type option struct {
	key   string
	tag   reflect.StructTag
	value reflect.Value
	index []int // of the field, for FieldByIndex

	standard  string // the tag default, "" with auto
	published string // the tag published, "" without one
	bounds    string // the tag range, "" without bounds
	help      string
}

// collect returns the options of a struct in the order of its fields. It panics
// on a malformed declaration.
func collect(v reflect.Value) []option {
	known, ok := declarations.Load(v.Type())
	if !ok {
		known, _ = declarations.LoadOrStore(v.Type(), declare(reflect.Zero(v.Type())))
	}
	options := slices.Clone(known.([]option))
	for i := range options {
		options[i].value = v.FieldByIndex(options[i].index)
	}
	return options
}

// declarations has the result of declare by type. Reading the tags costs much more than reading the values.
var declarations sync.Map

// declare returns the options of a struct. Their values are zero.
func declare(v reflect.Value) []option {
	var options []option
	var walk func(v reflect.Value, index []int, outer overrides)
	walk = func(v reflect.Value, index []int, outer overrides) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			key, index := f.Tag.Get("set"), append(slices.Clip(index), i)
			switch {
			case f.Anonymous && f.Type.Kind() == reflect.Struct && key == "":
				walk(v.Field(i), index, overridesOf(f.Tag, outer))
			case key != "":
				here := declared(key, f.Tag, v.Field(i), index, outer)
				at := slices.IndexFunc(options, func(o option) bool { return o.key == key })
				if at < 0 {
					options = append(options, here)
				} else if len(index) < len(options[at].index) {
					options[at] = here
				}
			}
		}
	}
	walk(v, nil, nil)
	return options
}

// overrides maps a tag and the key of an option to the text that replaces the option's tag.
type overrides map[[2]string]string

// overridesOf reads the tags default, published, range and help of an embedded field. The
// overrides of the struct that contains it win.
func overridesOf(tag reflect.StructTag, outer overrides) overrides {
	o := overrides{}
	for _, name := range []string{"default", "published", "range", "help"} {
		for part := range strings.SplitSeq(tag.Get(name), ";") {
			key, text, _ := strings.Cut(part, "=")
			o[[2]string{name, key}] = text
		}
	}
	maps.Copy(o, outer)
	return o
}

func declared(key string, tag reflect.StructTag, v reflect.Value, index []int, outer overrides) option {
	text := func(name string) string { return cmp.Or(outer[[2]string{name, key}], tag.Get(name)) }
	o := option{
		key: key, tag: tag, value: v, index: index,
		standard: text("default"), published: text("published"), bounds: text("range"), help: text("help"),
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
	if o.published != "" && o.zeroIsSet() {
		panic(fmt.Sprintf("settings: %s: the zero value is allowed and would stand for the published value %s", key, o.published))
	}
	return o
}

// zeroIsSet reports whether the zero value, which means that the option is not set, is also a
// value of its own.
func (o option) zeroIsSet() bool {
	switch o.value.Kind() {
	case reflect.Bool, reflect.Uint64:
		return true
	case reflect.Int, reflect.Float64:
		return parseInterval(o.bounds).contains(0)
	}
	return false
}

// fill puts the declared default in place of the zero value, or with published the published
// value, if there is one.
func (o option) fill(published bool) {
	text := o.standard
	if published {
		text = cmp.Or(o.published, text)
	}
	if text == "" || !o.value.IsZero() {
		return
	}
	if err := o.set(text); err != nil {
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
		return o.checkWeights(v)
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

// checkWeights checks the number of weights between layers of the given widths.
func (o option) checkWeights(widths reflect.Value) error {
	tag := o.tag.Get("weights")
	if tag == "" {
		return nil
	}
	most, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic(fmt.Sprintf("settings: %s: malformed weights %q", o.key, tag))
	}
	weights := 0.0
	for i := 1; i < widths.Len(); i++ {
		weights += float64(widths.Index(i-1).Int()) * float64(widths.Index(i).Int())
	}
	if weights > most {
		return Errorf("%s is %s: %.0f weights between hidden layers, want at most %.0f", o.key, format(widths), weights, most)
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
