package server

import (
	"fmt"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"
)

// writeRuntime writes measurements of the Go runtime, with the names of Prometheus' collector.
func (b *exposition) writeRuntime() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	gc := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&gc)
	settings := []runtimemetrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}, {Name: "/sched/gomaxprocs:threads"}}
	runtimemetrics.Read(settings)
	setting := func(i int) float64 { return float64(settings[i].Value.Uint64()) }
	threads, _ := runtime.ThreadCreateProfile(nil)

	const pauses = "go_gc_duration_seconds"
	b.head(pauses, "summary", "Pauses of garbage collections.")
	for i, q := range gc.PauseQuantiles {
		b.sample(pauses, fmt.Sprintf(`quantile="%v"`, float64(i)/4), q.Seconds())
	}
	b.sample(pauses+"_sum", "", gc.PauseTotal.Seconds())
	b.sample(pauses+"_count", "", float64(gc.NumGC))
	b.head("go_info", "gauge", "Version of Go.")
	b.sample("go_info", `version="`+escapedLabel.Replace(runtime.Version())+`"`, 1)
	b.gauge("go_gc_gogc_percent", "GOGC: growth of the heap between garbage collections.", setting(0))
	b.gauge("go_gc_gomemlimit_bytes", "GOMEMLIMIT: soft limit of the memory.", setting(1))
	b.gauge("go_sched_gomaxprocs_threads", "GOMAXPROCS: threads that execute Go code at a time.", setting(2))
	b.gauge("go_goroutines", "Goroutines.", float64(runtime.NumGoroutine()))
	b.gauge("go_threads", "Threads of the operating system.", float64(threads))

	b.counter("go_memstats_alloc_bytes_total", "Bytes allocated on the heap so far.", float64(m.TotalAlloc))
	b.counter("go_memstats_mallocs_total", "Objects allocated on the heap so far.", float64(m.Mallocs))
	b.counter("go_memstats_frees_total", "Objects freed on the heap so far.", float64(m.Frees))
	for _, g := range []struct {
		name, help string
		value      uint64
	}{
		{"alloc_bytes", "Bytes of objects on the heap.", m.Alloc},
		{"buck_hash_sys_bytes", "Bytes of tables of profiles.", m.BuckHashSys},
		{"gc_sys_bytes", "Bytes of metadata of garbage collections.", m.GCSys},
		{"heap_alloc_bytes", "Bytes of objects on the heap.", m.HeapAlloc},
		{"heap_idle_bytes", "Bytes of the heap without objects.", m.HeapIdle},
		{"heap_inuse_bytes", "Bytes of the heap with objects.", m.HeapInuse},
		{"heap_objects", "Objects on the heap.", m.HeapObjects},
		{"heap_released_bytes", "Bytes of the heap that the system has back.", m.HeapReleased},
		{"heap_sys_bytes", "Bytes of the heap from the system.", m.HeapSys},
		{"mcache_inuse_bytes", "Bytes of mcache structures in use.", m.MCacheInuse},
		{"mcache_sys_bytes", "Bytes of mcache structures from the system.", m.MCacheSys},
		{"mspan_inuse_bytes", "Bytes of mspan structures in use.", m.MSpanInuse},
		{"mspan_sys_bytes", "Bytes of mspan structures from the system.", m.MSpanSys},
		{"next_gc_bytes", "Size of the heap at which the next garbage collection begins.", m.NextGC},
		{"other_sys_bytes", "Other bytes from the system.", m.OtherSys},
		{"stack_inuse_bytes", "Bytes of stacks in use.", m.StackInuse},
		{"stack_sys_bytes", "Bytes of stacks from the system.", m.StackSys},
		{"sys_bytes", "Bytes from the system.", m.Sys},
	} {
		b.gauge("go_memstats_"+g.name, g.help, float64(g.value))
	}
	b.gauge("go_memstats_last_gc_time_seconds", "Time of the last garbage collection in seconds since 1970.", float64(m.LastGC)/1e9)
}
