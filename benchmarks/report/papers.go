package report

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"strings"
	"sync"
)

// published_priors.csv names its sources.
//
//go:embed published_priors.csv
var papersText string

// Paper is what a paper prints for a method on the table of a suite, which is not
// exactly that of this module: to stand beside what was measured, not to be compared
// with it number by number.
type Paper struct {
	Suite           string  `json:"-"`
	Method          string  `json:"method"`
	Source          string  `json:"source"` // the method of the paper
	LogLikelihood   float64 `json:"log_likelihood"`
	LogLikelihoodSE float64 `json:"log_likelihood_se"`
	MSE             float64 `json:"mse"`
	MSESE           float64 `json:"mse_se"`
}

// papers reads published_priors.csv once.
var papers = sync.OnceValue(func() []Paper {
	r := csv.NewReader(strings.NewReader(papersText))
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		panic("report: published_priors.csv: " + err.Error())
	}
	var list []Paper
	for _, c := range lines[1:] {
		list = append(list, Paper{c[0], c[1], c[2], number(c[3]), number(c[4]), number(c[5]), number(c[6])})
	}
	return list
})

func papersOn(suite string) []Paper {
	var list []Paper
	for _, p := range papers() {
		if p.Suite == suite {
			list = append(list, p)
		}
	}
	return list
}

func (r *Regression) papers() table {
	t := table{{"method", "paper", "E log-lik.", "squared error", "its root"}}
	for _, p := range r.Papers {
		t = append(t, []string{
			p.Method, p.Source, fmt.Sprintf("%.7g ± %.7g", p.LogLikelihood, p.LogLikelihoodSE), fmt.Sprintf("%g ± %g", p.MSE, p.MSESE), fmt.Sprintf("%.3g", math.Sqrt(p.MSE)),
		})
	}
	return t
}
