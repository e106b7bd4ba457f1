package loop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
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

// BenchmarkBatch measures a batch of ten, with its fit.
func BenchmarkBatch(b *testing.B) {
	for _, c := range []struct {
		name  string
		model surrogate.Model
	}{{"gp", gp.Model{}}, {"fsp-laplace", fsplaplace.Model{}}} {
		b.Run(c.name+"/n=50/d=6", func(b *testing.B) {
			s := told(b, c.model, 50, 6)
			h := s.history()
			for b.Loop() {
				if _, err := Propose(b.Context(), s.space, s.opts, h, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
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
