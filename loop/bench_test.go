package loop

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkAsk measures a suggestion with default options after 40 trials.
func BenchmarkAsk(b *testing.B) {
	s := newStudy(b, box(b), Options{})
	_, err := s.Run(b.Context(), branin, 40, 1)
	require.NoError(b, err)
	h := s.history()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Propose(b.Context(), s.space, s.opts, h, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDesign measures n asks of one trial each from an initial design of n points, with and without a result for each.
func BenchmarkDesign(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		for _, told := range []bool{true, false} {
			b.Run(fmt.Sprintf("n=%d/told=%v", n, told), func(b *testing.B) {
				for b.Loop() {
					s := newStudy(b, box(b), Options{Initial: n})
					for range n {
						trials, err := s.Ask(b.Context(), 1)
						require.NoError(b, err)
						if told {
							require.NoError(b, s.Tell(trials[0].ID, trials[0].Point.Float("x")))
						}
					}
				}
			})
		}
	}
}

// BenchmarkSave measures Save of 500 trials and a warm start of 3000 numbers.
func BenchmarkSave(b *testing.B) {
	s := newStudy(b, box(b), Options{Initial: 500})
	_, err := s.Run(b.Context(), branin, 500, 1)
	require.NoError(b, err)
	s.warm = make([]float64, 3000)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Save(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEstimateRegret measures an estimate with default options after 40 trials.
func BenchmarkEstimateRegret(b *testing.B) {
	s := newStudy(b, box(b), Options{})
	_, err := s.Run(b.Context(), branin, 40, 1)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.EstimateRegret(b.Context(), 0.95); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAddOutcome measures the addition of 10 000 infeasible trials to a study without events.
func BenchmarkAddOutcome(b *testing.B) {
	out := Outcome{Numbers: map[string]float64{"latency": 1}}
	for b.Loop() {
		s := newStudy(b, box(b), Options{Require: []Requirement{{Name: "latency", Bound: 0}}})
		p := s.space.Decode([]float64{0.5, 0.5})
		for i := range 10_000 {
			out.Numbers["latency"] = 1 + float64(i)
			if _, err := s.AddOutcome(p, out); err != nil {
				b.Fatal(err)
			}
		}
	}
}
