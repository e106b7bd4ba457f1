package suites

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/pages/internal/chart"
	"github.com/functionspace/bo/benchmarks/report"
)

// Document is a Markdown file.
type Document struct{ Path, Text string }

// Documents makes the documents about the reports that Save wrote to a directory:
// the page, which stands beside the directory and has its name, and SUITE-tables.md
// in the directory for each suite. Hand-written text comes from introduction.md and
// SUITE.md there, each with its title as first heading. The sections "## Method" and
// "## Provenance" of SUITE.md follow the tables, the text before them precedes the
// tables. The page links to the other Markdown files of the directory. The error
// wraps report.ErrReport.
func Documents(dir string) ([]Document, error) {
	reports, err := Saved(dir)
	if err != nil {
		return nil, err
	}
	p := &page{Writer: document.Writer{Markdown: true}, base: filepath.Base(dir)}
	introduction, err := readText(dir, "introduction")
	if err != nil {
		return nil, err
	}
	p.Line("# %s\n", introduction.titleOr("Benchmarks"))
	p.text(introduction.finding)
	p.contents(reports)
	p.text(introduction.method)
	var list []Document
	names := []string{"introduction"}
	for _, r := range reports {
		w, err := readText(dir, FileName(r.Suite))
		if err != nil {
			return nil, err
		}
		p.suite(r, w)
		tables := document.Writer{Markdown: true}
		tables.Line("# %s: all tables\n", r.Suite)
		if err := r.WriteMarkdown(&tables); err != nil {
			return nil, err
		}
		list = append(list, Document{filepath.Join(dir, FileName(r.Suite)+"-tables.md"), tables.String()})
		names = append(names, FileName(r.Suite), FileName(r.Suite)+"-tables")
	}
	if err := p.others(dir, names); err != nil {
		return nil, err
	}
	return append([]Document{{dir + ".md", p.String()}}, list...), nil
}

// handwritten is a text with a title and up to three parts.
type handwritten struct{ title, finding, method, provenance string }

func (w handwritten) titleOr(other string) string {
	if w.title != "" {
		return w.title
	}
	return other
}

// readText reads the file NAME.md in a directory; the text is empty without one.
func readText(dir, name string) (handwritten, error) {
	content, err := os.ReadFile(filepath.Join(dir, name+".md"))
	if errors.Is(err, fs.ErrNotExist) {
		return handwritten{}, nil
	}
	if err != nil {
		return handwritten{}, err
	}
	var w handwritten
	text := rebase(string(content), filepath.Base(dir))
	if title, ok := strings.CutPrefix(text, "# "); ok {
		w.title, text, _ = strings.Cut(title, "\n")
	}
	text, w.provenance, _ = strings.Cut(text, "\n## Provenance\n")
	w.finding, w.method, _ = strings.Cut(text, "\n## Method\n")
	for _, part := range []*string{&w.finding, &w.method, &w.provenance} {
		*part = strings.TrimRight(strings.TrimLeft(*part, "\n"), "\n ") // the first line may be indented
	}
	return w, nil
}

var link = regexp.MustCompile(`\]\(([^)#:]+)([)#])`)

// rebase adapts the relative links of a text in the folder base to a text beside the
// folder.
func rebase(text, base string) string {
	return link.ReplaceAllStringFunc(text, func(s string) string {
		m := link.FindStringSubmatch(s)
		return "](" + path.Join(base, m[1]) + m[2]
	})
}

// page is the page under construction.
type page struct {
	document.Writer
	base string // folder of plots and tables
}

func (p *page) text(text string) {
	if text != "" {
		p.Line("%s\n", text)
	}
}

func (p *page) contents(reports []*report.Report) {
	t := [][]string{{"suite", "problems", "methods", "runs", "measured", "mean rank at the end"}}
	for _, r := range reports {
		runs := 0
		from, to := "9", ""
		for _, o := range r.Origins {
			runs += o.Runs
			from, to = min(from, report.Day(o.From)), max(to, report.Day(o.To))
		}
		if from != to {
			to = from + " to " + to
		}
		var best []string
		for i, o := range r.Ranks {
			if i < 3 || o.Name == r.Baseline {
				best = append(best, fmt.Sprintf("`%s` %.2f", o.Name, o.At[3].Mean))
			}
		}
		t = append(t, []string{
			fmt.Sprintf("[%s](#%s)", r.Suite, FileName(r.Suite)), fmt.Sprint(len(r.Problems)), fmt.Sprint(len(r.Methods)),
			fmt.Sprint(runs), to, strings.Join(best, ", "),
		})
	}
	p.Table(t)
	p.Line("")
}

