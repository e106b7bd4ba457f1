package suites

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/benchmarks/runner"
)

// FileName returns the name, without extension, of the files about a suite.
func FileName(suite string) string { return fileName(strings.ReplaceAll(suite, "/", "-")) }

// fileName keeps letters, digits, dots and hyphens of a name.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// token matches a string or a number of JSON.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*`)

// round rounds a number with a fraction to four significant digits.
func round(s []byte) []byte {
	if s[0] == '"' || !bytes.ContainsAny(s, ".eE") {
		return s
	}
	v, err := strconv.ParseFloat(string(s), 64)
	if err != nil {
		panic("suites: " + err.Error())
	}
	return strconv.AppendFloat(nil, v, 'g', 4, 64)
}

// innermost matches arrays and objects without others inside.
var innermost = regexp.MustCompile(`[\[{][^\[\]{}]*[\]}]`)

var newLine = regexp.MustCompile(`\n *`)

// Save writes a report to the file SUITE.json in a directory and returns its path.
// Each innermost array or object stands on one line. Numbers with fractions are
// rounded to four significant digits.
func Save(r *report.Report, dir string) (string, error) {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", err
	}
	text = token.ReplaceAllFunc(text, round)
	// A new line inside a string is escaped.
	text = innermost.ReplaceAllFunc(text, func(s []byte) []byte { return newLine.ReplaceAll(s, []byte(" ")) })
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName(r.Suite)+".json")
	return path, os.WriteFile(path, append(text, '\n'), 0o644)
}

// Load reads a file that Save wrote. The error wraps report.ErrReport for a file of
// another kind.
func Load(path string) (*report.Report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &report.Report{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", report.ErrReport, path, err)
	}
	return r, nil
}

// Saved loads all reports that Save wrote to a directory, in the order of
// runner.Suites, then by name. The error wraps report.ErrReport.
func Saved(dir string) ([]*report.Report, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: %s holds no summary of a suite", report.ErrReport, dir)
	}
	var list []*report.Report
	for _, path := range paths {
		r, err := Load(path)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	place := func(r *report.Report) int {
		all := runner.Suites()
		if i := slices.IndexFunc(all, func(s runner.Suite) bool { return s.Name == r.Suite }); i >= 0 {
			return i
		}
		return len(all)
	}
	slices.SortStableFunc(list, func(a, b *report.Report) int { return place(a) - place(b) })
	return list, nil
}
