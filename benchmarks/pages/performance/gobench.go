package performance

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/functionspace/bo/benchmarks/internal/document"
)

// results holds the results of go test -bench by the names of benchmarks, in their order.
type results struct {
	names   []string
	fastest map[string]float64 // ns
}

var (
	benchLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s(.*)$`)
	benchTime = regexp.MustCompile(`([0-9.]+) (?:ns/op|(\S*?)-?ns/\w+)`)
)

// add adds the results in the output of go test -bench. Of several times the fastest counts. A time
// per element is a result of its own, with its unit in the name.
func (b *results) add(output string) {
	if b.fastest == nil {
		b.fastest = map[string]float64{}
	}
	for _, m := range benchLine.FindAllStringSubmatch(output, -1) {
		for _, t := range benchTime.FindAllStringSubmatch(m[2], -1) {
			name := m[1]
			if t[2] != "" {
				name += "/" + t[2]
			}
			ns, _ := strconv.ParseFloat(t[1], 64)
			old, ok := b.fastest[name]
			if !ok {
				b.names = append(b.names, name)
				old = ns
			}
			b.fastest[name] = min(old, ns)
		}
	}
}

// list returns a table with a row for each benchmark. With the results of an earlier version, it has
// columns for both and for the ratio.
func (b *results) list(before *results) [][]string {
	t := [][]string{{"case", "time"}}
	if before != nil {
		t = [][]string{{"case", "before", "after", "ratio"}}
	}
	for _, name := range b.names {
		row := []string{label(name), seconds(b.fastest[name])}
		if before != nil {
			old, ok := before.fastest[name]
			row = []string{row[0], "", row[1], ""}
			if ok {
				row[1], row[3] = seconds(old), ratio(b.fastest[name]/old)
			}
		}
		t = append(t, row)
	}
	return t
}

// pivot returns a table with a row for each benchmark without its last part, and a column for each last part.
// It adds the ratio of the last column to the first.
func (b *results) pivot() [][]string {
	var rows, columns []string
	for _, name := range b.names {
		at := strings.LastIndexByte(name, '/')
		if !slices.Contains(rows, name[:at]) {
			rows = append(rows, name[:at])
		}
		if !slices.Contains(columns, name[at+1:]) {
			columns = append(columns, name[at+1:])
		}
	}
	t := [][]string{append(append([]string{"case"}, columns...), "ratio")}
	for _, r := range rows {
		row := []string{label(r)}
		for _, c := range columns {
			row = append(row, seconds(b.fastest[r+"/"+c]))
		}
		first, last := b.fastest[r+"/"+columns[0]], b.fastest[r+"/"+columns[len(columns)-1]]
		t = append(t, append(row, ratio(last/first)))
	}
	return t
}

// label returns the name of a benchmark without its first part, as words.
func label(name string) string {
	first, rest, _ := strings.Cut(name, "/")
	return strings.ReplaceAll(cmp.Or(rest, first), "/", ", ")
}

// seconds writes a time in nanoseconds.
func seconds(ns float64) string {
	if ns < 1000 {
		return fmt.Sprintf("%.2g ns", ns)
	}
	return document.Seconds(ns / 1e9)
}

func ratio(r float64) string { return fmt.Sprintf("%.2f", r) }

// columns returns the table in the output of a program that prints its rows in columns. The first column has
// the given width. Lines before the rows are left out, except for the last, the header.
func columns(output string, width int) [][]string {
	var t [][]string
	for _, line := range strings.Split(output, "\n") {
		if len(line) <= width {
			continue
		}
		fields := strings.Fields(line[width:])
		if len(fields) == 0 {
			continue
		}
		name := strings.TrimSpace(line[:width])
		if name == "case" {
			t = nil
		}
		if _, err := strconv.ParseFloat(fields[len(fields)-1], 64); err == nil || name == "case" {
			t = append(t, append([]string{name}, fields...))
		}
	}
	return t
}
