package settings

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

var (
	// ErrUnknown reports a key that the option struct does not have.
	ErrUnknown = errors.New("unknown setting")
	// ErrValue reports a text that does not fit the type of its setting.
	ErrValue = errors.New("bad value")
)

// Learned is the text of a setting that is left to the fit.
const Learned = "learned"

// Setting describes one key of an option struct.
type Setting struct {
	Key     string
	Type    string // in words: "number", "whole number", "numbers", …
	Default string
	Help    string
	Values  []string // the only texts allowed, if not nil
}

// List describes the settings of options, a pointer to a struct, in the order
// of its fields. It panics on a tagged field of a kind that Set cannot set.
func List(options any) []Setting {
	fields := collect(options)
	list := make([]Setting, len(fields))
	for i, f := range fields {
		list[i] = f.describe()
	}
	return list
}

// Set parses text into the field of options, a pointer to a struct, whose key is
// key. The error wraps ErrUnknown and names the nearest key, or wraps ErrValue
// and says what is expected.
func Set(options any, key, text string) error {
	fields := collect(options)
	for _, f := range fields {
		if f.key == key {
			return f.set(strings.TrimSpace(text))
		}
	}
	if len(fields) == 0 {
		return fmt.Errorf("%w %q: there is nothing to set", ErrUnknown, key)
	}
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return fmt.Errorf("%w %q: did you mean %s?", ErrUnknown, key, didyoumean.Name(key, keys))
}

// Get returns the text that would Set the field of key to its present value.
func Get(options any, key string) (string, error) {
	for _, f := range collect(options) {
		if f.key == key {
			return format(f.value), nil
		}
	}
	return "", fmt.Errorf("%w %q", ErrUnknown, key)
}

type field struct {
	key   string
	tag   reflect.StructTag
	value reflect.Value
	depth int
}

func collect(options any) []field {
	v := reflect.ValueOf(options)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("settings: got %T, want a pointer to a struct", options))
	}
	var fields []field
	var walk func(v reflect.Value, depth int)
	walk = func(v reflect.Value, depth int) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			key := f.Tag.Get("set")
			switch {
			case f.Anonymous && f.Type.Kind() == reflect.Struct && key == "":
				walk(v.Field(i), depth+1)
			case key != "":
				at := slices.IndexFunc(fields, func(g field) bool { return g.key == key })
				here := field{key, f.Tag, v.Field(i), depth}
				if at < 0 {
					fields = append(fields, here)
				} else if depth < fields[at].depth {
					fields[at] = here
				}
			}
		}
	}
	walk(v.Elem(), 0)
	return fields
}

func (f field) describe() Setting {
	s := Setting{Key: f.key, Type: kindOf(f.value.Type()), Default: f.tag.Get("default"), Help: f.tag.Get("help"), Values: f.values()}
	if s.Values != nil {
		s.Type = strings.Join(s.Values, " | ")
	}
	return s
}

func (f field) values() []string {
	if v, ok := f.tag.Lookup("values"); ok {
		return strings.Split(v, ",")
	}
	return nil
}

func (f field) set(text string) error {
	t := f.value.Type()
	if valid := f.values(); valid != nil && !slices.Contains(valid, text) {
		return fmt.Errorf("%w %s=%q: want one of %s; did you mean %s?", ErrValue, f.key, text, strings.Join(valid, ", "), didyoumean.Name(text, valid))
	}
	if text == Learned && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
		f.value.SetZero()
		return nil
	}
	v := reflect.New(t).Elem()
	if err := parse(v, text); err != nil {
		return fmt.Errorf("%w %s=%q: want %s", ErrValue, f.key, text, wanted(t))
	}
	if byDefault := f.tag.Get("default"); v.IsZero() && (t.Kind() == reflect.Int || t.Kind() == reflect.Float64) && byDefault != "" && byDefault != "0" {
		return fmt.Errorf("%w %s=%q: 0 would stand for the default, %s", ErrValue, f.key, text, byDefault)
	}
	f.value.Set(v)
	return nil
}

func parse(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		v.SetBool(b)
		return err
	case reflect.Int:
		n, err := strconv.Atoi(text)
		v.SetInt(int64(n))
		return err
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		v.SetUint(n)
		return err
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			err = ErrValue
		}
		v.SetFloat(x)
		return err
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return parse(v.Elem(), text)
	case reflect.Slice:
		for part := range strings.SplitSeq(text, ",") {
			e := reflect.New(v.Type().Elem()).Elem()
			if err := parse(e, strings.TrimSpace(part)); err != nil {
				return err
			}
			v.Set(reflect.Append(v, e))
		}
	}
	return nil
}

func format(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return Learned
		}
		return format(v.Elem())
	case reflect.Slice:
		if v.Len() == 0 {
			return Learned
		}
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = format(v.Index(i))
		}
		return strings.Join(parts, ",")
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

// kindOf names a type in words.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true | false"
	case reflect.Int, reflect.Uint64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.Slice:
		return kindOf(t.Elem()) + "s"
	}
	panic(fmt.Sprintf("settings: a field of type %v cannot be set", t))
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Pointer:
		return "a " + kindOf(t) + ", or " + Learned
	case reflect.Slice:
		return kindOf(t) + " separated by commas"
	}
	return "a " + kindOf(t)
}
