package figures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/functionspace/bo/benchmarks/runner"
	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/internal/didyoumean"
)

// ErrSettings reports a surrogate without measured settings.
var ErrSettings = errors.New("no settings to measure")

// SettingsRecord is the distance of a surrogate with changed settings.
type SettingsRecord struct {
	Settings string `json:"settings"` // key=value;key=value, empty for the defaults
	Record
	// Spread is the mean standard deviation over the grid, divided by the mean of the exact
	// process.
	Spread float64 `json:"spread"`
}

// variants are the settings that the pages of the methods compare, after the defaults.
var variants = map[string][]string{
	"dkl":         {"decay=0.3", "decay=0", "features=2;decay=0"},
	"fsp-laplace": {"hidden=100,100", "activation=relu", "context=400"},
	"fvi": {
		"steps=2000", "weight=batch", "draws=100;context=40", "bias=2", "bias=0.5", "score=plain", "inject=0.1",
		"start=random;score=plain;steps=1000",
	},
	"gfsvi":   {"gamma=1e-10", "covariance=diagonal", "rank=40", "hidden=50,50"},
	"gwi-net": {"steps=1000;rate=0.01", "hidden=10,10;start=random;measure=data;inducing=12"},
	"gwi-svgp": {
		"distance=w2-squared", "measure=data", "steps=1000;rate=0.01", "measure=data;steps=1000;rate=0.01;inducing=12",
	},
	"rff": {"features=4000"},
	"tfsvi": {
		"context=40", "steps=1000", "hidden=50,50", "divergence=diagonal", "prior=fixed", "prior=fixed;divergence=diagonal",
		"stop-gradient=true", "covariance=diagonal", "covariance=diagonal;prior=fixed;divergence=diagonal",
	},
}

// settingsFile is the file with the records of a directory, a line each.
const settingsFile = "settings.jsonl"

// SettingsSurrogates returns the names of the surrogates whose settings are measured.
func SettingsSurrogates() []string {
	var names []string
	for _, s := range catalog.Surrogates() {
		if variants[s.Name] != nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// RunSettings measures surrogates with their defaults and with changed settings, for the
// seeds 1 to seeds, and calls tell with each record. The records replace earlier records of
// these surrogates in the directory. A failed fit is a record. The error reports
// cancellation or a file, or wraps ErrSettings.
func RunSettings(ctx context.Context, dir string, names []string, seeds int, tell func(SettingsRecord)) error {
	for _, name := range names {
		if variants[name] == nil {
			return fmt.Errorf("%w: surrogate %q%s", ErrSettings, name, didyoumean.Hint(name, SettingsSurrogates()))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		fresh, err := measureSettings(ctx, name, seeds, tell)
		if err != nil {
			return err
		}
		records, err := readSettings(dir)
		if err != nil {
			return err
		}
		records = slices.DeleteFunc(records, func(r SettingsRecord) bool { return r.Surrogate == name })
		records = append(records, fresh...)
		slices.SortStableFunc(records, func(a, b SettingsRecord) int { return cmp.Compare(a.Surrogate, b.Surrogate) })
		if err := writeLines(filepath.Join(dir, settingsFile), records); err != nil {
			return err
		}
	}
	return nil
}

func measureSettings(ctx context.Context, name string, seeds int, tell func(SettingsRecord)) ([]SettingsRecord, error) {
	stated, err := Stated(name)
	if err != nil {
		return nil, err
	}
	_, commit := runner.Version()
	var records []SettingsRecord
	for _, settings := range append([]string{""}, variants[name]...) {
		var pairs []string
		if settings != "" {
			pairs = strings.Split(settings, ";")
		}
		for seed := range uint64(seeds) {
			var c curve
			var seconds float64
			var failure error
			for k, p := range Priors() {
				if k == 0 || stated {
					if c, seconds, failure = fit(ctx, name, p, seed+1, pairs...); ctx.Err() != nil {
						return nil, ctx.Err()
					}
				}
				want, err := exact(p, seed+1)
				if err != nil {
					return nil, err
				}
				r := SettingsRecord{Settings: settings, Record: Record{
					Surrogate: name, Prior: p.Name, Seed: seed + 1, Seconds: seconds,
					Commit: commit, Date: time.Now().UTC().Format(time.DateOnly),
				}}
				if failure != nil {
					r.Error = failure.Error()
				} else {
					r.Distance, r.Spread = distance(c, want), spread(c)/spread(want)
				}
				records = append(records, r)
				tell(r)
			}
		}
	}
	return records, nil
}

// spread returns the mean standard deviation over the grid.
func spread(c curve) float64 {
	var sum float64
	for _, s := range c.sd {
		sum += s
	}
	return sum / gridPoints
}

func readSettings(dir string) ([]SettingsRecord, error) {
	records, err := readLines[SettingsRecord](filepath.Join(dir, settingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return records, err
}

// SettingsTable returns the table of a surrogate from the records of a directory, as
// Markdown. The error wraps ErrSettings without records.
func SettingsTable(dir, name string) (string, error) {
	records, err := readSettings(dir)
	if err != nil {
		return "", err
	}
	records = slices.DeleteFunc(records, func(r SettingsRecord) bool { return r.Surrogate != name })
	if len(records) == 0 {
		return "", fmt.Errorf("%w: %s has no records of %s", ErrSettings, filepath.Join(dir, settingsFile), name)
	}
	var b strings.Builder
	b.WriteString("| settings |")
	for _, p := range Priors() {
		fmt.Fprintf(&b, " %s |", p.Title)
	}
	b.WriteString(" time of a fit |\n|---|" + strings.Repeat("---|", len(Priors())+1) + "\n")
	seeds := map[uint64]bool{}
	var commits []string
	for _, settings := range append([]string{""}, variants[name]...) {
		title := "default"
		if settings != "" {
			title = "`" + strings.ReplaceAll(settings, ";", " ") + "`"
		}
		fmt.Fprintf(&b, "| %s |", title)
		var times []float64
		for _, p := range Priors() {
			var d, spreads []float64
			for _, r := range records {
				if r.Settings == settings && r.Prior == p.Name && r.Error == "" {
					d, spreads, times = append(d, r.Distance), append(spreads, r.Spread), append(times, r.Seconds)
					seeds[r.Seed] = true
				}
				if !slices.Contains(commits, r.Commit) {
					commits = append(commits, r.Commit)
				}
			}
			b.WriteString(settingsCell(d, spreads))
		}
		if times == nil {
			times = []float64{math.NaN()}
		}
		fmt.Fprintf(&b, " %s |\n", secondsText(median(times)))
	}
	fmt.Fprintf(&b, "\nMean ± standard error of %d datasets; in parentheses the mean standard deviation over [-2,2], divided by the\nmean of the exact process. Commit %s.\n", len(seeds), strings.Join(commits, ", "))
	return b.String(), nil
}

func settingsCell(distances, spreads []float64) string {
	switch len(distances) {
	case 0:
		return " failed |"
	case 1:
		return fmt.Sprintf(" %.3f (%.2f) |", distances[0], spreads[0])
	}
	mean, se := meanSE(distances)
	ratio, _ := meanSE(spreads)
	return fmt.Sprintf(" %.3f ± %.3f (%.2f) |", mean, se, ratio)
}

// secondsText writes the time of a fit, empty if there is none.
func secondsText(s float64) string {
	if math.IsNaN(s) {
		return ""
	}
	return seconds(s)
}
