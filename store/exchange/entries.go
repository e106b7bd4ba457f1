package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/internal/strictjson"
)

// source is a reader that keeps the text after a mark, for messages.
type source struct {
	r     io.Reader
	text  []byte // from the mark to the last byte that was read
	start int64  // offset of the mark
	line  int    // line of the mark, from 1
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.text = append(s.text, p[:n]...)
	return n, err
}

// mark moves the mark to an offset at or after the present mark.
func (s *source) mark(offset int64) {
	n := offset - s.start
	s.line += bytes.Count(s.text[:n], []byte("\n"))
	s.text, s.start = s.text[n:], offset
}

// entry moves the mark to the beginning of the next entry of a list.
func (s *source) entry(offset int64) {
	s.mark(offset)
	blank := len(s.text) - len(bytes.TrimLeft(s.text, ", \t\r\n"))
	s.mark(s.start + int64(blank))
}

// entryFault is a fault of an entry of a list, with its place.
type entryFault struct{ text string }

func (e *entryFault) Error() string { return e.text }

// fault returns the fault of the entry at the mark. The offset counts bytes from the mark.
func (s *source) fault(list string, n, offset int, key, format string, args ...any) error {
	name := fmt.Sprintf("%s, entry %d", list, n)
	if m := trialNumber.FindSubmatch(s.text); m != nil && list == "trials" {
		name = fmt.Sprintf("trial %s", m[1])
	}
	if key != "" {
		name += ", " + key
	}
	line := s.line + bytes.Count(s.text[:min(offset, len(s.text))], []byte("\n"))
	return &entryFault{fmt.Sprintf("line %d, %s: %s", line, name, fmt.Sprintf(format, args...))}
}

var trialNumber = regexp.MustCompile(`^\{\s*"trial"\s*:\s*([0-9]+)`)

// The texts before the byte at which a JSON text is wrong.
var (
	decimalComma = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"\s*:\s*(-?[0-9]+),$`)
	wrongValue   = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"\s*:\s*([^\s,:"{}\[\]]*)$`)
	beforeComma  = regexp.MustCompile(`,\s*$`)
	leading      = regexp.MustCompile(`^[^\s,:"{}\[\]]*`)
	digits       = regexp.MustCompile(`^[0-9]+`)
)

// decodeEntry decodes the n-th entry of a list. It returns the line of the entry.
func decodeEntry[T any](dec *json.Decoder, s *source, list string, n int, v *T) (line int, err error) {
	start := dec.InputOffset()
	err = dec.Decode(v)
	end := dec.InputOffset()
	s.entry(start)
	switch {
	case err == nil:
		text := s.text[:end-s.start]
		if twice := strictjson.Repeated(text); twice != nil {
			err = s.fault(list, n, 0, "", "%v", twice)
		} else if bytes.Contains(text, []byte("null")) {
			err = s.numbersFault(list, n)
		}
		if line = s.line; err == nil {
			s.mark(end)
		}
		return line, err
	case errors.As(err, new(*json.SyntaxError)):
		return 0, s.syntaxFault(list, n)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, ErrTooLarge):
		return 0, cut(err)
	}
	return 0, s.typeFault(list, n, reflect.TypeFor[T](), err)
}

// syntaxFault describes a fault of the JSON text of an entry.
func (s *source) syntaxFault(list string, n int) error {
	var raw json.RawMessage
	inner := new(json.SyntaxError)
	if err := json.NewDecoder(bytes.NewReader(s.text)).Decode(&raw); !errors.As(err, &inner) {
		return s.fault(list, n, 0, "", "a comma is missing between this entry and the entry before")
	}
	at := max(0, min(int(inner.Offset)-1, len(s.text)))
	before, from := s.text[:at], s.text[at:]
	if m := decimalComma.FindSubmatch(before); m != nil && digits.Match(from) {
		rest := digits.Find(from)
		return s.fault(list, n, at, string(m[1]), "%s,%s has a decimal comma, want a decimal point: %[1]s.%s", m[2], rest)
	}
	if m := wrongValue.FindSubmatch(before); m != nil {
		if word := string(m[2]) + string(leading.Find(from)); word != "" {
			return s.fault(list, n, at, string(m[1]), "%s is no value of JSON, want a number such as 60.5, text in double quotes, true or false", strictjson.Excerpt([]byte(word)))
		}
	}
	if len(from) > 0 && (from[0] == '}' || from[0] == ']') && (at == 0 || beforeComma.Match(before)) {
		return s.fault(list, n, at, "", "a comma stands before %c: delete the comma", from[0])
	}
	return s.fault(list, n, at, "", "no JSON near %q: %s", strictjson.Excerpt(before[max(0, len(before)-20):])+strictjson.Excerpt(from[:min(10, len(from))]), inner)
}

// typeFault describes a value of the wrong type, or an unknown key.
func (s *source) typeFault(list string, n int, t reflect.Type, err error) error {
	var raw json.RawMessage
	if json.NewDecoder(bytes.NewReader(s.text)).Decode(&raw) != nil {
		return fmt.Errorf("entry %d: %w", n, err)
	}
	members := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &members) != nil {
		return s.fault(list, n, 0, "", "%s is %s, want an object {…}", strictjson.Excerpt(raw), kindOf(raw))
	}
	if fault := s.numbersFault(list, n); fault != nil {
		return fault
	}
	var valid []string
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); key != "-" {
			valid = append(valid, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		known := slices.ContainsFunc(valid, func(name string) bool { return strings.EqualFold(name, key) })
		if !known {
			return s.fault(list, n, bytes.Index(raw, []byte(`"`+key+`"`)), "", "unknown key %q%s", key, didyoumean.Hint(key, valid))
		}
	}
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		key, _, _ := strings.Cut(wrong.Field, ".")
		value, ok := members[key]
		if !ok || strings.Contains(wrong.Field, ".") {
			return s.fault(list, n, int(wrong.Offset), wrong.Field, "a %s, want %s", wrong.Value, wanted(wrong.Type))
		}
		return s.fault(list, n, bytes.Index(raw, []byte(`"`+key+`"`)), key, "%s is %s, want %s", strictjson.Excerpt(value), kindOf(value), wanted(wrong.Type))
	}
	return s.fault(list, n, 0, "", "%s", strings.TrimPrefix(err.Error(), "json: "))
}

// numbersFault returns the fault of an entry of "numbers" that is no number, such as null, which
// encoding/json reads as 0.
func (s *source) numbersFault(list string, n int) error {
	var raw json.RawMessage
	var members struct{ Numbers map[string]json.RawMessage }
	if json.NewDecoder(bytes.NewReader(s.text)).Decode(&raw) != nil || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(members.Numbers)) {
		value := members.Numbers[name]
		var number float64
		if err := json.Unmarshal(value, &number); err == nil && string(value) != "null" {
			continue
		}
		kind := kindOf(value)
		if kind == "a number" {
			kind = "too large a number"
		}
		at := bytes.Index(raw, []byte(`"numbers"`))
		at += max(0, bytes.Index(raw[max(0, at):], []byte(`"`+name+`"`)))
		return s.fault(list, n, max(0, at), name, "%s is %s, want a number such as 60.5", strictjson.Excerpt(value), kind)
	}
	return nil
}

// kindOf names the kind of a JSON value.
func kindOf(value []byte) string {
	switch value[0] {
	case '"':
		return "text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "no value"
	}
	return "a number"
}

// wanted names the JSON values of a Go type.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number such as 60.5"
	case reflect.String:
		return "text in double quotes"
	case reflect.Slice:
		return "a list […]"
	}
	return "an object {…}"
}
