package server

import (
	"bytes"
	"database/sql"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
)

// texts returns the text of each family of a registry by its name.
func texts(t *testing.T, registry *prometheus.Registry) map[string]string {
	families, err := registry.Gather()
	require.NoError(t, err)
	out := map[string]string{}
	for _, f := range families {
		var b bytes.Buffer
		_, err := expfmt.MetricFamilyToText(&b, f)
		require.NoError(t, err)
		out[f.GetName()] = b.String()
	}
	return out
}

// Package client_golang writes the same text for the same observations.
func TestMetrics(t *testing.T) {
	m := newMetrics()
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bo_requests_total", Help: "Requests by method and code."}, []string{"method", "code"})
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bo_request_seconds", Help: "Time of requests by method.", Buckets: buckets[:]}, []string{"method"})
	fits := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bo_fit_seconds", Help: "Time of fits and their proposals for stored studies.", Buckets: buckets[:]})
	running := prometheus.NewGauge(prometheus.GaugeOpts{Name: "bo_suggestions_running", Help: "Computations of suggestions under way."})
	registry := prometheus.NewRegistry()
	registry.MustRegister(requests, seconds, fits, running)
	for _, labels := range [][2]string{{`a"b\c` + "\n", "ok"}, {"Tell", "ok"}, {"Tell", "not_found"}, {"Ask", "ok"}} {
		m.requests.with(labels[1], labels[0]).Add(1e9)
		requests.WithLabelValues(labels[0], labels[1]).Add(1e9)
	}
	for _, x := range []float64{0, 0.0001, 0.001, 0.0010000001, 0.3, 12, 300, 1e9} {
		for _, method := range []string{"Tell", "Ask"} {
			m.seconds.with(method).observe(x)
			seconds.WithLabelValues(method).Observe(x)
		}
	}
	m.running.Add(3)
	m.running.Add(-5)
	running.Sub(2)
	var b exposition
	m.write(&b)
	for name, text := range texts(t, registry) {
		require.Contains(t, b.String(), text, name)
	}
	b.Reset()
	b.gauge("odd", "a\\b\nc", math.Inf(-1))
	b.gauge("none", "", math.NaN())
	require.Equal(t, "# HELP odd a\\\\b\\nc\n# TYPE odd gauge\nodd -Inf\n# HELP none \n# TYPE none gauge\nnone NaN\n", b.String())
}

// Measurements of the runtime and the process have the names and types of the collectors of client_golang, and values
// near the collectors' values before and after. The runtime returns memory in the background, so one of them is not enough.
func TestRuntimeMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector())
	if runtime.GOOS == "linux" {
		registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	runtime.GC()
	families, err := registry.Gather()
	require.NoError(t, err)
	var b exposition
	b.writeRuntime()
	b.writeProcess()
	after, err := registry.Gather()
	require.NoError(t, err)
	require.Len(t, after, len(families))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	got, err := parser.TextToMetricFamilies(strings.NewReader(b.String()))
	require.NoError(t, err)
	value := func(m *dto.Metric) float64 {
		return m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetSummary().GetSampleCount())
	}
	for i, f := range families {
		own := got[f.GetName()]
		require.NotNil(t, own, f.GetName())
		require.Equal(t, f.GetType(), own.GetType(), f.GetName())
		require.Len(t, own.Metric, len(f.Metric))
		require.Equal(t, len(f.Metric[0].Label), len(own.Metric[0].Label), f.GetName())
		require.Equal(t, len(f.Metric[0].GetSummary().GetQuantile()), len(own.Metric[0].GetSummary().GetQuantile()))
		first, last := value(f.Metric[0]), value(after[i].Metric[0])
		delta := 2 + 0.5*math.Abs(first)
		if strings.HasSuffix(f.GetName(), "time_seconds") {
			delta = 60 // times since 1970
		}
		require.GreaterOrEqual(t, value(own.Metric[0]), min(first, last)-delta, f.GetName())
		require.LessOrEqual(t, value(own.Metric[0]), max(first, last)+delta, f.GetName())
	}
	require.Len(t, got, len(families))
}

// Measurements of the connections have the names, types, labels and values of the collector of client_golang.
func TestPoolMetrics(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "bo.db"))
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(3)
	used, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer used.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewDBStatsCollector(db, "store"))
	var b exposition
	b.writePool(db.Stats())
	own := strings.Split(b.String(), "\n")
	for name, text := range texts(t, registry) {
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			if !strings.HasPrefix(line, "# HELP") {
				require.Contains(t, own, line, name)
			}
		}
	}
	require.Contains(t, own, `go_sql_in_use_connections{db_name="store"} 1`)
	require.Len(t, own, 3*9+1)
}
