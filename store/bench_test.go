package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// One operation is a study in memory whose trials are all of the initial design.
func BenchmarkDesign(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				d := &study.Definition{
					Version: 1, Name: "s", Budget: n, Initial: n,
					Parameters: []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1)},
				}
				u, err := store.New(store.NewMemory(), store.Options{}).Create(context.Background(), d)
				require.NoError(b, err)
				require.NoError(b, u.Run(context.Background(), func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
					return store.Report{Numbers: map[string]float64{"value": p.Float("x") + p.Float("y")}}, nil
				}, store.RunOptions{}))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n*b.N), "µs/trial")
		})
	}
}
