package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unit is a sentence, a list item or a table row of a document.
type unit struct {
	text    string
	line    int
	section *section
	decided []string // decisions that its paragraph links
}

// sources returns the sources of the section and the linked decisions.
func (u unit) sources() []string { return append(slices.Clone(u.section.sources), u.decided...) }

// section is the text between two headings.
type section struct {
	title   string
	sources []string // commands that measure, and links to records or to pages of results
	anchors []string // links to other sections of the document
}

var (
	headings = regexp.MustCompile(`^#+ +(.*)`)
	items    = regexp.MustCompile(`^( *[-*] | *\d+\. )`)
	rows     = regexp.MustCompile(`^ *\|`)
	inline   = regexp.MustCompile("`[^`]*`")
	targets  = regexp.MustCompile(`\]\(([^)]*)\)`)
	// A sentence ends at a full stop, a colon or a semicolon before a capital or a markup character.
	ends = regexp.MustCompile("([.:;]) +([A-Z*\\[`])")

	// Numbers, as digits or as words.
	quantity = regexp.MustCompile(`\d|\b(two|three|four|five|six|seven|eight|nine|ten|twice|half|third|quarter|tenth|hundred|thousands?)\b`)
	// Terms of measurements. A sentence with a number and one of them is a numeric claim.
	measured = regexp.MustCompile(`(?i)\d\s?(ns|µs|ms)\b|\b(takes?|took)( about| up to)? [\d.]+ ?(s|seconds?|minutes?|hours?)\b|\d ?[MG](i?B|FLOP)|` +
		`\bp [=<] |\d of \d|\b(\w+) of (ten|six|five|twenty) (seeds|runs|pairs|instances)\b|` +
		`\b(simple|median|end|final|mean|lower|higher|worst) regret|\bregrets? (of|is|are|at|on|below)\b|\b(mean )?ranks? \d|` +
		`\blog (predictive )?densit(y|ies)\b.* -?\d|\bdistances? .*\d\.\d|\baccuracy\b.*\d|\bcoverage\b.*\d|\brmse\b.*\d\.\d|\berrors? of 0\.\d|` +
		`\btimes (as|faster|slower)\b|\b(faster|slower|as fast|as long)\b|\bmedians? (of|is|are)\b|\bbeats?\b|\bmeasured (on|at|in|with|after|before)\b`)
	// Sections whose tables have measured numbers.
	measurements = regexp.MustCompile(`(?i)^(measurements|results)`)
	// Commands that measure.
	measures = regexp.MustCompile(`go run \./(benchmarks|internal|store|deploy/image|cmd/bo bench)|bo bench (run|report)|go test \./\S+ .*-(run|bench|full)|python3? (benchmarks|python/benchmarks)|bo score|\.ci/`)
	// Records and pages of results.
	results = regexp.MustCompile(`\.jsonl?(\.gz)?$|benchmarks\.md|uci\.md|performance\.md|(^|/)features\.md|surrogates/|^README\.md|benchmarks/|/records|^records$|^classification\.md`)
)

// Documents that a command makes, and decisions.
var exempt = regexp.MustCompile(`^(benchmarks\.md|performance\.md|benchmarks/.*-tables\.md|surrogates/README\.md|adr/.*)$`)

// reader splits a document into units. It leaves out code, headings and generated blocks.
type reader struct {
	units    []unit
	sections []*section
	open     string // paragraph, item or row that is read
	from     int    // its line
	header   string // of the table that is read
}

// flush ends the open paragraph.
func (r *reader) flush() {
	s := r.sections[len(r.sections)-1]
	s.add(r.open)
	decided := decisions(r.open)
	for _, text := range strings.Split(ends.ReplaceAllString(r.open, "$1\n$2"), "\n") {
		if text = strings.TrimSpace(text); text != "" {
			r.units = append(r.units, unit{text, r.from, s, decided})
		}
	}
	r.open = ""
}

