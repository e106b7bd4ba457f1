package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/internal/programtest"
	"github.com/functionspace/bo/store"
)

// Three quarters of the trials are design points, which cost no fit, so that many kills strike
// an evaluation.
const studyFile = `name: soak
parameters:
  - {name: x, type: float, min: 0, max: 1}
  - {name: y, type: float, min: 0, max: 1}
objectives: [{name: value, goal: minimize}]
command: %s %s {x} {y}
budget: %d
initial: %d
maximizer: {raw: 64, starts: 2, iterations: 20}
`

func TestCommandSQLite(t *testing.T) {
	soakCommand(t, filepath.Join(t.TempDir(), "bo.db"), nil)
}

func TestCommandPostgres(t *testing.T) {
	server := pgtest.Start(t)
	soakCommand(t, server.Address(), server)
}

// soakCommand kills processes of bo run on one study file.
func soakCommand(t *testing.T, address string, server *pgtest.Server) {
	trials, kills, faults := size(t)
	rng := rand.New(rand.NewPCG(*seed, 1))
	dir := t.TempDir()
	bo, objective := programtest.Build(t, "../../../cmd/bo"), programtest.Build(t, "./objective")
	file, log := filepath.Join(dir, "study.yaml"), filepath.Join(dir, "log")
	require.NoError(t, os.WriteFile(log, nil, 0o600))
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, studyFile, objective, log, trials, trials*3/4), 0o600))

	killed := map[int]bool{} // by process number
	crew := newCrew(t, func(i int) *exec.Cmd {
		cmd := exec.Command(bo, "run", file, "--store", address, "--workers", fmt.Sprint(workers), "--events", events(dir, i), "--quiet", "--json")
		cmd.Dir = dir
		return cmd
	})
	crew.keep()
	started := time.Now()
	for k := range kills {
		// The kth kill strikes when about k of every kills trials have ended.
		after := (k*trials + rng.IntN(trials)) / kills * 19 / 20
		crew.await(func() bool {
			text, err := os.ReadFile(log)
			require.NoError(t, err)
			return bytes.Count(text, []byte(`"Kind":"end"`)) >= after
		})
		time.Sleep(time.Duration(rng.IntN(40)) * time.Millisecond)
		if pid := crew.kill(rng.IntN(processes)); pid != 0 {
			killed[pid] = true
		}
		if server != nil && k%(kills/faults) == 0 {
			disturb(t, server, rng)
		}
	}
	crew.wait()
	struck := 0
	ended := map[attempt]bool{}
	for _, l := range entries(t, log)["end"] {
		ended[l.attempt()] = true
	}
	victims := map[int]bool{}
	for _, l := range entries(t, log)["start"] {
		if killed[l.Parent] && !ended[l.attempt()] && !victims[l.Parent] {
			victims[l.Parent] = true
			struck++
		}
	}
	t.Logf("%d kills, %d of them struck an evaluation, %d starts in %v", len(killed), struck, crew.starts, time.Since(started).Round(time.Second))

	s, err := open(address, false)
	require.NoError(t, err)
	defer s.Close()
	u, err := s.Study(context.Background(), "soak")
	require.NoError(t, err)
	check(t, u, log, trials)
	checkEvents(t, u, dir)
}

func events(dir string, process int) string {
	return filepath.Join(dir, fmt.Sprintf("events-%d.jsonl", process))
}

// checkEvents compares the events that processes wrote with the store. A process writes an
// event after the store has acknowledged it.
func checkEvents(t *testing.T, u *store.Study, dir string) {
	stored, err := u.Events(context.Background(), 0, 1_000_000)
	require.NoError(t, err)
	acknowledged := map[int]bool{}
	for i := range processes {
		file, err := os.Open(events(dir, i))
		require.NoError(t, err)
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var e store.Event
			require.NoError(t, json.Unmarshal(lines.Bytes(), &e), "%s", lines.Text())
			require.LessOrEqual(t, e.Revision, int64(len(stored)))
			require.Equal(t, stored[e.Revision-1], e)
			if e.Kind == store.TrialFinished && strings.HasPrefix(e.Detail, string(store.Complete)) {
				acknowledged[e.Trial] = true
			}
		}
	}
	require.NotEmpty(t, acknowledged)
	t.Logf("results of %d trials were acknowledged in %d files of events", len(acknowledged), processes)
}
