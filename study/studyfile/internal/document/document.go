// Package document reads YAML and JSON files as JSON and keeps the position of every value. Faults of the
// contents therefore name their line and column.
package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxBytes bounds the size of a file.
const maxBytes = 1 << 20

// Document holds the contents of a file.
type Document struct {
	JSON []byte // empty for a file without a value
	root *yaml.Node
}

// Fault is a fault of the contents of a file with its place, counted from 1. Line and
// Column are 0 if they are not known.
type Fault struct {
	Line   int   `json:"line,omitempty"`
	Column int   `json:"column,omitempty"`
	Err    error `json:"-"`
}

// Error begins with the place.
func (f *Fault) Error() string {
	switch {
	case f.Line == 0:
		return f.Err.Error()
	case f.Column == 0:
		return fmt.Sprintf("line %d: %v", f.Line, f.Err)
	}
	return fmt.Sprintf("line %d, column %d: %v", f.Line, f.Column, f.Err)
}

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// Read returns the document in a file whose name ends in .json, .yaml or .yml. A file
// has at most 1 MiB, and a YAML file at most 10 000 keys and values with all aliases
// expanded. An error about the contents is a *Fault; no error names the path.
func Read(path string) (*Document, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext != ".json" && ext != ".yaml" && ext != ".yml" {
		return nil, errors.New("the name must end in .json, .yaml or .yml")
	}
	text, err := contents(path)
	if err != nil {
		return nil, err
	}
	if ext == ".json" {
		return parseJSON(text)
	}
	return parseYAML(text)
}

// contents returns the text of a file without a byte order mark, which editors on
// Windows write.
func contents(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		return nil, errors.New("not a regular file") // opening it may wait for ever
	}
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
		return nil, &Fault{Err: fmt.Errorf("more than %d bytes", maxBytes)}
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

// At returns err with the place of a value. The path has a string for each key and an
// int for each index of a list. If a part of the path is not in the text, the place is
// the value around it.
func (d *Document) At(err error, path ...any) *Fault {
	if d.root == nil {
		return &Fault{Err: err}
	}
	place, value := d.root, d.root
	for _, step := range path {
		value = resolve(value)
		switch step := step.(type) {
		case string:
			k, v := member(value, step)
			if k == nil {
				return at(place, err)
			}
			place, value = k, v
		case int:
			if value.Kind != yaml.SequenceNode || step >= len(value.Content) {
				return at(place, err)
			}
			value = value.Content[step]
			place = value
		}
	}
	return at(place, err)
}

func at(n *yaml.Node, err error) *Fault { return &Fault{n.Line, n.Column, err} }

// Sort orders faults by their place. Faults of one place keep their order.
func Sort(faults []*Fault) {
	slices.SortStableFunc(faults, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// member returns the last entry of a mapping with the given key.
func member(n *yaml.Node, key string) (k, v *yaml.Node) {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			k, v = n.Content[i], resolve(n.Content[i+1])
		}
	}
	return k, v
}

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
