// Package strictjson splits JSON objects into members and reports unknown and repeated keys.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
)

// Fault is a fault of one key of an object.
type Fault struct {
	Key string
	Err error
}

// Object splits a JSON object without syntax errors into its members. A repeated key is a
// fault, as is an unknown key unless valid is nil; remedies give the advice for some unknown
// keys. Of a repeated key the last value is a member. If the text is no object, Object returns
// false.
func Object(text []byte, valid []string, remedies map[string]string) (members map[string]json.RawMessage, faults []Fault, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, false
	}
	members = map[string]json.RawMessage{}
	var before json.RawMessage // value of the previous member
	for dec.More() {
		t, err := dec.Token()
		var raw json.RawMessage
		if err = errors.Join(err, dec.Decode(&raw)); err != nil {
			return nil, nil, false
		}
		key := t.(string)
		if _, twice := members[key]; twice {
			faults = append(faults, Fault{key, fmt.Errorf("key %q occurs twice", key)})
		} else if remedy, ok := remedies[key]; ok {
			faults = append(faults, Fault{key, fmt.Errorf("unknown key %q: %s", key, remedy)})
		} else if number := string(before) + "," + key; valid != nil && string(raw) == "null" && decimalComma.MatchString(number) {
			faults = append(faults, Fault{key, fmt.Errorf("unknown key %q: %s", key, withPoint(number))})
		} else if valid != nil && !slices.Contains(valid, key) {
			faults = append(faults, Fault{key, fmt.Errorf("unknown key %q%s", key, didyoumean.Hint(key, valid))})
		}
		members[key] = raw
		before = raw
	}
	return members, faults, true
}

// decimalComma matches a number with a decimal comma. In a YAML mapping in braces its digits after the comma are a
// key without a value.
var decimalComma = regexp.MustCompile(`^[+-]?\d+,\d+([eE][+-]?\d+)?$`)

// withPoint gives the remedy for a number with a decimal comma.
func withPoint(number string) string {
	return "write " + strings.Replace(number, ",", ".", 1) + ", with a decimal point"
}

// Mismatch describes a JSON value that is not as wanted: must be a number, not "many". For a number in quotes with a
// decimal comma it adds the remedy.
func Mismatch(want string, raw []byte) string {
	text := fmt.Sprintf("must be %s, not %s", want, Excerpt(raw))
	if number := strings.Trim(string(raw), `"`); want == "a number" && decimalComma.MatchString(number) {
		text += ": " + withPoint(number)
	}
	return text
}

// Repeated returns an error that names a key that occurs twice in one of the objects of a JSON text without
// syntax errors. Package encoding/json would read the last value of such a key.
func Repeated(text []byte) error {
	var open []map[string]bool // keys of the open objects
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{':
			open = append(open, map[string]bool{})
		case '}':
			open = open[:max(0, len(open)-1)]
		case '"':
			begin := at
			for at++; at < len(text) && text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			quoted := text[begin:min(at+1, len(text))]
			var key string
			if after := bytes.TrimLeft(text[begin+len(quoted):], " \t\r\n"); len(after) == 0 || after[0] != ':' || len(open) == 0 || json.Unmarshal(quoted, &key) != nil {
				continue
			}
			keys := open[len(open)-1]
			if keys[key] {
				return fmt.Errorf("key %q occurs twice", key)
			}
			keys[key] = true
		}
	}
	return nil
}

// Excerpt returns the beginning of a JSON value on one line.
func Excerpt(raw []byte) string {
	s := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(strings.Join(strings.Fields(string(raw)), " "))
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
