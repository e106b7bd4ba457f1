// Package published holds the results of papers for comparison with measured
// results in the documents. The CSV files name their sources.
package published

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/functionspace/bo/benchmarks/report"
	"github.com/functionspace/bo/internal/table"
)

//go:embed published.csv raw.csv similar.csv measures.csv
var files embed.FS

// Literature returns all results.
var Literature = sync.OnceValue(func() report.Literature {
	var l report.Literature
	for _, c := range rows("published.csv") {
		p := report.Published{Dataset: c[0], Method: c[1], Source: c[2], LogLikelihood: number(c[3]), LogLikelihoodSE: number(c[4])}
		if c[5] != "" {
			p.MSE, p.MSESE = new(number(c[5])), number(c[6])
		}
		l.Published = append(l.Published, p)
	}
	for _, c := range rows("raw.csv") {
		l.Raw = append(l.Raw, report.Raw{Dataset: c[0], Method: c[1], Source: c[2], LogDensity: c[3], RMSE: c[4]})
	}
	for _, c := range rows("similar.csv") {
		l.Similar = append(l.Similar, report.Similar{
			Suite: c[0], Method: c[1], Source: c[2],
			LogLikelihood: number(c[3]), LogLikelihoodSE: number(c[4]), MSE: number(c[5]), MSESE: number(c[6]),
		})
	}
	for _, c := range rows("measures.csv") {
		l.Measured = append(l.Measured, report.PublishedMeasure{
			Suite: c[0], Quantity: c[1], Experiment: c[2], Method: c[3], Source: c[4], Mean: number(c[5]), SE: number(c[6]),
		})
	}
	return l
})

// rows reads the rows of an embedded file, without its comments.
func rows(name string) [][]string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic("published: " + err.Error())
	}
	var data strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			data.WriteString(line)
		}
	}
	t, err := table.Read(name, strings.NewReader(data.String()))
	if err != nil {
		panic("published: " + err.Error())
	}
	return t.Rows
}

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("published: %v", err))
	}
	return v
}
