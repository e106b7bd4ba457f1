package server

import (
	"bytes"
	"math"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	dto "github.com/prometheus/client_model/go"
)

// Package expfmt writes the same text.
func TestExposition(t *testing.T) {
	m := newMetrics()
	m.requests.WithLabelValues(`a"b\c`+"\n", "ok").Add(1e15)
	m.requests.WithLabelValues("Tell", "ok").Inc()
	for _, x := range []float64{0.0001, 0.3, 12, 1e9} {
		m.seconds.WithLabelValues("Tell").Observe(x)
	}
	m.running.Set(math.Inf(1))
	m.waiting.Set(math.NaN())
	m.registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "empty"}), prometheus.NewUntypedFunc(prometheus.UntypedOpts{Name: "untyped", Help: "a\\b\nc"}, func() float64 { return -2.5e-9 }))
	families, err := m.registry.Gather()
	require.NoError(t, err)
	require.Greater(t, len(families), 10)
	for _, f := range families {
		var got, want bytes.Buffer
		writeFamily(&got, f)
		_, err := expfmt.MetricFamilyToText(&want, f)
		require.NoError(t, err)
		require.Equal(t, want.String(), got.String(), f.GetName())
	}
	var got bytes.Buffer
	writeFamily(&got, &dto.MetricFamily{Name: new("none"), Type: dto.MetricType_GAUGE.Enum()})
	require.Equal(t, "# TYPE none gauge\n", got.String())
}
