package report

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

	"github.com/functionspace/bo/benchmarks/runner"
)

// Document is a Markdown file.
type Document struct{ Path, Text string }

// Documents makes the documents about the reports that were saved in a directory:
// the page, which has the name of the directory and stands beside it, and for each
// suite SUITE-tables.md in it. What is written by hand is taken from the files
// introduction.md and SUITE.md in the directory, whose first heading is the title;
// the page links to the other Markdown files there. The error wraps ErrReport.
func Documents(dir string) ([]Document, error) {
	reports, err := Saved(dir)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(dir)
	p := &page{writer: writer{markdown: true}, base: base}
	introduction, err := hand(dir, "introduction")
	if err != nil {
		return nil, err
	}
	p.line("# %s\n", introduction.titleOr("Benchmarks"))
	p.text(introduction.text)
	p.contents(reports)
	var list []Document
	names := []string{"introduction"}
	for _, r := range reports {
		w, err := hand(dir, FileName(r.Suite))
		if err != nil {
			return nil, err
		}
		p.suite(r, w)
		tables := writer{markdown: true}
		tables.line("# %s: all tables\n", r.Suite)
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

// Saved loads the reports that were saved in a directory, in the order of
// runner.Suites. The error wraps ErrReport.
func Saved(dir string) ([]*Report, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: %s holds no summary of a suite", ErrReport, dir)
	}
	byName := map[string]*Report{}
	var names, order []string
	for _, path := range paths {
		r, err := Load(path)
		if err != nil {
			return nil, err
		}
		byName[r.Suite] = r
		names = append(names, r.Suite)
	}
	for _, s := range runner.Suites() {
		order = append(order, s.Name)
	}
	arrange(names, order)
	var list []*Report
	for _, name := range names {
		list = append(list, byName[name])
	}
	return list, nil
}

// words are a text with a title.
type words struct{ title, text string }

func (w words) titleOr(other string) string {
	if w.title != "" {
		return w.title
	}
	return other
}

// hand reads the file NAME.md in a directory; empty if there is none.
func hand(dir, name string) (words, error) {
	text, err := os.ReadFile(filepath.Join(dir, name+".md"))
	if errors.Is(err, fs.ErrNotExist) {
		return words{}, nil
	}
	if err != nil {
		return words{}, err
	}
	w := words{text: string(text)}
	if title, ok := strings.CutPrefix(w.text, "# "); ok {
		w.title, w.text, _ = strings.Cut(title, "\n")
	}
	w.text = strings.TrimSpace(rebase(w.text, filepath.Base(dir)))
	return w, nil
}

var link = regexp.MustCompile(`\]\(([^)#:]+)([)#])`)

// rebase makes the relative links of a text in the folder base right for a text
// beside the folder.
func rebase(text, base string) string {
	return link.ReplaceAllStringFunc(text, func(s string) string {
		m := link.FindStringSubmatch(s)
		return "](" + path.Join(base, m[1]) + m[2]
	})
}

// page is the page while it is written.
type page struct {
	writer
	base string // folder of plots and tables
}

func (p *page) text(text string) {
	if text != "" {
		p.line("%s\n", text)
	}
}

func (p *page) contents(reports []*Report) {
	t := table{{"suite", "problems", "methods", "runs", "measured", "mean rank at the end"}}
	for _, r := range reports {
		runs := 0
		from, to := "9", ""
		for _, o := range r.Origins {
			runs += o.Runs
			from, to = min(from, day(o.From)), max(to, day(o.To))
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
	p.table(t)
}

func (p *page) suite(r *Report, w words) {
	name := FileName(r.Suite)
	p.line("\n<a id=\"%s\"></a>\n\n## %s\n", name, w.titleOr(r.Suite))
	p.text(w.text)
	p.line("Measured: %s. [All tables](%s/%s-tables.md).\n", r.extent(), p.base, name)
	for _, o := range r.Origins {
		p.line("- %s", o.text())
	}
	if len(r.Ranks) > 0 {
		p.heading("Mean rank, 1 is the best")
		p.line("%d pairs of problem and seed that all these methods finished%s.\n", r.Blocks, r.unranked())
		p.table(r.ranks())
	}
	if len(r.Pairs) > 0 {
		p.heading("Against " + code(r.Baseline))
		p.line("%s\n", r.verdict())
		p.table(r.pairs())
		if losses := r.losses(); len(losses) > 0 {
			p.line("\nWhere %s loses on a single problem (p < %g, not adjusted): %s.", code(r.Baseline), 1-Level, strings.Join(losses, "; "))
		}
	}
	if r.contested() {
		p.heading("Simple regret, medians")
		p.line("At the end; the lowest is bold; (n): fewer seeds than others.\n")
		p.table(r.medians(3))
		p.line("\nAfter half of the budget:\n")
		p.table(r.medians(1))
		p.line("\n![Regret against evaluations](%s/%s-regret.png)", p.base, name)
		p.line("\nMedians over %s, and quartiles: as bands, or of more than %d methods beside the last point.", r.seeds(), crowd)
	}
	if len(r.rewards()) > 0 {
		p.heading("As the paper shows it: running maximum of -value at the end, mean ± standard error")
		p.table(r.rewardTable())
		p.line("\n![Running maximum against evaluations](%s/%s-reward.png)", p.base, name)
	}
	if r.Profiled > 0 {
		p.line("\n![Data profiles](%s/%s-profile.png)", p.base, name)
		p.line("\nData profiles over the %d pairs whose minimum is known: the share in which a method came to 1 %% and 0.1 %% of the regret that the common design left.", r.Profiled)
	}
	if len(r.Seconds) > 0 {
		p.heading("Seconds of a suggestion by the number of observations")
		if t := r.seconds(); t != nil {
			p.table(t)
			p.line("")
		}
		p.line("![Time of a suggestion](%s/%s-seconds.png)", p.base, name)
	}
	if n := len(r.Failures); n > 0 {
		p.heading("Runs that failed")
		p.line("%s; they are not in the tables.", r.failed())
	}
}

// others links to the Markdown files in a directory that are not named.
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
		w, err := hand(dir, name)
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("- [%s](%s/%s.md)", w.titleOr(name), p.base, name))
	}
	if lines != nil {
		p.line("\n## Further pages\n\n%s", strings.Join(lines, "\n"))
	}
	return nil
}
