package loop

import (
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
