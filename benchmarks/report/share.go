package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/functionspace/bo/benchmarks/internal/document"
	"github.com/functionspace/bo/benchmarks/runner"
)

// points returns 1 for each pair that the first run wins at the end, ½ for a tie and 0 for a loss.
func points(own, other []runner.Record) []float64 {
	out := make([]float64, len(own))
	for k, r := range own {
		out[k] = (1 - float64(cmp.Compare(score(r, r.Budget-1), score(other[k], r.Budget-1)))) / 2
	}
	return out
}

// writeShares writes the share of pairs that each method wins against the baseline, by class.
func (r *Report) writeShares(w *document.Writer) {
	if !slices.ContainsFunc(r.Pairs, func(p Pair) bool { return p.Share != nil }) {
		return
	}
	w.Heading(fmt.Sprintf("Share of pairs at the end: wins against %s plus half of the ties", r.Baseline))
	w.Table(r.shareTable())
}

func (r *Report) shareTable() [][]string {
	header, all := []string{"problems"}, []string{"all"}
	for _, p := range r.Pairs {
		header, all = append(header, p.Name), append(all, shareCell(p.Share, p.End))
	}
	t := [][]string{header}
	for _, c := range r.Classes {
		row := []string{c.Name}
		for _, p := range r.Pairs {
			cell := ""
			if i := slices.IndexFunc(c.Pairs, func(q ClassPair) bool { return q.Name == p.Name }); i >= 0 {
				cell = shareCell(c.Pairs[i].Share, c.Pairs[i].End)
			}
			row = append(row, cell)
		}
		t = append(t, row)
	}
	return append(t, all)
}

// shareCell formats a share in percent, with wins, ties and losses.
func shareCell(share *Interval, c *Comparison) string {
	if share == nil {
		return ""
	}
	return fmt.Sprintf("%.1f %% [%.1f, %.1f], %d-%d-%d", 100*share.Mean, 100*share.Lo, 100*share.Hi, c.Wins, c.Ties, c.Losses)
}
