package figures

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Command makes the pictures of docs/surrogates.
const Command = "go run ./benchmarks/pages posteriors"

// notesFile is the page of the directory to which README.md links if it exists.
const notesFile = "notes.md"

// row is a surrogate in a table.
type row struct {
	name    string
	stated  bool
	cells   [][]float64 // distances for each prior
	seconds []float64
	failed  string
}

// average returns the mean of all distances, +Inf after a failure.
func (r row) average() float64 {
	if r.failed != "" {
		return math.Inf(1)
	}
	mean, _ := meanSE(slices.Concat(r.cells...))
	return mean
}

// rows collects the records of each surrogate in the catalog, sorted by distance.
func rows(records []Record) []row {
	var all []row
	at := map[string]int{}
	for _, r := range records {
		stated, err := Stated(r.Surrogate)
		if err != nil {
			continue
		}
		if _, ok := at[r.Surrogate]; !ok {
			at[r.Surrogate] = len(all)
			all = append(all, row{name: r.Surrogate, stated: stated, cells: make([][]float64, len(Priors()))})
		}
		x := &all[at[r.Surrogate]]
		if r.Error != "" {
			x.failed = r.Error
			continue
		}
		k := slices.IndexFunc(Priors(), func(p Prior) bool { return p.Name == r.Prior })
		if k < 0 {
			continue
		}
		x.cells[k] = append(x.cells[k], r.Distance)
		if stated || k == 0 {
			x.seconds = append(x.seconds, r.Seconds)
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.average(), b.average()) })
	return all
}

func meanSE(v []float64) (mean, se float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// text returns the line of the table.
func (r row) text() string {
	head := fmt.Sprintf("| [%s](#%s) |", r.name, r.name)
	if r.failed != "" {
		reason := strings.NewReplacer("\n", "; ", "|", "/").Replace(r.failed)
		return head + " failed: " + reason + " |" + strings.Repeat(" |", len(r.cells)) + "\n"
	}
	return fmt.Sprintf("%s%s %s |\n", head, cells(r.cells), seconds(median(r.seconds)))
}

// cells returns means and standard errors.
func cells(samples [][]float64) string {
	var b strings.Builder
	for _, v := range samples {
		mean, se := meanSE(v)
		fmt.Fprintf(&b, " %.3f", mean)
		if len(v) > 1 {
			fmt.Fprintf(&b, " ± %.3f", se)
		}
		b.WriteString(" |")
	}
	return b.String()
}

func seconds(s float64) string {
	switch {
	case s < 0.0095:
		return fmt.Sprintf("%.1f ms", 1e3*s)
	case s < 0.95:
		return fmt.Sprintf("%.0f ms", 1e3*s)
	}
	return fmt.Sprintf("%.1f s", s)
}

// WriteReadme writes the page of all records in a directory.
func WriteReadme(dir string) error {
	records, err := Read(dir)
	if err != nil {
		return err
	}
	reference, err := priorRow(records)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Every surrogate model beside the exact process\n\n")
	b.WriteString(`The tables show how far the posterior of each surrogate model is from the exact posterior of
a Gaussian process with the same prior. The distance is the Wasserstein-2 distance of the
marginals at a point, as Gaussians, averaged over [-2,2]. Each cell has the mean ± standard
error over seeds. The unit is the prior standard deviation, and 0 is exact.
`)
	if _, err := os.Stat(filepath.Join(dir, notesFile)); err == nil {
		fmt.Fprintf(&b, "\n[Observations and reasons](%s)\n", notesFile)
	}
	all := rows(records)
	b.WriteString(distanceTable("Surrogate models with a given prior", reference, slices.DeleteFunc(slices.Clone(all), func(r row) bool { return !r.stated })))
	b.WriteString(distanceTable("Surrogate models with their own prior", "", slices.DeleteFunc(slices.Clone(all), func(r row) bool { return r.stated })))
	if slices.ContainsFunc(all, func(r row) bool { return !r.stated }) {
		b.WriteString("\nThese models have one posterior, compared with each of the three processes. A small\ndistance means that their prior happens to resemble the process.\n")
	}
	b.WriteString(`
## Pictures

Orange: the data. Blue: posterior mean, two standard deviations of the function, and four
functions drawn from the posterior. Dashed: mean and two standard deviations of the exact
process. The pictures show seed 1.
`)
	for _, r := range all {
		fmt.Fprintf(&b, "\n### %s\n\n![%s](%s.png)\n", r.name, r.name, r.name)
	}
	fmt.Fprintf(&b, `
## Method

The data are %d observations y = sin 2πx + 0.1ε with x uniform on [-1,-½] ∪ [½,1]. The
priors are given, not fitted: mean 0, output variance 1, noise variance %v, and

`, Observations, Noise)
	for _, p := range Priors() {
		fmt.Fprintf(&b, "- %s: `%s`, lengthscale %v\n", p.Title, p.Kernel, p.Lengthscale)
	}
	b.WriteString(`
The surrogate model and the exact process have the same prior, so the distance measures the
posterior approximation alone. All other settings have their defaults. A seed changes the
data and the random numbers of the fit. Rows come from several days and from machines with other
work, so their times differ by factors that are not differences of the models.
`)
	fmt.Fprintf(&b, "\n## Provenance\n\n    %s\n\n%s\n", Command, origin(records, all))
	return os.WriteFile(filepath.Join(dir, "README.md"), []byte(b.String()), 0o644)
}

// distanceTable returns a section with the distances, empty without rows.
func distanceTable(title, first string, rows []row) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n| |", title)
	for _, p := range Priors() {
		fmt.Fprintf(&b, " %s |", p.Title)
	}
	b.WriteString(" time of a fit |\n|---|" + strings.Repeat("---|", len(Priors())+1) + "\n" + first)
	for _, r := range rows {
		b.WriteString(r.text())
	}
	return b.String()
}

// priorRow returns the line with the distance of the prior from the exact posterior.
func priorRow(records []Record) (string, error) {
	seeds := uint64(1)
	for _, r := range records {
		seeds = max(seeds, r.Seed)
	}
	samples := make([][]float64, len(Priors()))
	for k, p := range Priors() {
		for s := range seeds {
			c, err := exact(p, s+1)
			if err != nil {
				return "", err
			}
			samples[k] = append(samples[k], distance(priorCurve(), c))
		}
	}
	return "| *prior without data* |" + cells(samples) + " |\n", nil
}

// origin lists dates and commits of the measurements of the rows, with their surrogate models.
func origin(records []Record, all []row) string {
	var lines []string
	models := map[string][]string{}
	for _, r := range records {
		if !slices.ContainsFunc(all, func(x row) bool { return x.name == r.Surrogate }) {
			continue
		}
		line := "- " + r.Date
		if r.Commit != "" {
			line += ", commit " + r.Commit
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		if !slices.Contains(models[line], r.Surrogate) {
			models[line] = append(models[line], r.Surrogate)
		}
	}
	slices.Sort(lines)
	for i, line := range lines {
		slices.Sort(models[line])
		lines[i] += ": " + strings.Join(models[line], ", ")
	}
	return strings.Join(lines, "\n")
}
