// Package spacefile reads search spaces from JSON and YAML files. A YAML file
// has the keys of the JSON form:
//
//	parameters:
//	  - {name: lr, type: float, min: 1e-5, max: 0.1, log: true}
//	  - {name: opt, type: categorical, values: [adam, sgd, lion]}
package spacefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/functionspace/bo/space"
)

// maxBytes bounds the size of a file.
const maxBytes = 1 << 20

// Read returns the space in a file whose name ends in .json, .yaml or .yml. It is
// as strict as space.Parse and reports every fault. An error is one line that begins
// with the path. Errors about the contents wrap space.ErrInvalid; for YAML they give
// the line and the column of each fault, counted from 1.
//
// YAML anchors, aliases and merge keys are allowed. A file has at most 1 MiB, and a
// YAML file at most 10 000 keys and values with all aliases expanded.
func Read(path string) (*space.Space, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext != ".json" && ext != ".yaml" && ext != ".yml" {
		return nil, fmt.Errorf("%s: a space file ends in .json, .yaml or .yml", path)
	}
	text, err := contents(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	parse := space.Parse
	if ext != ".json" {
		parse = parseYAML
	}
	s, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// contents returns the text of a file without a byte order mark, which editors on
// Windows write.
func contents(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, withoutPath(err)
	}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", space.ErrInvalid, maxBytes)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), nil
}

// withoutPath removes the path from an error of package os.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}
