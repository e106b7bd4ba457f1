package server

import (
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// metrics are the measurements of a server. Package prometheus/client_golang measures and writes the same, and
// adds 0.5 MB to the binary: tests compare the two.
type metrics struct {
	requests family[counter]
	seconds  family[histogram]
	fits     histogram
	running  gauge
	waiting  gauge
	watchers gauge
	pool     func() sql.DBStats // of the database of the store; nil without one
}

func newMetrics() *metrics {
	return &metrics{
		requests: family[counter]{labels: []string{"code", "method"}},
		seconds:  family[histogram]{labels: []string{"method"}},
	}
}

// handler writes all measurements in the text format of Prometheus.
func (m *metrics) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b exposition
		m.write(&b)
		b.writeRuntime()
		b.writeProcess()
		w.Header().Set("Content-Type", expositionType)
		_, _ = w.Write(b.Bytes())
	})
}

func (m *metrics) write(b *exposition) {
	m.requests.write(b, "bo_requests_total", "counter", "Requests by method and code.")
	m.seconds.write(b, "bo_request_seconds", "histogram", "Time of requests by method.")
	b.head("bo_fit_seconds", "histogram", "Time of fits and their proposals for stored studies.")
	m.fits.write(b, "bo_fit_seconds", "")
	b.gauge("bo_suggestions_running", "Computations of suggestions under way.", float64(m.running.Load()))
	b.gauge("bo_suggestions_waiting", "Computations of suggestions that wait.", float64(m.waiting.Load()))
	b.gauge("bo_watchers", "Streams of events.", float64(m.watchers.Load()))
	if m.pool != nil {
		b.writePool(m.pool())
	}
}

// writePool writes measurements of the connections to the database, with the names of Prometheus' collector.
func (b *exposition) writePool(s sql.DBStats) {
	for _, m := range []struct {
		name, kind, help string
		value            float64
	}{
		{"max_open_connections", "gauge", "Limit of the connections to the database.", float64(s.MaxOpenConnections)},
		{"open_connections", "gauge", "Connections to the database.", float64(s.OpenConnections)},
		{"in_use_connections", "gauge", "Connections in use.", float64(s.InUse)},
		{"idle_connections", "gauge", "Connections without use.", float64(s.Idle)},
		{"wait_count_total", "counter", "Waits for a connection.", float64(s.WaitCount)},
		{"wait_duration_seconds_total", "counter", "Time of waits for a connection in seconds.", s.WaitDuration.Seconds()},
		{"max_idle_closed_total", "counter", "Connections closed because too many were idle.", float64(s.MaxIdleClosed)},
		{"max_idle_time_closed_total", "counter", "Connections closed after their idle time.", float64(s.MaxIdleTimeClosed)},
		{"max_lifetime_closed_total", "counter", "Connections closed after their lifetime.", float64(s.MaxLifetimeClosed)},
	} {
		b.head("go_sql_"+m.name, m.kind, m.help)
		b.sample("go_sql_"+m.name, `db_name="store"`, m.value)
	}
}

// gauge is a number that rises and falls. Its zero value is 0.
type gauge struct{ atomic.Int64 }

// counter is a number that rises. Its zero value is 0.
type counter struct{ atomic.Int64 }

func (c *counter) write(b *exposition, name, labels string) {
	b.sample(name, labels, float64(c.Load()))
}

// buckets are the upper bounds of the buckets of a histogram, in seconds.
var buckets = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}

// histogram counts times by their size. Its zero value is empty.
type histogram struct {
	mu    sync.Mutex
	count [len(buckets) + 1]uint64 // of the times up to each bound and above the last one before
	sum   float64
}

func (h *histogram) observe(seconds float64) {
	at, _ := slices.BinarySearch(buckets[:], seconds)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count[at]++
	h.sum += seconds
}

func (h *histogram) write(b *exposition, name, labels string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := uint64(0)
	for i, n := range h.count {
		all += n
		bound := "+Inf"
		if i < len(buckets) {
			bound = sampleText(buckets[i])
		}
		b.sample(name+"_bucket", strings.TrimPrefix(labels+`,le="`+bound+`"`, ","), float64(all))
	}
	b.sample(name+"_sum", labels, h.sum)
	b.sample(name+"_count", labels, float64(all))
}

// family is a set of measurements by the values of labels.
type family[M any] struct {
	labels []string
	mu     sync.Mutex
	of     map[string]*M // by the text of the labels
}

// with returns the measurement for the values of the labels.
func (f *family[M]) with(values ...string) *M {
	var labels strings.Builder
	for i, name := range f.labels {
		fmt.Fprintf(&labels, `,%s="%s"`, name, escapedLabel.Replace(values[i]))
	}
	key := strings.TrimPrefix(labels.String(), ",")
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.of[key]
	if m == nil {
		if f.of == nil {
			f.of = map[string]*M{}
		}
		m = new(M)
		f.of[key] = m
	}
	return m
}

// write writes the measurements in the order of their labels.
func (f *family[M]) write(b *exposition, name, kind, help string) {
	f.mu.Lock()
	of := maps.Clone(f.of)
	f.mu.Unlock()
	b.head(name, kind, help)
	for _, labels := range slices.Sorted(maps.Keys(of)) {
		any(of[labels]).(interface {
			write(b *exposition, name, labels string)
		}).write(b, name, labels)
	}
}
