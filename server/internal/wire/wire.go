// Package wire converts JSON documents to protobuf messages and back.
package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/functionspace/bo/study"
)

// Definition returns the JSON text of a definition. A seed above 2^53 is a string in the message and
// a number in the text.
func Definition(s *structpb.Struct) (json.RawMessage, error) {
	m := s.AsMap()
	switch seed := m["seed"].(type) {
	case float64:
		if math.Abs(seed) > 1<<53 {
			return nil, fmt.Errorf("%w: seed is above 2^53: write it as a string", study.ErrInvalid)
		}
	case string:
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: seed is %.40q, want a whole number from 0 to 2^64-1", study.ErrInvalid, seed)
		}
		m["seed"] = n
	}
	return json.Marshal(m)
}

// Defined returns the message of a definition.
func Defined(d *study.Definition) (*structpb.Struct, error) {
	s, err := Struct(d)
	if err == nil && d.Seed > 1<<53 {
		s.Fields["seed"] = structpb.NewStringValue(strconv.FormatUint(d.Seed, 10))
	}
	return s, err
}

// Struct returns the message of a value with a JSON form.
func Struct(v any) (*structpb.Struct, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// Parse returns the message of a JSON object.
func Parse(text []byte) (*structpb.Struct, error) {
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	return structpb.NewStruct(m)
}