func (r *reader) line(number int, line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case headings.MatchString(line):
		r.flush()
		r.sections = append(r.sections, &section{title: headings.FindStringSubmatch(line)[1]})
	case trimmed == "":
		r.flush()
		r.header = ""
	case rows.MatchString(line):
		r.flush()
		if r.header == "" {
			r.header = trimmed
			return
		}
		s := r.sections[len(r.sections)-1]
		s.add(trimmed)
		r.units = append(r.units, unit{r.header + " " + trimmed, number, s, decisions(trimmed)})
	default:
		if items.MatchString(line) {
			r.flush()
		}
		if r.open == "" {
			r.from = number
		}
		r.open += " " + trimmed
	}
}

// decisions returns the links of a text to decisions, whose pages have measurements.
func decisions(text string) (list []string) {
	for _, m := range targets.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "adr/") {
			list = append(list, m[1])
		}
	}
	return list
}

// add adds the sources in a text.
func (s *section) add(text string) {
	for _, code := range inline.FindAllString(text, -1) {
		if measures.MatchString(code) {
			s.sources = append(s.sources, code)
		}
	}
	for _, m := range targets.FindAllStringSubmatch(text, -1) {
		if anchor, ok := strings.CutPrefix(m[1], "#"); ok {
			s.anchors = append(s.anchors, anchor)
		} else if results.MatchString(m[1]) {
			s.sources = append(s.sources, m[1])
		}
	}
}

// read splits a document. A section also has the sources of the sections to which it
// links, and of a section Provenance.
func read(text string) []unit {
	r := &reader{sections: []*section{{}}}
	fenced, made, blank := false, false, true
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "<!-- generated: "):
			r.flush()
			made = true
		case strings.HasPrefix(trimmed, "<!-- end of generated text"):
			made = false
		case made || strings.HasPrefix(trimmed, "<!--"):
		case strings.HasPrefix(trimmed, "```"):
			r.flush()
			fenced = !fenced
		case fenced, blank && strings.HasPrefix(line, "    ") && !items.MatchString(line):
			if s := r.sections[len(r.sections)-1]; measures.MatchString(line) {
				s.sources = append(s.sources, trimmed)
			}
			continue // blank stays: the code goes on
		default:
			r.line(i+1, line)
		}
		blank = trimmed == ""
	}
	r.flush()
	own := map[string][]string{}
	slug := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, s := range r.sections {
		name := strings.ReplaceAll(slug.ReplaceAllString(strings.ToLower(s.title), ""), " ", "-")
		own[name] = append(own[name], s.sources...)
	}
	for _, s := range r.sections {
		for _, anchor := range append(s.anchors, "provenance") {
			s.sources = append(s.sources, own[anchor]...)
		}
	}
	return r.units
}

// claim reports whether a unit states a measured number.
func (u unit) claim() bool {
	text := targets.ReplaceAllString(inline.ReplaceAllString(u.text, "code"), "]")
	if rows.MatchString(u.text) && measurements.MatchString(u.section.title) {
		return strings.ContainsAny(text, "0123456789")
	}
	return quantity.MatchString(text) && measured.MatchString(text)
}

// Every numeric claim of the documents has a source. Its section has a command that measures it, or a link to
// records or to a page of results. A link to a decision in its paragraph will do too. Documents and blocks that
// a command makes are exempt. The test lists all claims with -v.
func TestClaimsHaveSources(t *testing.T) {
	paths := []string{"../README.md"}
	for _, glob := range []string{"*.md", "*/*.md", "*/*/*.md"} {
		found, err := filepath.Glob(glob)
		require.NoError(t, err)
		paths = append(paths, slices.DeleteFunc(found, exempt.MatchString)...)
	}
	claims := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, u := range read(string(text)) {
			if !u.claim() {
				continue
			}
			claims++
			if len(u.sources()) == 0 {
				t.Errorf("%s:%d: no command and no record in section %q for: %s", path, u.line, u.section.title, u.text)
			} else {
				t.Logf("%s:%d: %s\n\t%s", path, u.line, u.text, strings.Join(slices.Compact(u.sources()), "; "))
			}
		}
	}
	assert.Greater(t, claims, 100)
}

