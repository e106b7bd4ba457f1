package report

import (
	"fmt"
	"math"

	"github.com/functionspace/bo/benchmarks/internal/document"
)

// Literature holds results that papers print, to be shown beside measured results.
type Literature struct {
	Published []Published        // on the same datasets: compared
	Raw       []Raw              // on the same datasets, in the units of the files: listed only
	Similar   []Similar          // on similar data: listed only
	Measured  []PublishedMeasure // of suites of experiments: listed only
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

	// Likelihood compares our expected log likelihood, the papers' metric, Density our log
	// predictive density, and Error our squared error (empty if MSE is nil).
	Likelihood Standing `json:"likelihood_standing"`
	Density    Standing `json:"density_standing"`
	Error      Standing `json:"error_standing,omitempty"`
}

// Standing compares a measured mean with the mean that a paper prints.
type Standing string

// The tolerance is two standard errors of the difference, plus half a unit of the paper's
// last printed decimal. The standard error of the difference is √(s²+t²) for the standard
// errors s and t of the two means.
const (
	Better Standing = "better" // beyond the tolerance
	Within Standing = "within" // the difference is within the tolerance
	Worse  Standing = "worse"  // beyond the tolerance
)

// standing compares two means with standard errors; more is better.
func standing(mean, se, paper, paperSE float64) Standing {
	tolerance := 2*math.Hypot(se, paperSE) + rounding
	switch d := mean - paper; {
	case d > tolerance:
		return Better
	case d >= -tolerance:
		return Within
	}
	return Worse
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

// Raw is the result of a paper for a method on a dataset, in the units of the target.
type Raw struct {
	Dataset, Method, Source string
	LogDensity, RMSE        string // as printed, with the spread; may be empty
}

// rounding is half a unit of the last decimal that the papers print.
const rounding = 0.0005

// compareWith sets the standings of p from the measured summaries.
func (p *Published) compareWith(density, likelihood, mse Summary) {
	p.Density = standing(density.Mean, density.SE, p.LogLikelihood, p.LogLikelihoodSE)
	p.Likelihood = standing(likelihood.Mean, likelihood.SE, p.LogLikelihood, p.LogLikelihoodSE)
	if p.MSE != nil {
		p.Error = standing(-mse.Mean, mse.SE, -*p.MSE, p.MSESE)
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
	if r.Contests != nil {
		w.Item("Numbers are means ± standard errors over seeds, and the median of the CPU time. Each seed draws another table. The log density is log p(y) under the predictive distribution in nats per test row, or the log probability of the label; higher is better. The root mean squared error includes the noise of the test rows.")
		w.Item("The column above %s counts the seeds with a larger log density. In parentheses: the two-sided p-value of Wilcoxon's signed-rank test on the differences, not adjusted. With five seeds it is at least 0.062, with ten 0.002.", r.Baseline)
		for _, o := range r.Origins {
			w.Item("%s", o)
		}
		return
	}
	w.Item("Numbers are means ± standard errors over splits, or over seeds where there is one split. Targets are standardised by the training rows. The log density is log p(y) under the predictive distribution; E log-lik. is the mean of log p(y|f) over the posterior, and is never larger. Both are in nats per test row; higher is better.")
	if len(r.Tallies) > 0 {
		w.Item("A paper's number is followed by +, = or -. It has + if the E log-lik. here (the squared error, for RMSE) is better by more than two standard errors of the difference. It has - if the result here is worse by more, and = if the difference is smaller. The papers' RMSE is the square root of their mean squared error. They print it with three decimals: where it is 0.000, as on naval, an equal sign does not mean equal errors.")
		sources := "Sources: [g] GFSVI, [f] FSP-Laplace, with references in benchmarks/pages/internal/published/published.csv. The papers use 5 folds with a fifth of the rows as test rows. "
		if r.Suite != papersSuite {
			w.Item("%s", sources+"These runs have folds of the same size, of another partition. A tenth of the other rows chooses the setting: the largest E log-lik. there, in the mean of the folds.")
		} else {
			w.Item("%s", sources+"These runs use the splits of Hernández-Lobato and Adams (2015) with a tenth.")
		}
	}
	if len(r.Raw) > 0 {
		w.Item("Results in the units of the tables are listed without a verdict. Here ± is the standard error over splits. In GWI it is the standard deviation over 10 random splits. For naval and protein fBNN prints the standard deviation over 5 splits. For the other tables fBNN does not name its spread over 10 splits. The papers' splits hold out a tenth of the rows, as here, but at random. Sources: benchmarks/pages/internal/published/raw.csv.")
	}
	if r.splitTable() != nil {
		w.Item("In parentheses: the two-sided p-value of Wilcoxon's signed-rank test on the differences of the log densities, not adjusted. With five splits it is at least 0.062. The training rows of the splits overlap, so the test overstates the evidence.")
	}
	if len(r.Similar) > 0 {
		w.Item("The papers' tables differ in detail from these, and the papers do not state their units. Sources: benchmarks/pages/internal/published/similar.csv.")
	}
	for _, o := range r.Origins {
		w.Item("%s", o)
	}
}
