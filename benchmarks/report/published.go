package report

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// published.csv names its sources.
//
//go:embed published.csv
var publishedText string

// Published is what a paper prints for a method on a dataset.
type Published struct {
	Dataset string `json:"-"`
	Method  string `json:"-"`
	Source  string `json:"source"` // the method of the paper

	// LogLikelihood is the mean expected log-likelihood on standardised targets and
	// MSE the mean squared error, null where the paper has none; SE are their
	// standard errors.
	LogLikelihood   float64  `json:"log_likelihood"`
	LogLikelihoodSE float64  `json:"log_likelihood_se"`
	MSE             *float64 `json:"mse"`
	MSESE           float64  `json:"mse_se"`

	// ReachedLikelihood compares our expected log-likelihood, the papers' metric,
	// Reached our log predictive density, and ReachedMSE our squared error (nil if
	// MSE is nil). Each reports whether our mean is at least as good within two
	// standard errors of the difference, √(s²+t²) for standard errors s and t of the
	// two means, and half a unit of the paper's last printed decimal.
	Reached           bool  `json:"reached"`
	ReachedLikelihood bool  `json:"reached_likelihood"`
	ReachedMSE        *bool `json:"reached_mse"`
}

// published reads published.csv once.
var published = sync.OnceValue(func() []Published {
	r := csv.NewReader(strings.NewReader(publishedText))
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		panic("report: published.csv: " + err.Error())
	}
	var list []Published
	for _, cells := range lines[1:] {
		p := Published{Dataset: cells[0], Method: cells[1], Source: cells[2]}
		p.LogLikelihood, p.LogLikelihoodSE = number(cells[3]), number(cells[4])
		if cells[5] != "" {
			p.MSE, p.MSESE = new(number(cells[5])), number(cells[6])
		}
		list = append(list, p)
	}
	return list
})

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("report: published.csv: %v", err))
	}
	return v
}

// rounding is half the last decimal that the papers print.
const rounding = 0.0005

// compareWith completes p with what the summaries of log density, expected
// log-likelihood and squared error say.
func (p *Published) compareWith(density, likelihood, mse Summary) {
	reached := func(s Summary) bool {
		return s.Mean+2*math.Hypot(s.SE, p.LogLikelihoodSE) >= p.LogLikelihood-rounding
	}
	p.Reached, p.ReachedLikelihood = reached(density), reached(likelihood)
	if p.MSE != nil {
		p.ReachedMSE = new(mse.Mean-2*math.Hypot(mse.SE, p.MSESE) <= *p.MSE+rounding)
	}
}
