package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/runner"
)

// Claim is the test of a runner.Claim.
type Claim struct {
	Text     string   `json:"claim"`
	Method   string   `json:"method"`
	Than     string   `json:"than"`
	Problems []string `json:"problems,omitempty"` // empty: all
	Half     bool     `json:"half,omitempty"`
	Equal    bool     `json:"equal,omitempty"`

	Pairs *Comparison `json:"pairs"` // null without pairs
	// Adjusted is the p-value of Pairs with Holm's adjustment for the tested claims of the
	// suite.
	Adjusted float64 `json:"p_adjusted,omitempty"`
	// Difference is the mean over seeds of the regret of Method minus the regret of Than. Its 95 % interval is
	// the interval of Student's t-test for pairs. Difference is nil over several problems and for fewer than
	// two pairs. If the minimum is unknown, values take the place of regrets.
	Difference *Interval `json:"difference,omitempty"`
}

// claims tests the claims of a suite.
func (a *results) claims(suite string) []Claim {
	s, err := runner.Lookup(suite)
	if err != nil {
		return nil
	}
	var list []Claim
	var p []float64
	for _, q := range s.Claims {
		c := Claim{Text: q.Text, Method: q.Method, Than: q.Than, Problems: q.Problems, Half: q.Half, Equal: q.Equal}
		checkpoint := 3
		if q.Half {
			checkpoint = 1
		}
		var own, other []runner.Record
		for _, problem := range a.contests() {
			if q.Problems == nil || slices.Contains(q.Problems, problem) {
				x, y := a.paired(problem, q.Method, q.Than)
				own, other = append(own, x...), append(other, y...)
			}
		}
		if c.Pairs = compare(own, other, checkpoint); c.Pairs != nil {
			p = append(p, c.Pairs.P)
		}
		if len(q.Problems) == 1 {
			c.Difference = difference(own, other, checkpoint)
		}
		list = append(list, c)
	}
	adjusted := Holm(p)
	for i := range list {
		if list[i].Pairs != nil {
			list[i].Adjusted, adjusted = adjusted[0], adjusted[1:]
		}
	}
	return list
}

// difference returns the mean of the paired differences of the measure with its t interval.
func difference(own, other []runner.Record, checkpoint int) *Interval {
	n := len(own)
	if n < 2 {
		return nil
	}
	d := make([]float64, n)
	for k, r := range own {
		i := checkpoints(r.Budget)[checkpoint] - 1
		d[k] = measure(r)[i] - measure(other[k])[i]
	}
	s := summarize(d)
	half := s.SE * distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1+Level)/2)
	if math.IsNaN(s.Mean) || math.IsInf(s.Mean, 0) {
		return nil
	}
	return &Interval{s.Mean, s.Mean - half, s.Mean + half}
}

// Verdict states the result of the test at the level 1 - Level.
func (c Claim) Verdict() string {
	switch {
	case c.Pairs == nil:
		return "not run"
	case c.Adjusted > 1-Level && c.Equal:
		return "no difference shown"
	case c.Adjusted > 1-Level:
		return "not shown"
	case c.Equal:
		return "they differ"
	case c.Pairs.Wins > c.Pairs.Losses:
		return "supported"
	}
	return "contradicted"
}

// ClaimTable returns the tests of the claims of the suite; it is nil without claims.
func (r *Report) ClaimTable() [][]string {
	if len(r.Claims) == 0 {
		return nil
	}
	t := [][]string{{"claim", "regret of", "below", "on", "pairs", "lower, equal, higher", "p", "adjusted", "mean difference", "result"}}
	for _, c := range r.Claims {
		on := "all"
		if len(c.Problems) > 0 {
			on = strings.Join(c.Problems, ", ")
		}
		if c.Half {
			on += ", half the budget"
		}
		row := []string{c.Text, c.Method, c.Than, on, "0", "", "", "", "", c.Verdict()}
		if p := c.Pairs; p != nil {
			row[4], row[5] = fmt.Sprint(p.N()), fmt.Sprintf("%d, %d, %d", p.Wins, p.Ties, p.Losses)
			row[6], row[7] = fmt.Sprintf("%.2g", p.P), fmt.Sprintf("%.2g", c.Adjusted)
		}
		if d := c.Difference; d != nil {
			row[8] = fmt.Sprintf("%s [%s, %s]", document.Short(d.Mean), document.Short(d.Lo), document.Short(d.Hi))
		}
		t = append(t, row)
	}
	return t
}

// ClaimsTitle is the heading of the table of claims.
const ClaimsTitle = "Claims and their tests"

// ClaimsNote explains the table of claims.
const ClaimsNote = "The test of a claim is Wilcoxon's signed-rank test, two-sided, on the pairs of problem and seed that both methods finished. The adjustment is Holm's for all claims of the table that have pairs; the level is 5 %. Five pairs have a p-value of at least 0.062, so a claim about one problem cannot be shown with five seeds. The mean difference is over the seeds of one problem, with the 95 % interval of Student's t-test for pairs."

// writeClaims writes the table of claims.
func (r *Report) writeClaims(w *document.Writer) {
	if t := r.ClaimTable(); t != nil {
		w.Heading(ClaimsTitle)
		w.Table(t)
	}
}
