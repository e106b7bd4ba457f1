package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/insight/report"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// BenchmarkMixture measures a report of two objectives of a mixture of four components and a temperature after 45 trials.
func BenchmarkMixture(b *testing.B) {
	d := &study.Definition{
		Version: study.Version, Name: "mixture", Constraints: []string{"water + sand + lime + clay == 1"},
		Objectives: []study.Objective{{Name: "strength", Goal: study.Maximize}, {Name: "cost"}},
	}
	for _, name := range []string{"water", "sand", "lime", "clay"} {
		d.Parameters = append(d.Parameters, space.StepFloat(name, 0, 1, 0.01))
	}
	d.Parameters = append(d.Parameters, space.Float("degrees", 20, 90))
	sp, err := d.Space()
	require.NoError(b, err)
	u, err := store.New(store.NewMemory(), store.Options{}).Create(b.Context(), d)
	require.NoError(b, err)
	x := sp.Sample(45, random.New(1, "mixture", 0))
	var trials []store.Evaluated
	for i := range 45 {
		p := sp.Decode(x.RawRowView(i))
		strength := p.Float("water")*p.Float("sand") + p.Float("lime")*p.Float("degrees")/50
		trials = append(trials, store.Evaluated{Params: p.Map(), Numbers: map[string]float64{"strength": strength, "cost": p.Float("lime") + p.Float("clay")*p.Float("clay")}})
	}
	_, err = u.Add(b.Context(), "", trials...)
	require.NoError(b, err)
	for b.Loop() {
		_, err := report.Build(b.Context(), u, report.Options{})
		require.NoError(b, err)
	}
}
