package server

import (
	"bytes"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the measurements of a server, in a registry of its own.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	fits     prometheus.Histogram
	running  prometheus.Gauge
	waiting  prometheus.Gauge
	watchers prometheus.Gauge
}

func newMetrics() *metrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bo_requests_total", Help: "Requests by method and code."}, []string{"method", "code"}),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bo_request_seconds", Help: "Time of requests by method.", Buckets: buckets}, []string{"method"}),
		fits:     prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bo_fit_seconds", Help: "Time of fits and their proposals for stored studies.", Buckets: buckets}),
		running:  gauge("bo_suggestions_running", "Computations of suggestions under way."),
		waiting:  gauge("bo_suggestions_waiting", "Computations of suggestions that wait."),
		watchers: gauge("bo_watchers", "Streams of events."),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.fits, m.running, m.waiting, m.watchers,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// handler writes the text format of Prometheus.
func (m *metrics) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		families, err := m.registry.Gather()
		if err != nil {
			http.Error(w, "the metrics cannot be read", http.StatusInternalServerError)
			return
		}
		var b bytes.Buffer
		for _, f := range families {
			writeFamily(&b, f)
		}
		w.Header().Set("Content-Type", expositionType)
		_, _ = w.Write(b.Bytes())
	})
}
