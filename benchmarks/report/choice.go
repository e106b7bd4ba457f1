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

// EachSplit chooses for each split alone. It returns the records of the settings with the largest log
// likelihood of the held-out rows of their split, under the names of the choices. It also returns the records
// of methods without choices. The first of equal settings is chosen.
func EachSplit(records []runner.Record) []runner.Record {
	if len(records) == 0 {
		return nil
	}
	suite, _ := runner.Lookup(records[0].Suite)
	choiceOf := make(map[string]string)
	for _, c := range suite.Choices {
		for _, method := range c.Methods() {
			choiceOf[method] = c.Method
		}
	}
	type split struct {
		dataset, choice string
		seed            uint64
	}
	at := make(map[split]int)
	var list []runner.Record
	for _, r := range records {
		choice, ok := choiceOf[r.Method]
		if !ok || r.Score == nil {
			list = append(list, r)
			continue
		}
		r.Method = choice
		key := split{r.Problem, choice, r.Seed}
		if i, ok := at[key]; !ok {
			at[key], list = len(list), append(list, r)
		} else if r.Score.Held > list[i].Score.Held {
			list[i] = r
		}
	}
	return list
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
