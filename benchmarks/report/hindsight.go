package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/functionspace/bo/benchmarks/internal/document"
)

// Hindsight compares the baseline with the best other ranked method of each class, or of each problem
// in a suite without classes. The measure is the mean over blocks of log10(regret) at the end,
// baseline minus other: negative if the baseline is lower.
type Hindsight struct {
	// Same takes, in each class, the method of least mean on the blocks of the comparison. The choice
	// favours the other methods: the expected value is at least the difference from the best
	// method of the class.
	Same Interval `json:"same"`
	// Held takes, for each block, the method of least mean on the other blocks of the class. The
	// expected value is at most the difference from the best method of the class. Blocks alone in
	// their class are left out; it is nil if all are.
	Held    *Interval `json:"held_out,omitempty"`
	Classes []Choice  `json:"classes"`
}

// Choice is the best other method of a class.
type Choice struct {
	Name   string    `json:"class"`
	Blocks int       `json:"blocks"`
	Best   string    `json:"best"`
	Same   float64   `json:"same"`
	Held   *Interval `json:"held_out,omitempty"`
}

// hindsight returns the comparison over the ranked blocks with a known minimum. It is nil without a
// ranked baseline and two other ranked methods.
func (a *results) hindsight(r *Report) *Hindsight {
	methods := []string{r.Baseline}
	for _, rank := range r.Ranks {
		if rank.Name != r.Baseline {
			methods = append(methods, rank.Name)
		}
	}
	if len(methods) < 3 || len(methods) > len(r.Ranks) {
		return nil
	}
	h := &Hindsight{}
	var excess [][][]float64 // baseline minus other; indices: class, block, other method
	var held [][]float64
	strata, _ := a.strata(methods)
	for _, s := range strata {
		var blocks [][]float64
		for _, block := range s {
			if block[0].Minimum == nil {
				continue
			}
			row := make([]float64, len(methods)-1)
			for m := range row {
				row[m] = score(block[0], block[0].Budget-1) - score(block[m+1], block[0].Budget-1)
			}
			blocks = append(blocks, row)
		}
		if blocks == nil {
			continue
		}
		sums := total(blocks, everyIndex([]int{len(blocks)})[0])
		best := largest(sums)
		c := Choice{Name: a.group(s[0][0].Problem), Blocks: len(blocks), Best: methods[best+1], Same: sums[best] / float64(len(blocks))}
		if out := heldOut(blocks, sums); out != nil {
			held = append(held, out)
			mean := meanInterval([][]float64{out})
			c.Held = &mean
		}
		excess, h.Classes = append(excess, blocks), append(h.Classes, c)
	}
	if excess == nil {
		return nil
	}
	h.Same = interval(excess, func(drawn [][]int) float64 {
		var sum float64
		var n int
		for s, indices := range drawn {
			sum += slices.Max(total(excess[s], indices))
			n += len(indices)
		}
		return sum / float64(n)
	})
	if held != nil {
		mean := meanInterval(held)
		h.Held = &mean
	}
	return h
}

// heldOut returns, for each block, the excess over the method with the largest sum over the other
// blocks. It returns nil for a single block.
func heldOut(blocks [][]float64, sums []float64) []float64 {
	if len(blocks) < 2 {
		return nil
	}
	out := make([]float64, len(blocks))
	rest := make([]float64, len(sums))
	for i, row := range blocks {
		for m := range rest {
			rest[m] = sums[m] - row[m]
		}
		out[i] = row[largest(rest)]
	}
	return out
}

// total returns the sums of the given rows.
func total(rows [][]float64, indices []int) []float64 {
	sums := make([]float64, len(rows[0]))
	for _, i := range indices {
		for m, v := range rows[i] {
			sums[m] += v
		}
	}
	return sums
}

// largest returns the index of the largest element, the first of equal ones.
func largest(x []float64) int {
	at, top := 0, math.Inf(-1)
	for i, v := range x {
		if v > top {
			at, top = i, v
		}
	}
	return at
}

// writeHindsight writes the comparison with the best other method of each class.
func (r *Report) writeHindsight(w *document.Writer) {
	h := r.Hindsight
	if h == nil {
		return
	}
	w.Heading(fmt.Sprintf("Mean log10(regret) at the end: %s minus the best other method of the class", r.Baseline))
	t := [][]string{{"problems", "pairs", "best other", "chosen on the same pairs", "chosen on the other pairs"}}
	cell := func(i *Interval) string {
		if i == nil {
			return ""
		}
		return fmt.Sprintf("%+.2f [%+.2f, %+.2f]", i.Mean, i.Lo, i.Hi)
	}
	n := 0
	for _, c := range h.Classes {
		n += c.Blocks
		t = append(t, []string{c.Name, fmt.Sprint(c.Blocks), c.Best, fmt.Sprintf("%+.2f", c.Same), cell(c.Held)})
	}
	w.Table(append(t, []string{"all", fmt.Sprint(n), "", cell(&h.Same), cell(h.Held)}))
}