// A claim fails without a source, and passes with a command, a record, a link to a section
// that has one, or a section Provenance.
func TestClaimsOfAText(t *testing.T) {
	unsourced := func(text string) (n int) {
		for _, u := range read(text) {
			if u.claim() && len(u.sources()) == 0 {
				n++
			}
		}
		return n
	}
	const claim = "# Title\n\nA fit takes 3 s. It has two layers.\n"
	for text, want := range map[string]int{
		claim: 1,
		claim + "\n    go run ./benchmarks/pages study x\n":                             0,
		claim + "\n    go run ./cmd/bo run\n":                                           1,
		claim + "See [records](a.jsonl).\n":                                             0,
		claim + "See [it](a.md).\n":                                                     1,
		claim + "Hence [this](adr/0001-x.md).\n":                                        0,
		claim + "\nHence [this](adr/0001-x.md).\n":                                      1,
		claim + "\n## Next\n\nSee [records](a.jsonl).\n":                                1,
		claim + "See [next](#next-one).\n\n## Next one\n\nSee [records](a.jsonl).\n":    0,
		claim + "\n## Provenance\n\n    bo bench run spine\n":                           0,
		"```text\nA fit takes 3 s.\n```\n":                                              0,
		"<!-- generated: x -->\nA fit takes 3 s.\n<!-- end of generated text -->\n":     0,
		"## Measurements\n\n| a | b |\n|---|---|\n| x | 0.3 |\n":                        1,
		"## Measurements\n\n| a | b |\n|---|---|\n| x | [`go`](../benchmarks.md) 3 |\n": 0,
		"`gp` beats it in 9 of\n10 seeds: so `bo\nbench run spine` says.\n":             0,
		"A lease lasts 90 s. The box has a margin of 5 %.":                              0,
	} {
		assert.Equal(t, want, unsourced(text), text)
	}
}

// A row or a sentence may link to a page of results. Its numbers with a fraction occur on this page or in its
// tables.
func TestNumbersOccurOnLinkedPages(t *testing.T) {
	pages, err := filepath.Glob("benchmarks/*-tables.md")
	require.NoError(t, err)
	number := regexp.MustCompile(`\d+\.\d+(e[+-]?\d+)?|\d+e[+-]?\d+`)
	methods, err := filepath.Glob("methods/*.md")
	require.NoError(t, err)
	checked := 0
	for _, path := range methods {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, u := range read(string(text)) {
			linked := ""
			for _, m := range targets.FindAllStringSubmatch(u.text, -1) {
				page, _, _ := strings.Cut(m[1], "#")
				page = filepath.Join("methods", page)
				if exists, _ := filepath.Match("methods/*.md", page); !strings.HasSuffix(page, ".md") || exists && filepath.Base(page) != "classification.md" {
					continue
				}
				for _, p := range append([]string{page}, pages...) {
					if p == page || page == "benchmarks.md" {
						part, err := os.ReadFile(p)
						require.NoError(t, err)
						linked += string(part)
					}
				}
			}
			if linked == "" || strings.Contains(u.text, "adr/") || !u.claim() {
				continue
			}
			for _, value := range number.FindAllString(targets.ReplaceAllString(inline.ReplaceAllString(u.text, ""), "]"), -1) {
				require.Regexp(t, `(^|[^\d.])`+regexp.QuoteMeta(value)+`($|[^\d.])`, linked, "%s:%d: %s", path, u.line, u.text)
				checked++
			}
		}
	}
	require.Positive(t, checked)
}

// The numbers with a fraction in the findings about a suite occur in its tables.
func TestNumbersOfFindings(t *testing.T) {
	pages, err := filepath.Glob("benchmarks/*-tables.md")
	require.NoError(t, err)
	number := regexp.MustCompile(`\d+\.\d+(e[+-]?\d+)?|\d+e[+-]?\d+`)
	checked := 0
	for _, page := range pages {
		tables, err := os.ReadFile(page)
		require.NoError(t, err)
		path := strings.TrimSuffix(page, "-tables.md") + ".md"
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		finding, _, found := strings.Cut(string(text), "\n## Method\n")
		require.True(t, found, path)
		for _, u := range read(finding) {
			if !u.claim() {
				continue
			}
			for _, value := range number.FindAllString(targets.ReplaceAllString(inline.ReplaceAllString(u.text, ""), "]"), -1) {
				require.Regexp(t, `(^|[^\d.])`+regexp.QuoteMeta(value)+`($|[^\d.])`, string(tables), "%s:%d: %s", path, u.line, u.text)
				checked++
			}
		}
	}
	require.Positive(t, checked)
}
