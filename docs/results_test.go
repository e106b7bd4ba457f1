package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The numbers of the table on the worth of networks occur on the pages of the measurements.
func TestWorthOfNetworks(t *testing.T) {
	results, err := os.ReadFile("results.md")
	require.NoError(t, err)
	checked := 0
	for _, c := range []struct{ task, page string }{
		{"optimisation", "benchmarks.md"}, {"regression", "uci.md"}, {"labels", "networks.md"},
	} {
		page, err := os.ReadFile(c.page)
		require.NoError(t, err)
		for _, row := range regexp.MustCompile(`(?m)^\| `+c.task+`, .*$`).FindAllString(string(results), -1) {
			for _, value := range regexp.MustCompile(`-?\d+\.\d+`).FindAllString(row, -1) {
				require.Regexp(t, `(^|[^\d.])`+regexp.QuoteMeta(value)+`($|[^\d.])`, string(page), row)
				checked++
			}
		}
	}
	require.Greater(t, checked, 15)
}

// Every number in the tables of the README's measured block occurs in the published benchmark tables. So does
// every number in the tables of the page of results before its table on networks.
func TestNumbersOfResults(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "<!-- measured: begin -->\n")
	require.True(t, found)
	measured, _, found := strings.Cut(rest, "<!-- measured: end -->\n")
	require.True(t, found)
	results, err := os.ReadFile("results.md")
	require.NoError(t, err)
	regret, _, found := strings.Cut(string(results), "## Where a network is worth its cost\n")
	require.True(t, found)

	pages, err := filepath.Glob("benchmarks/*-tables.md")
	require.NoError(t, err)
	var published strings.Builder
	for _, page := range append(pages, "benchmarks.md", "families.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		published.Write(text)
	}

	number := regexp.MustCompile(`\d[\d.]*(e[+-]?\d+)?( \[[^\]]+\]| ms\b| s\b)?`)
	checked := 0
	for line := range strings.Lines(measured + regret) {
		name, cells, found := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !found || !strings.HasPrefix(line, "| ") {
			continue
		}
		for _, value := range number.FindAllString(cells, -1) {
			whole := regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(value) + `($|[^\d.])`)
			require.Regexp(t, whole, published.String(), "%s", name)
			checked++
		}
	}
	require.Greater(t, checked, 80)
}
