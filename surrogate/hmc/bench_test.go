package hmc

import (
	"testing"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate"
)

func BenchmarkLogDensity(b *testing.B) {
	for name, m := range map[string]Model{"50": {}, "20-20": {Network: surrogate.Network{Hidden: []int{20, 20}}}} {
		b.Run(name, func(b *testing.B) {
			p := problem(b, m, toy(40))
			t := newPosterior(p)
			w, h := p.Start(nil, random.New(1, "w", 0))
			q := t.pack(w, h)
			grad := make([]float64, len(q))
			b.ReportAllocs()
			for b.Loop() {
				t.logDensity(grad, q)
			}
		})
	}
}
