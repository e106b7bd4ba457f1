package report

import (
	"math"
)

// Seconds summarises the time of suggestions of a method after the design, over all
// problems, by the number of observations.
type Seconds struct {
	Name string `json:"method"`
	// From[k] is the smallest number of observations of a bin. Bins start at Renard's
	// numbers 10, 13, 16, 20, 25, 32, 40, 50, 63, 79, 100, ….
	From   []int     `json:"from"`
	Median []float64 `json:"median"`
	Q1     []float64 `json:"q1"`
	Q3     []float64 `json:"q3"`
}

// renard returns the k-th of Renard's numbers, ten to a decade, rounded; renard(10)
// is 10.
func renard(k int) int { return int(math.Round(math.Pow(10, float64(k)/10))) }

// bin returns the largest of Renard's numbers that is at most n ≥ 1.
func bin(n int) int {
	k := int(10 * math.Log10(float64(n)))
	for renard(k+1) <= n {
		k++
	}
	for renard(k) > n {
		k--
	}
	return renard(k)
}

// next returns the first of Renard's numbers above n ≥ 10.
func next(n int) int {
	for {
		n++
		if bin(n) == n {
			return n
		}
	}
}

func (a *results) seconds() []Seconds {
	var list []Seconds
	for _, method := range a.methods {
		at := map[int][]float64{}
		last := 0
		for _, problem := range a.problems {
			for _, r := range a.of(problem, method) {
				for i := max(r.Initial, 1); i < len(r.Suggest); i++ {
					if r.Suggest[i] > 0 {
						at[bin(i)] = append(at[bin(i)], r.Suggest[i])
						last = max(last, i)
					}
				}
			}
		}
		s := Seconds{Name: method}
		for n := 1; n <= last; n++ {
			if t := at[n]; t != nil {
				q := summarize(t)
				s.From = append(s.From, n)
				s.Median, s.Q1, s.Q3 = append(s.Median, q.Median), append(s.Q1, q.Q1), append(s.Q3, q.Q3)
			}
		}
		if s.From != nil {
			list = append(list, s)
		}
	}
	return list
}
