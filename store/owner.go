package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// Owner names the process that runs an attempt or a fit. Host is empty if processes
// cannot be identified on this system; a lost process is then noticed when its lease
// ends.
type Owner struct {
	Host  string `json:"host,omitempty"`  // the host's boot and process-number space
	PID   int    `json:"pid,omitempty"`   // process number
	Start string `json:"start,omitempty"` // start time of the process
	Name  string `json:"name,omitempty"`  // for people: host name and process number
}

// Self returns the owner that represents this process.
var Self = sync.OnceValue(func() Owner {
	name, _ := os.Hostname()
	pid := os.Getpid()
	start, _ := processStart(pid)
	return Owner{Host: hostIdentity(), PID: pid, Start: start, Name: fmt.Sprintf("%s/%d", name, pid)}
})

// dead reports whether the owner's process ran on this host and has certainly ended. Otherwise its lease
// decides.
func (o Owner) dead() bool {
	self := Self()
	if o.Host == "" || o.Host != self.Host || o.Start == "" || o == self {
		return false
	}
	start, err := processStart(o.PID)
	return errors.Is(err, os.ErrProcessDone) || err == nil && start != o.Start
}
