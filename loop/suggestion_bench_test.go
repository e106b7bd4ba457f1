package loop

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gfsvi"
	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/laplace"
)

// BenchmarkSuggestion measures one suggestion with all defaults, fit and acquisition,
// after n trials: cold, as in a first fit, and warm, from the state of the previous fit.
func BenchmarkSuggestion(b *testing.B) {
	for _, c := range []struct {
		name  string
		model surrogate.Model
		n, d  int
	}{
		{"gp", gp.Model{}, 20, 2}, {"gp", gp.Model{}, 100, 6}, {"gp", gp.Model{}, 500, 6}, {"gp", gp.Model{}, 1000, 6},
		{"fsp-laplace", fsplaplace.Model{}, 20, 2}, {"fsp-laplace", fsplaplace.Model{}, 50, 2}, {"fsp-laplace", fsplaplace.Model{}, 200, 6}, {"fsp-laplace", fsplaplace.Model{}, 500, 20},
	} {
		b.Run(fmt.Sprintf("%s/n=%d/d=%d", c.name, c.n, c.d), func(b *testing.B) {
			s := told(b, c.model, c.n, c.d)
			h := s.history()
			first, err := Propose(b.Context(), s.space, s.opts, h, 1)
			require.NoError(b, err)
			for _, start := range []struct {
				name string
				warm surrogate.State
			}{{"cold", nil}, {"warm", first.Warm}} {
				h.Warm = start.warm
				b.Run(start.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := Propose(b.Context(), s.space, s.opts, h, 1); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// BenchmarkBatch measures one suggestion and 64, with their fit, for an objective that is declared
// exact and for one that is not.
func BenchmarkBatch(b *testing.B) {
	for name, model := range ordered(gp.Model{}, fsplaplace.Model{}) {
		sizes := []int{50, 200}
		if name == "gp" {
			sizes = append(sizes, 1000, 5000)
		}
		for _, n := range sizes {
			for _, exact := range []bool{true, false} {
				s := told(b, model, n, 6)
				s.opts.NoiseFree = exact
				h := s.history()
				for _, q := range []int{1, 64} {
					b.Run(fmt.Sprintf("%s/n=%d/exact=%v/q=%d", name, n, exact, q), func(b *testing.B) {
						for b.Loop() {
							if _, err := Propose(b.Context(), s.space, s.opts, h, q); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}

// BenchmarkBatchOfOutcomes measures one suggestion and 64, with their fits: for two objectives, and for one
// objective while no trial meets its constraint.
func BenchmarkBatchOfOutcomes(b *testing.B) {
	const n, d = 50, 6
	first, second := benchmarks.Levy(d), benchmarks.Ackley(d)
	design := space.Sobol(n, d, random.New(1, "design", 0))
	for _, exact := range []bool{true, false} {
		for _, c := range []struct {
			name string
			opts Options
		}{
			{"two objectives", Options{Objectives: []Goal{{Name: "first", NoiseFree: exact}, {Name: "second", NoiseFree: exact}}}},
			{"nothing feasible", Options{NoiseFree: exact, Require: []Requirement{{Name: "second", Bound: -1}}}},
		} {
			s, err := New(first.Space, c.opts)
			require.NoError(b, err)
			for i := range n {
				u := design.RawRowView(i)
				p := first.Space.Decode(u)
				v, w := first.At(p), second.At(second.Space.Decode(u))
				_, err := s.AddOutcome(p, Outcome{Value: v, Numbers: map[string]float64{"first": v, "second": w}})
				require.NoError(b, err)
			}
			h := s.history()
			for _, q := range []int{1, 64} {
				b.Run(fmt.Sprintf("%s/exact=%v/q=%d", c.name, exact, q), func(b *testing.B) {
					for b.Loop() {
						if _, err := Propose(b.Context(), s.space, s.opts, h, q); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkNoisy measures one suggestion with logei and one with lognei.
func BenchmarkNoisy(b *testing.B) {
	for name, model := range ordered(fsplaplace.Model{}, gfsvi.Model{}, laplace.Model{}) {
		for _, n := range []int{30, 100} {
			for _, d := range []int{2, 6} {
				s := told(b, model, n, d)
				for _, c := range []struct {
					name string
					of   acquisition.Acquisition
				}{{"logei", acquisition.LogEI{}}, {"lognei", acquisition.LogNEI{}}} {
					b.Run(fmt.Sprintf("%s/n=%d/d=%d/%s", name, n, d, c.name), func(b *testing.B) {
						o := s.opts
						o.Acquisition = c.of
						for b.Loop() {
							if _, err := Propose(b.Context(), s.space, o, s.history(), 1); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}

// ordered returns models by the names of their packages, in the given order.
func ordered(models ...surrogate.Model) iter.Seq2[string, surrogate.Model] {
	return func(yield func(string, surrogate.Model) bool) {
		for _, m := range models {
			if !yield(strings.TrimSuffix(fmt.Sprintf("%T", m), ".Model"), m) {
				return
			}
		}
	}
}

// told returns a study of the Levy function of d inputs with n evaluated points.
func told(b *testing.B, model surrogate.Model, n, d int) *Study {
	o := benchmarks.Levy(d)
	s, err := New(o.Space, Options{Surrogate: model, NoiseFree: true})
	require.NoError(b, err)
	design := space.Sobol(n, d, random.New(1, "design", 0))
	for i := range n {
		p := o.Space.Decode(design.RawRowView(i))
		_, err := s.Add(p, o.At(p))
		require.NoError(b, err)
	}
	return s
}
