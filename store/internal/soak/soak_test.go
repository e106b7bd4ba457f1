// Package soak kills processes that share a study and checks that nothing was lost. The
// processes run bo run (TestCommand…) or Study.Run (the other tests).
//
//	go test ./store/internal/soak -full -v
package soak

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/postgres"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/study"
)

var (
	full = flag.Bool("full", false, "400 trials, 60 kills, 20 restarts of the server; otherwise a tenth")
	seed = flag.Uint64("seed", 1, "seed of the kills")
)

const (
	processes = 4
	workers   = 4
)

// The test program is also the worker that is killed.
func TestMain(m *testing.M) {
	if address := os.Getenv("BO_SOAK_STORE"); address != "" {
		if err := work(address, os.Getenv("BO_SOAK_LOG")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

func open(address string, create bool) (*store.Store, error) {
	var b store.Backend
	var err error
	if strings.HasPrefix(address, "postgres://") {
		b, err = postgres.Open(context.Background(), address, create)
	} else {
		b, err = sqlite.Open(context.Background(), address, create)
	}
	if err != nil {
		return nil, err
	}
	return store.New(b, store.Options{Version: "soak", Lease: 3 * time.Second, FitLease: 3 * time.Second}), nil
}

// line is an entry in the log of a worker: the start of an attempt, its end, or an
// acknowledged result.
type line struct {
	Kind    string // start, end or told
	Trial   int
	Attempt int
	Value   float64
	Parent  int `json:",omitempty"` // the process that ran the objective
}

type attempt struct{ trial, attempt int }

func (l line) attempt() attempt { return attempt{l.Trial, l.Attempt} }

// entries reads a log, by kind.
func entries(t *testing.T, log string) map[string][]line {
	file, err := os.Open(log)
	require.NoError(t, err)
	defer file.Close()
	found := map[string][]line{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var l line
		require.NoError(t, json.Unmarshal(lines.Bytes(), &l), "%s", lines.Text())
		found[l.Kind] = append(found[l.Kind], l)
	}
	return found
}

// work is one process of the study. Its objective takes 20 ms and logs its own results.
func work(address, path string) error {
	log, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	write := func(l line) {
		text, err := json.Marshal(l)
		if err == nil {
			_, err = log.Write(append(text, '\n')) // one write: lines of processes do not mix
		}
		if err != nil {
			panic(err)
		}
	}
	s, err := open(address, false)
	if err != nil {
		return err
	}
	defer s.Close()
	u, err := s.Study(context.Background(), "soak")
	if err != nil {
		return err
	}
	return u.Run(context.Background(), func(_ context.Context, t store.Trial, p space.Point) (store.Report, error) {
		x, y := p.Float("x"), p.Float("y")
		// The process number makes values of two attempts differ.
		value := (x-0.3)*(x-0.3) + y*y + 1e-6*float64(os.Getpid())
		write(line{Kind: "start", Trial: t.Number, Attempt: t.Attempt})
		time.Sleep(20 * time.Millisecond)
		write(line{Kind: "end", Trial: t.Number, Attempt: t.Attempt, Value: value})
		return store.Report{Numbers: map[string]float64{"value": value}}, nil
	}, store.RunOptions{Workers: workers, OnEnd: func(t store.Trial) {
		write(line{Kind: "told", Trial: t.Number, Attempt: t.Attempt, Value: t.Numbers["value"]})
	}})
}

func TestSQLite(t *testing.T) {
	soak(t, filepath.Join(t.TempDir(), "bo.db"), nil)
}

func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)
	soak(t, server.Address(), server)
}

// size returns the numbers of trials, of kills and of faults of the server.
func size(t *testing.T) (trials, kills, faults int) {
	trials, kills, faults = 40, 6, 2
	if *full {
		trials, kills, faults = 400, 60, 20
	}
	t.Logf("seed %d, %d trials, %d kills", *seed, trials, kills)
	return trials, kills, faults
}

// soak kills processes that run Study.Run.
func soak(t *testing.T, address string, server *pgtest.Server) {
	trials, kills, faults := size(t)
	rng := rand.New(rand.NewPCG(*seed, 0))
	ctx := context.Background()
	s, err := open(address, true)
	require.NoError(t, err)
	defer s.Close()
	u, err := s.Create(ctx, &study.Definition{
		Version: 1, Name: "soak", Budget: trials,
		Parameters: []space.Parameter{space.Float("x", 0, 1), space.Float("y", 0, 1)},
		Maximizer:  map[string]any{"raw": 64, "starts": 2, "iterations": 20},
	})
	require.NoError(t, err)
	log := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(log, nil, 0o600))

	crew := newCrew(t, func(int) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "BO_SOAK_STORE="+address, "BO_SOAK_LOG="+log)
		return cmd
	})
	crew.keep()
	started := time.Now()
	for k := range kills {
		time.Sleep(time.Duration(50+rng.IntN(600)) * time.Millisecond)
		crew.kill(rng.IntN(processes))
		if server != nil && k%(kills/faults) == 0 {
			disturb(t, server, rng)
		}
	}
	crew.wait()
	t.Logf("%d kills, %d starts in %v", kills, crew.starts, time.Since(started).Round(time.Second))
	check(t, u, log, trials)
}

