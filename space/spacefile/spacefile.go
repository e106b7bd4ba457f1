// Package spacefile reads search spaces from JSON and YAML files. A YAML file
// has the keys of the JSON form:
//
//	parameters:
//	  - {name: lr, type: float, min: 1e-5, max: 0.1, log: true}
//	  - {name: opt, type: categorical, values: [adam, sgd, lion]}
package spacefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/functionspace/bo/space"
)

// Read returns the space in a file whose name ends in .json, .yaml or .yml. It is
// as strict as space.Parse. Errors begin with the path; those about the
// contents wrap space.ErrInvalid and are one line.
func Read(path string) (*space.Space, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext != ".json" && ext != ".yaml" && ext != ".yml" {
		return nil, fmt.Errorf("%s: a space file ends in .json, .yaml or .yml", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, plain(err))
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as editors on Windows write
	if ext != ".json" {
		if text, err = toJSON(text); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", path, space.ErrInvalid, err)
		}
	}
	s, err := space.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// plain drops the path that the os package puts in its errors.
func plain(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// exponent matches numbers like 1e-5, which YAML 1.2 has but the YAML library
// reads as strings for want of a decimal point.
var exponent = regexp.MustCompile(`^[-+]?[0-9]+[eE][-+]?[0-9]+$`)

// toJSON rewrites a YAML document as JSON; an empty one becomes empty.
func toJSON(text []byte) ([]byte, error) {
	tokens := lexer.Tokenize(string(text))
	for _, t := range tokens {
		if t.Type != token.StringType || !exponent.MatchString(t.Value) {
			continue
		}
		if _, err := strconv.ParseFloat(t.Value, 64); err == nil {
			t.Type = token.FloatType
			t.Value = strings.NewReplacer("e", ".e", "E", ".e").Replace(t.Value)
		}
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, oneLine(err)
	}
	if len(file.Docs) > 1 {
		return nil, errors.New("more than one YAML document")
	}
	var tree any
	if len(file.Docs) == 1 && file.Docs[0].Body != nil {
		if err := yaml.NodeToValue(file.Docs[0].Body, &tree); err != nil {
			return nil, oneLine(err)
		}
	}
	if tree == nil {
		return nil, nil
	}
	out, err := json.Marshal(tree)
	if e, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		return nil, fmt.Errorf("%s is not a finite number", e.Str)
	}
	return out, err
}

// oneLine drops the excerpt of the source from a YAML error.
func oneLine(err error) error {
	e, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return err
	}
	message := strings.Join(strings.Fields(e.GetMessage()), " ")
	if t := e.GetToken(); t != nil && t.Position != nil {
		return fmt.Errorf("line %d: %s", t.Position.Line, message)
	}
	return errors.New(message)
}
