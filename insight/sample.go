package insight

import (
	"github.com/functionspace/bo/loop"
)

// Sample returns at most n of the finished trials, and all pending trials, in order: a bound on
// the costs of a fit for display. The finished trials are equally spaced in their order, and the
// best one, or the Pareto front up to n/2 trials, is among them. The choice does not otherwise depend on
// values, so that the statistics of Check stay valid. It costs O(len(trials)) for one objective.
func Sample(trials []loop.Trial, o loop.Options, n int) []loop.Trial {
	finished := 0
	for i := range trials {
		if trials[i].State != loop.Pending {
			finished++
		}
	}
	if finished <= n {
		return trials
	}
	keep := map[int]bool{} // IDs
	if o.Several() {
		for _, t := range o.ParetoOf(trials).Front {
			if keep[t.ID] = true; len(keep) >= n/2 {
				break
			}
		}
	} else if best := o.Best(trials); best >= 0 {
		keep[trials[best].ID] = true
	}
	rest, others := n-len(keep), finished-len(keep)
	var out []loop.Trial
	k := 0 // finished trials so far that are not kept anyway
	for _, t := range trials {
		if t.State == loop.Pending || keep[t.ID] {
			out = append(out, t)
			continue
		}
		// rest of others trials: those at which floor(k·rest/others) steps.
		if (k+1)*rest/others > k*rest/others {
			out = append(out, t)
		}
		k++
	}
	return out
}
