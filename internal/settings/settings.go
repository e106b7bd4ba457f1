package settings

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

var (
	// ErrUnknown reports a key that the option struct does not have.
	ErrUnknown = errors.New("unknown")
	// ErrValue reports a value that its option cannot have.
	ErrValue = errors.New("invalid setting")
)

// valueError is an ErrValue whose text is the fault alone.
type valueError string

func (e valueError) Error() string        { return string(e) }
func (e valueError) Is(target error) bool { return target == ErrValue }

// Errorf returns an error that wraps ErrValue without its text, for options that
// depend on each other.
func Errorf(format string, args ...any) error { return valueError(fmt.Sprintf(format, args...)) }

// Published is the value of an option "preset" with which Resolve fills in published values.
const Published = "published"

// PresetKey is the key of the option that can be Published.
const PresetKey = "preset"

// Learned is the text of a pointer or slice that is left to the fit.
const Learned = "learned"

// Setting describes one option of a struct.
type Setting struct {
	Key     string
	Type    string   // in words: "number", "whole number", "numbers", …
	Default string   // the declared default, or the text of the tag auto
	Range   string   // in words, as in "1 or more"; "" without bounds
	Values  []string // the only texts allowed; nil allows all
	Help    string
}

// List describes the options of a pointer to a struct in the order of its fields.
// It panics on a malformed declaration.
func List(options any) []Setting {
	fields := collect(target(options))
	list := make([]Setting, len(fields))
	for i, o := range fields {
		list[i] = o.describe()
	}
	return list
}

// Set parses text into the option of that key. The error wraps ErrUnknown and
// names the nearest key, or wraps ErrValue and names the accepted values. Learned is no value of an
// option that the preset Published fixes, if the preset is set before.
func Set(options any, key, text string) error {
	o, err := find(options, key)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	if text == Learned && o.learnable() && o.published != "" && isPublished(collect(target(options))) {
		return Errorf("%[1]s=learned has no effect with preset=published: set a number, or leave out %[1]s for the published value %[2]s", key, o.published)
	}
	return o.set(text)
}

// Get returns the value of an option as text: Learned for nil.
func Get(options any, key string) (string, error) {
	o, err := find(options, key)
	if err != nil {
		return "", err
	}
	return format(o.value), nil
}

func target(options any) reflect.Value {
	v := reflect.ValueOf(options)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("settings: got %T, want a pointer to a struct", options))
	}
	return v.Elem()
}

func find(options any, key string) (option, error) {
	fields := collect(target(options))
	keys := make([]string, len(fields))
	for i, o := range fields {
		if o.key == key {
			return o, nil
		}
		keys[i] = o.key
	}
	if len(fields) == 0 {
		return option{}, fmt.Errorf("%w setting %q: there is nothing to set", ErrUnknown, key)
	}
	hint := didyoumean.Hint(key, keys)
	if hint == "" {
		hint = "; want one of " + strings.Join(keys, ", ")
	}
	return option{}, fmt.Errorf("%w setting %q%s", ErrUnknown, key, hint)
}

func (o option) describe() Setting {
	s := Setting{Key: o.key, Type: kindOf(o.value.Type()), Default: o.standard, Values: o.values(), Help: o.help}
	if s.Default == "" {
		s.Default = o.tag.Get("auto")
	}
	if o.published != "" {
		s.Help += fmt.Sprintf(" (published: %s)", o.published)
	}
	if o.bounds != "" {
		s.Range = parseInterval(o.bounds).String()
	}
	return s
}

// learnable reports whether nil leaves the option to the fit.
func (o option) learnable() bool {
	k := o.value.Kind()
	return o.standard == "" && (k == reflect.Pointer || k == reflect.Slice)
}

func (o option) set(text string) error {
	if o.learnable() && text == Learned {
		o.value.SetZero()
		return nil
	}
	t := o.value.Type()
	v := reflect.New(t).Elem()
	if err := parse(v, text); err != nil {
		if t.Kind() == reflect.Int && errors.Is(err, strconv.ErrRange) {
			return Errorf("%s is %s, want %v", o.key, text, parseInterval(o.bounds))
		}
		wanted := wanted(t)
		if o.learnable() {
			wanted += " or " + Learned
		}
		return Errorf("%s is %q, want %s", o.key, text, wanted)
	}
	if err := o.check(v); err != nil {
		return err
	}
	o.value.Set(v)
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
		return "true or false"
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
		return wanted(t.Elem())
	case reflect.Slice:
		return kindOf(t) + " separated by commas"
	}
	return "a " + kindOf(t)
}
