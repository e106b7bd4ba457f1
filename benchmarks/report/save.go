package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// FileName is the name of the file, without its ending, of what a directory has
// about a suite.
func FileName(suite string) string { return fileName(strings.ReplaceAll(suite, "/", "-")) }

// token is a string or a number of JSON.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*`)

// round replaces numbers with fractions by four significant digits.
func round(s []byte) []byte {
	if s[0] == '"' || !bytes.ContainsAny(s, ".eE") {
		return s
	}
	v, err := strconv.ParseFloat(string(s), 64)
	if err != nil {
		panic("report: " + err.Error())
	}
	return strconv.AppendFloat(nil, v, 'g', 4, 64)
}

// innermost are the arrays and objects without others inside.
var innermost = regexp.MustCompile(`[\[{][^\[\]{}]*[\]}]`)

var newLine = regexp.MustCompile(`\n *`)

// Save writes the report to the file SUITE.json in a directory, with a line for each
// of the innermost arrays and objects and four significant digits of numbers with
// fractions, and returns its path.
func (r *Report) Save(dir string) (string, error) {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", err
	}
	text = token.ReplaceAllFunc(text, round)
	// A new line inside of a string is escaped.
	text = innermost.ReplaceAllFunc(text, func(s []byte) []byte { return newLine.ReplaceAll(s, []byte(" ")) })
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName(r.Suite)+".json")
	return path, os.WriteFile(path, append(text, '\n'), 0o644)
}

// Load reads a file that Save wrote. The error wraps ErrReport if it is something
// else.
func Load(path string) (*Report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrReport, path, err)
	}
	return r, nil
}
