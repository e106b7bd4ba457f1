package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds the keys and values of a document with all aliases expanded.
const maxNodes = 10_000

// parseYAML returns a YAML document. Its field JSON has the values with aliases expanded; keys
// that occur twice remain.
func parseYAML(text []byte) (*Document, error) {
	root, err := single(text)
	if err != nil || root == nil {
		return &Document{}, err
	}
	var w writer
	if err := w.write(root, ""); err != nil {
		return nil, err
	}
	return &Document{JSON: w.json.Bytes(), root: root}, nil
}

// single returns the root of the only document in text, or nil if it is empty.
func single(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	if err := dec.Decode(&first); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, plain(err, text)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, at(&second, errors.New("more than one YAML document"))
	case !errors.Is(err, io.EOF):
		return nil, plain(err, text)
	}
	if root := first.Content[0]; root.ShortTag() != "!!null" {
		return root, nil
	}
	return nil, nil
}

// syntaxLine is the form of the library's syntax errors.
var syntaxLine = regexp.MustCompile(`^line (\d+): (.*)$`)

// unfinished has a text for each of the library's errors about a collection. The library's line precedes the first line of
// the collection, or the line of the fault if the collection begins on line 1.
var unfinished = map[string]string{
	"did not find expected ',' or '}'":    "a mapping {…} at this line is not complete: want , or }",
	"did not find expected ',' or ']'":    "a list […] at this line is not complete: want , or ]",
	"did not find expected key":           "a mapping at this line has another element: want a key with the indentation of the others",
	"did not find expected '-' indicator": "a list at this line has another element: want - with the indentation of the others",
}

// plain returns an error of the library about a text as a fault.
func plain(err error, text []byte) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := syntaxLine.FindStringSubmatch(message); m != nil {
		line, _ := strconv.Atoi(m[1])
		if clear := unfinished[m[2]]; clear != "" {
			line, m[2] = line+1, clear
		}
		lines := bytes.Split(text, []byte("\n"))
		if line <= len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[line-1], " "), []byte("\t")) {
			m[2] = "the line is indented with a tab, want spaces"
		}
		return &Fault{Line: line, Err: errors.New(m[2])}
	}
	return &Fault{Err: errors.New(message)}
}

// writer writes YAML nodes as JSON. Keys that occur twice remain.
type writer struct {
	json  bytes.Buffer
	nodes int
}

// write appends node n, the value of the given key.
func (w *writer) write(n *yaml.Node, key string) error {
	if w.nodes++; w.nodes > maxNodes {
		return at(n, fmt.Errorf("more than %d keys and values", maxNodes))
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.write(n.Alias, key)
	case yaml.SequenceNode:
		return w.list(n.Content, '[', ']', func(i int) error { return w.write(n.Content[i], key) })
	case yaml.MappingNode:
		return w.mapping(n)
	}
	return w.scalar(n, key)
}

func (w *writer) list(of []*yaml.Node, begin, end byte, each func(i int) error) error {
	w.json.WriteByte(begin)
	for i := range of {
		if i > 0 {
			w.json.WriteByte(',')
		}
		if err := each(i); err != nil {
			return err
		}
	}
	w.json.WriteByte(end)
	return nil
}

func (w *writer) mapping(n *yaml.Node) error {
	keys, values, err := w.entries(n)
	if err != nil {
		return err
	}
	return w.list(keys, '{', '}', func(i int) error {
		if err := w.text(keys[i].Value); err != nil {
			return err
		}
		w.json.WriteByte(':')
		return w.write(values[i], keys[i].Value)
	})
}

// entries returns the keys and values of a mapping. A merge key contributes the
// entries of its mappings whose keys do not occur yet.
func (w *writer) entries(n *yaml.Node) (keys, values []*yaml.Node, err error) {
	var merged []*yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		key, value := resolve(n.Content[i]), resolve(n.Content[i+1])
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, nil, at(n.Content[i], errors.New("a key must be a string"))
		case key.ShortTag() == "!!merge" && value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
		default:
			keys, values = append(keys, key), append(values, n.Content[i+1])
		}
	}
	for _, m := range merged {
		if w.nodes++; w.nodes > maxNodes {
			return nil, nil, at(m, fmt.Errorf("more than %d keys and values", maxNodes))
		}
		if m = resolve(m); m.Kind != yaml.MappingNode {
			return nil, nil, at(m, errors.New("a merge key takes a mapping or a list of mappings"))
		}
		more, with, err := w.entries(m)
		if err != nil {
			return nil, nil, err
		}
		for i, key := range more {
			if !slices.ContainsFunc(keys, func(k *yaml.Node) bool { return k.Value == key.Value }) {
				keys, values = append(keys, key), append(values, with[i])
			}
		}
	}
	return keys, values, nil
}

// scalar appends a value without parts. Whole numbers are decimal, also after a 0.
func (w *writer) scalar(n *yaml.Node, key string) error {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		w.json.WriteString("null")
	case "!!str", "!!timestamp":
		return w.text(n.Value)
	case "!!bool", "!!int", "!!float":
		var v any
		if err := n.Decode(&v); err != nil {
			return at(n, errors.New(strings.TrimPrefix(err.Error(), "yaml: ")))
		}
		if whole, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			v = whole
		}
		if x, ok := v.(float64); ok && (math.IsInf(x, 0) || math.IsNaN(x)) {
			return w.notFinite(n.Value, key)
		}
		text, err := json.Marshal(v)
		if err != nil {
			return at(n, err)
		}
		w.json.Write(text)
	default:
		return at(n, fmt.Errorf("tag %s is not supported", tag))
	}
	return nil
}

// notFinite appends a form that a strict reader rejects in place of a number that JSON cannot
// hold. For the keys min and max it is a string, so that the error quotes the text of the
// document. Strings are valid for other keys, so there it is 1e999, a number that overflows.
func (w *writer) notFinite(text, key string) error {
	if key == "min" || key == "max" {
		return w.text(text)
	}
	w.json.WriteString("1e999")
	return nil
}

func (w *writer) text(s string) error {
	text, err := json.Marshal(s)
	w.json.Write(text)
	return err
}