// suite writes the section of a suite: finding, tables and plots, method, provenance.
func (p *page) suite(r *report.Report, w handwritten) {
	name := FileName(r.Suite)
	p.Line("<a id=\"%s\"></a>\n\n## %s\n", name, w.titleOr(r.Suite))
	p.text(w.finding)
	p.claims(r)
	p.comparison(r)
	p.regret(r)
	p.ranks(r)
	p.seconds(r)
	if w.method != "" {
		p.Heading("Method")
		p.Line("%s", w.method)
	}
	p.Heading("Provenance")
	p.text(w.provenance)
	p.Line("Measured: %s. [All tables](%s/%s-tables.md).\n", extent(r), p.base, name)
	for _, o := range r.Origins {
		p.Item("%s", o)
	}
	if len(r.Failures) > 0 {
		p.Line("\nFailed runs, not in the tables: %s.", failed(r))
	}
	p.Line("")
}

// claims writes the tests of the claims.
func (p *page) claims(r *report.Report) {
	if t := r.ClaimTable(); t != nil {
		p.Heading(report.ClaimsTitle)
		p.Table(t)
		p.Line("\n%s\n", report.ClaimsNote)
	}
}

// comparison compares the methods with the baseline, in words and as a table.
func (p *page) comparison(r *report.Report) {
	if len(r.Pairs) == 0 {
		return
	}
	p.Line("%s", verdict(r))
	if losses := losses(r); len(losses) > 0 {
		p.Line("\n%s loses on single problems (p < %g, not adjusted): %s.", code(r.Baseline), 1-report.Level, strings.Join(losses, "; "))
	}
	p.Line("")
	p.Table(r.PairTable())
}

// regret writes the medians on each problem and links the curves.
func (p *page) regret(r *report.Report) {
	if !r.Contested() {
		return
	}
	name := FileName(r.Suite)
	p.Heading("Median simple regret")
	p.Line("At the end of the budget. Bold: the lowest. (n): fewer seeds than other methods.\n")
	p.Table(medianTable(r, 3))
	p.Line("\nAt half the budget:\n")
	p.Table(medianTable(r, 1))
	p.Line("\n![Regret against evaluations](%s/%s-regret.png)", p.base, name)
	p.Line("\nMedian and quartiles over %s. With more than %d methods the quartiles are bars to the right of the curves.", seedRange(r), chart.Crowd)
	if len(rewards(r)) > 0 {
		p.Heading("Running maximum of the negative value at the end, as in the paper: mean ± standard error")
		p.Table(rewardTable(r))
		p.Line("\n![Running maximum against evaluations](%s/%s-reward.png)", p.base, name)
	}
}

// ranks writes mean ranks and links the data profiles.
func (p *page) ranks(r *report.Report) {
	if len(r.Ranks) == 0 {
		return
	}
	p.Heading("Mean rank, 1 is the best")
	p.Line("Over %d pairs of problem and seed that all these methods finished%s.\n", r.Blocks, unranked(r))
	p.Table(r.RankTable())
	if r.Profiled > 0 {
		p.Line("\n![Data profiles](%s/%s-profile.png)", p.base, FileName(r.Suite))
		p.Line("\nData profiles over the %d pairs with a known minimum. They show the share of runs whose regret has fallen to 1 %% or 0.1 %% of the regret after the initial design.", r.Profiled)
	}
}

// seconds writes the table of the times of suggestions and links its plot.
func (p *page) seconds(r *report.Report) {
	if len(r.Seconds) == 0 {
		return
	}
	p.Heading("Time of a suggestion by the number of observations")
	if t := r.SecondsTable(); t != nil {
		p.Table(t)
		p.Line("")
	}
	p.Line("![Time of a suggestion](%s/%s-seconds.png)", p.base, FileName(r.Suite))
}

// others links to the Markdown files in a directory except the files with the given names.
func (p *page) others(dir string, names []string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		return err
	}
	var lines []string
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		if slices.Contains(names, name) {
			continue
		}
		w, err := readText(dir, name)
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("- [%s](%s/%s.md)", w.titleOr(name), p.base, name))
	}
	if lines != nil {
		p.Line("## Further pages\n\n%s", strings.Join(lines, "\n"))
	}
	return nil
}
