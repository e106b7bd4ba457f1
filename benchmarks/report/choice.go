package report

import (
	"slices"

	"github.com/functionspace/bo/benchmarks/runner"
)

// choose keeps one method of each choice for each dataset, under the name of the choice. The kept method has the largest mean
// log likelihood of the held-out rows. A method with fewer splits than another of the choice takes no part.
func (f *fits) choose(choices []runner.Choice) {
	for _, c := range choices {
		for _, dataset := range f.datasets {
			setting, best := "", []runner.Record(nil)
			for i, method := range c.Methods() {
				key := [2]string{dataset, method}
				runs := f.runs[key]
				delete(f.runs, key)
				if len(runs) > len(best) || len(runs) > 0 && len(runs) == len(best) && meanHeld(runs) > meanHeld(best) {
					setting, best = c.Settings[i], runs
				}
			}
			for i := range best {
				best[i].Method = c.Method
			}
			if best != nil {
				f.runs[[2]string{dataset, c.Method}], f.settings[[2]string{dataset, c.Method}] = best, setting
			}
		}
		f.rename(c)
	}
}

// records returns the records of all runs.
func (f fits) records() []runner.Record {
	var list []runner.Record
	for _, d := range f.datasets {
		for _, m := range f.methods {
			list = append(list, f.runs[[2]string{d, m}]...)
		}
	}
	return list
}

// rename puts the choice in the place of its first method.
func (f *fits) rename(c runner.Choice) {
	methods := c.Methods()
	of := func(name string) bool { return slices.Contains(methods, name) }
	if i := slices.IndexFunc(f.methods, of); i >= 0 {
		f.methods = slices.Insert(slices.DeleteFunc(f.methods, of), i, c.Method)
	}
}

// meanHeld returns the mean log likelihood of the held-out rows over the splits.
func meanHeld(runs []runner.Record) float64 {
	return summarize(each(runs, func(r runner.Record) float64 { return r.Score.Held })).Mean
}