// disturb restarts the server and ends sessions.
func disturb(t *testing.T, server *pgtest.Server, rng *rand.Rand) {
	db, err := sql.Open("pgx", server.Address())
	require.NoError(t, err)
	_, err = db.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'bo' ORDER BY random() LIMIT 2")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
	mode := "fast"
	if rng.IntN(2) == 0 {
		mode = "immediate"
	}
	require.NoError(t, server.Stop(mode))
	require.NoError(t, server.Launch())
}

// crew are the processes of a study. A killed one is started again; one that ends by itself
// is not.
type crew struct {
	t       *testing.T
	command func(i int) *exec.Cmd

	mu      sync.Mutex
	running []*exec.Cmd
	all     sync.WaitGroup
	ended   chan struct{} // closed when no process runs
	starts  int
}

func newCrew(t *testing.T, command func(i int) *exec.Cmd) *crew {
	return &crew{t: t, command: command, running: make([]*exec.Cmd, processes), ended: make(chan struct{})}
}

func (c *crew) keep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.running {
		c.start(i)
	}
	go func() { c.all.Wait(); close(c.ended) }()
}

// start starts a process. The caller holds c.mu.
func (c *crew) start(i int) {
	cmd := c.command(i)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		c.t.Errorf("process %d: %v", i, err)
		return
	}
	c.running[i], c.starts = cmd, c.starts+1
	c.all.Go(func() {
		err := cmd.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running[i] = nil
		if err != nil && strings.Contains(err.Error(), "killed") {
			c.start(i)
			return
		}
		if err != nil {
			c.t.Errorf("process %d: %v", i, err)
		}
	})
}

// kill kills a process and returns its number, 0 if it has ended.
func (c *crew) kill(i int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cmd := c.running[i]; cmd != nil && cmd.Process.Kill() == nil {
		return cmd.Process.Pid
	}
	return 0
}

// await waits until a condition holds or all processes have ended.
func (c *crew) await(holds func() bool) {
	for !holds() {
		select {
		case <-c.ended:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (c *crew) wait() {
	select {
	case <-c.ended:
	case <-time.After(20 * time.Minute):
		c.t.Fatal("the study did not end")
	}
}

// check compares the store with the log of the objective.
func check(t *testing.T, u *store.Study, log string, trials int) {
	ctx := context.Background()
	v, err := u.View(ctx)
	require.NoError(t, err)
	require.Len(t, v.Trials, trials, "the budget is reached, and not exceeded")
	history, err := u.Events(ctx, 0, 1_000_000)
	require.NoError(t, err)
	issued, ended, failed := map[attempt]bool{}, map[int]bool{}, 0
	for i, e := range history {
		require.Equal(t, int64(i+1), e.Revision)
		switch e.Kind {
		case store.TrialIssued:
			require.NotContains(t, ended, e.Trial, "trial %d was issued after its end", e.Trial)
			a := attempt{e.Trial, e.Attempt}
			require.False(t, issued[a], "attempt %d of trial %d was issued twice", e.Attempt, e.Trial)
			issued[a] = true
		case store.TrialFinished:
			ended[e.Trial] = true
			if e.Detail == string(store.Failed) {
				failed++
			}
		}
	}

	logged := entries(t, log)
	begun, values := map[attempt]bool{}, map[int][]float64{}
	for _, l := range logged["start"] {
		require.True(t, issued[l.attempt()], "attempt %d of trial %d was not issued", l.Attempt, l.Trial)
		require.False(t, begun[l.attempt()], "attempt %d of trial %d began twice", l.Attempt, l.Trial)
		begun[l.attempt()] = true
	}
	for _, l := range logged["end"] {
		values[l.Trial] = append(values[l.Trial], l.Value)
	}
	for i, trial := range v.Trials {
		require.Equal(t, i+1, trial.Number)
		require.Contains(t, ended, trial.Number)
		switch trial.State {
		case store.Complete:
			require.Contains(t, values[trial.Number], trial.Numbers["value"], "the result of trial %d", trial.Number)
		case store.Failed:
			require.Equal(t, store.Lost, trial.Failure, "trial %d: %s", trial.Number, trial.Message)
		default:
			require.Fail(t, "no result", "trial %d is %s", trial.Number, trial.State)
		}
	}
	for _, l := range logged["told"] {
		require.Equal(t, l.Value, v.Trials[l.Trial-1].Numbers["value"], "the acknowledged result of trial %d", l.Trial)
	}
	t.Logf("%d attempts began, %d ended, %d trials lost all their workers", len(begun), len(logged["end"]), failed)
}
