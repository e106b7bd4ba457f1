package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// parseJSON returns a JSON document. Its field JSON is the text itself.
func parseJSON(text []byte) (*Document, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return &Document{}, nil
	}
	s := scanner{text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			line, column := s.position(max(0, int(e.Offset)-1))
			return nil, &Fault{line, column, err}
		}
		return nil, &Fault{Err: err}
	}
	root, err := s.value()
	if err != nil {
		return nil, &Fault{Err: err}
	}
	return &Document{JSON: text, root: root}, nil
}

// scanner builds the nodes of a JSON text without syntax errors. Only positions and
// keys are set in nodes without parts.
type scanner struct {
	text    []byte
	decoder *json.Decoder

	offset, line, column int // the last position returned; offset 0 before the first
}

// position returns the line and column of an offset. Offsets of successive calls do not
// decrease.
func (s *scanner) position(offset int) (line, column int) {
	if s.line == 0 {
		s.line, s.column = 1, 1
	}
	for s.offset < min(offset, len(s.text)) {
		r, size := utf8.DecodeRune(s.text[s.offset:])
		s.offset += size
		s.column++
		if r == '\n' {
			s.line, s.column = s.line+1, 1
		}
	}
	return s.line, s.column
}

func (s *scanner) value() (*yaml.Node, error) {
	start := int(s.decoder.InputOffset())
	for start < len(s.text) && bytes.IndexByte([]byte(" \t\r\n,:"), s.text[start]) >= 0 {
		start++
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	n.Line, n.Column = s.position(start)
	token, err := s.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case string:
		n.Value = token
	case json.Delim:
		n.Kind = yaml.SequenceNode
		if token == '{' {
			n.Kind = yaml.MappingNode
		}
		for s.decoder.More() {
			part, err := s.value()
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, part)
		}
		if _, err := s.decoder.Token(); err != nil {
			return nil, err
		}
	}
	return n, nil
}
