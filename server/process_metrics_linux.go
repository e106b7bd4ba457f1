package server

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// started is the time at which the process began.
var started = time.Now()

// writeProcess writes measurements of this process, with the names of Prometheus' collector. A number that
// cannot be read is 0.
func (b *exposition) writeProcess() {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails for other arguments alone
	virtual, resident := memoryPages()
	page := float64(os.Getpagesize())
	files, _ := os.ReadDir("/proc/self/fd")
	received, sent := networkBytes()
	b.counter("process_cpu_seconds_total", "Processor time in seconds.", time.Duration(used.Utime.Nano()+used.Stime.Nano()).Seconds())
	b.gauge("process_start_time_seconds", "Start of the process in seconds since 1970.", float64(started.UnixMilli())/1000)
	b.gauge("process_resident_memory_bytes", "Resident memory in bytes.", resident*page)
	b.gauge("process_virtual_memory_bytes", "Virtual memory in bytes.", virtual*page)
	b.gauge("process_virtual_memory_max_bytes", "Limit of the virtual memory in bytes.", softLimit(syscall.RLIMIT_AS))
	b.gauge("process_open_fds", "Open file descriptors.", float64(len(files)))
	b.gauge("process_max_fds", "Limit of the open file descriptors.", softLimit(syscall.RLIMIT_NOFILE))
	b.counter("process_network_receive_bytes_total", "Bytes received by the network of the process.", received)
	b.counter("process_network_transmit_bytes_total", "Bytes sent by the network of the process.", sent)
}

func softLimit(resource int) float64 {
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(resource, &limit) // fails for other arguments alone
	return float64(limit.Cur)
}

// memoryPages returns the pages of virtual and resident memory.
func memoryPages() (virtual, resident float64) {
	text, _ := os.ReadFile("/proc/self/statm")
	_, _ = fmt.Sscan(string(text), &virtual, &resident)
	return virtual, resident
}

// networkBytes returns the bytes of IP packets in the network name space of the process. A line of
// /proc/self/net/netstat has names, and the next line their values.
func networkBytes() (received, sent float64) {
	text, _ := os.ReadFile("/proc/self/net/netstat")
	var names []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] != "IpExt:":
			continue
		case names == nil:
			names = words
			continue
		}
		for i, name := range names[:min(len(names), len(words))] {
			switch name {
			case "InOctets":
				_, _ = fmt.Sscan(words[i], &received)
			case "OutOctets":
				_, _ = fmt.Sscan(words[i], &sent)
			}
		}
	}
	return received, sent
}
