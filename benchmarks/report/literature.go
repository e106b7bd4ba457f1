package report

import (
	"fmt"
	"math"

	"github.com/functionspace/bo/benchmarks/internal/document"
)

// Literature holds results that papers print, to be shown beside measured results.
type Literature struct {
	Published []Published // on the same datasets: compared
	Similar   []Similar   // on similar data: listed only
}

// Published is the result of a paper for a method on a dataset.
type Published struct {
	Dataset string `json:"-"`
	Method  string `json:"-"`
	Source  string `json:"source"` // the method that the paper proposes

	// LogLikelihood is the mean expected log likelihood of standardised targets and
	// MSE the mean squared error, null if the paper has none; SE are their standard
	// errors.
	LogLikelihood   float64  `json:"log_likelihood"`
	LogLikelihoodSE float64  `json:"log_likelihood_se"`
	MSE             *float64 `json:"mse"`
	MSESE           float64  `json:"mse_se"`

	// ReachedLikelihood compares our expected log likelihood, the papers' metric,
	// Reached our log predictive density, and ReachedMSE our squared error (nil if
	// MSE is nil). Each reports whether our mean is at least as good within a
	// tolerance: two standard errors of the difference, plus half a unit of the paper's
	// last printed decimal. The standard error of the difference is √(s²+t²) for the
	// standard errors s and t of the two means.
	Reached           bool  `json:"reached"`
	ReachedLikelihood bool  `json:"reached_likelihood"`
	ReachedMSE        *bool `json:"reached_mse"`
}

// Similar is the result of a paper for a method on data similar to the data of a
// suite. It is not comparable number by number.
type Similar struct {
	Suite           string  `json:"-"`
	Method          string  `json:"method"`
	Source          string  `json:"source"` // the method that the paper proposes
	LogLikelihood   float64 `json:"log_likelihood"`
	LogLikelihoodSE float64 `json:"log_likelihood_se"`
	MSE             float64 `json:"mse"`
	MSESE           float64 `json:"mse_se"`
}

// rounding is half a unit of the last decimal that the papers print.
const rounding = 0.0005

// compareWith sets the Reached fields of p from the measured summaries.
func (p *Published) compareWith(density, likelihood, mse Summary) {
	reached := func(s Summary) bool {
		return s.Mean+2*math.Hypot(s.SE, p.LogLikelihoodSE) >= p.LogLikelihood-rounding
	}
	p.Reached, p.ReachedLikelihood = reached(density), reached(likelihood)
	if p.MSE != nil {
		p.ReachedMSE = new(mse.Mean-2*math.Hypot(mse.SE, p.MSESE) <= *p.MSE+rounding)
	}
}

// on returns the results on data similar to the data of a suite.
func (l Literature) on(suite string) []Similar {
	var list []Similar
	for _, p := range l.Similar {
		if p.Suite == suite {
			list = append(list, p)
		}
	}
	return list
}

func (r *Regression) similarTable() [][]string {
	t := [][]string{{"method", "paper", "E log-lik.", "squared error", "its root"}}
	for _, p := range r.Similar {
		t = append(t, []string{
			p.Method, p.Source, fmt.Sprintf("%.7g ± %.7g", p.LogLikelihood, p.LogLikelihoodSE), fmt.Sprintf("%g ± %g", p.MSE, p.MSESE), fmt.Sprintf("%.3g", math.Sqrt(p.MSE)),
		})
	}
	return t
}

func (r *Regression) notes(w *document.Writer) {
	w.Item("Numbers are means ± standard errors over splits, or over seeds where there is one split. Targets are standardised by the training rows. The log density is log p(y) under the predictive distribution; E log-lik. is the mean of log p(y|f) over the posterior, and is never larger. Both are in nats per test row; higher is better.")
	if len(r.Tallies) > 0 {
		w.Item("A paper's number is followed by ✓ if the E log-lik. here (the squared error, for RMSE) is at least as good within two standard errors of the difference, and by ✗ if not. The papers' RMSE is the square root of their mean squared error.")
		w.Item("Sources: [g] GFSVI, [f] FSP-Laplace, with references in benchmarks/pages/internal/published/published.csv. The papers use 5 folds with a fifth of the rows as test rows; these runs use the splits of Hernández-Lobato and Adams (2015) with a tenth.")
	}
	if len(r.Similar) > 0 {
		w.Item("The papers' tables differ in detail from these, and the papers do not state their units. Sources: benchmarks/pages/internal/published/similar.csv.")
	}
	for _, o := range r.Origins {
		w.Item("%s", o)
	}
}
