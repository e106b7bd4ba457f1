// Package scale measures a study of many trials: the cost of ask, tell and the commands that
// read it, and many tellers at once.
//
//	go test ./store/internal/scale -full -v
package scale

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/internal/programtest"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/postgres"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

var full = flag.Bool("full", false, "10 000 trials, 64 tellers and five runs of each command; otherwise a tenth, and one run")

func TestSQLite(t *testing.T) {
	measure(t, filepath.Join(t.TempDir(), "bo.db"), func(address string) (store.Backend, error) {
		return sqlite.Open(context.Background(), address, true)
	})
}

func TestPostgres(t *testing.T) {
	measure(t, pgtest.Start(t).Address(), func(address string) (store.Backend, error) {
		return postgres.Open(context.Background(), address, true)
	})
}

// bench is a study on one backend.
type bench struct {
	*testing.T
	study   *store.Study
	bo      string // the command
	address string
	fits    fitClock
	tellers int
	repeats int // of a command
}

func measure(t *testing.T, address string, open func(string) (store.Backend, error)) {
	b := &bench{T: t, address: address, tellers: 6, repeats: 1, bo: programtest.Build(t, "../../../cmd/bo")}
	trials := 1000
	if *full {
		trials, b.tellers, b.repeats = 10_000, 64, 5
	}
	backend, err := open(address)
	require.NoError(t, err)
	s := store.New(backend, store.Options{OnProgress: b.fits.begin, OnFit: b.fits.end})
	defer s.Close()
	b.fill(s, trials)
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d trials, load %s", trials, load)

	b.ask(5)
	b.tell(50)
	b.tellAtOnce()
	b.tellCommands()
	for _, args := range [][]string{
		{"study", "list"}, {"study", "show", "s"}, {"trials", "s"}, {"trials", "s", "--format", "csv"}, {"trials", "s", "--format", "jsonl"}, {"ask", "s", "-n", "20"},
	} {
		b.command(args...)
	}
}

// fill makes a study with complete trials. Its surrogate fits many trials quickly.
func (b *bench) fill(s *store.Store, trials int) {
	ctx := context.Background()
	d := &study.Definition{Version: 1, Name: "s", Budget: study.MaxCount, Maximizer: map[string]any{"raw": 64, "starts": 2, "iterations": 20}}
	d.Surrogate = study.Component{Name: "rff", Settings: map[string]any{"features": 16}}
	d.Acquisition = study.Component{Name: "logei"}
	for i := range 6 {
		d.Parameters = append(d.Parameters, space.Float(fmt.Sprint("x", i), 0, 1))
	}
	var err error
	b.study, err = s.Create(ctx, d)
	require.NoError(b, err)
	done := make([]store.Evaluated, trials)
	for i := range done {
		p := b.point(i)
		done[i] = store.Evaluated{Params: p, Numbers: map[string]float64{"value": p["x0"].(float64)}}
	}
	_, err = b.study.Add(ctx, "", done...)
	require.NoError(b, err)
}

func (b *bench) point(i int) map[string]any {
	p := map[string]any{}
	for j := range 6 {
		p[fmt.Sprint("x", j)] = float64((i*7919+j*104729)%99991) / 99991
	}
	return p
}

// fitClock measures the fit and the maximisation of the acquisition function within an ask.
type fitClock struct {
	started time.Time
	before  uint64 // bytes
	spent   time.Duration
	bytes   uint64
}

func (c *fitClock) begin(p surrogate.Progress) {
	if p.Phase == "surrogate" && p.Done == 0 {
		c.started, c.before = time.Now(), allocated()
	}
}

func (c *fitClock) end(loop.Fit, time.Duration) {
	c.spent, c.bytes = time.Since(c.started), allocated()-c.before
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// ask measures asks that fit the surrogate.
func (b *bench) ask(n int) {
	var seconds []time.Duration
	var bytes []uint64
	for range n {
		before, begun := allocated(), time.Now()
		_, err := b.study.Ask(context.Background(), 1)
		require.NoError(b, err)
		seconds = append(seconds, time.Since(begun)-b.fits.spent)
		bytes = append(bytes, allocated()-before-b.fits.bytes)
	}
	slices.Sort(bytes)
	b.Logf("ask beside the fit   %v, %d MB allocated", median(seconds), bytes[n/2]>>20)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2].Round(10 * time.Microsecond)
}

// issued returns fresh trials. They are enqueued, so that they cost no fit.
func (b *bench) issued(n int) []store.Trial {
	ctx := context.Background()
	points := make([]map[string]any, n)
	for i := range points {
		points[i] = b.point(i + 50_000)
	}
	_, err := b.study.Enqueue(ctx, "", points...)
	require.NoError(b, err)
	trials, err := b.study.AskFor(ctx, n, "scale", 0)
	require.NoError(b, err)
	return trials
}

// tell measures one teller of fresh trials.
func (b *bench) tell(n int) {
	var seconds []time.Duration
	for _, trial := range b.issued(n) {
		begun := time.Now()
		_, err := b.study.Tell(context.Background(), store.Report{Trial: trial.Number, Numbers: map[string]float64{"value": 1}})
		require.NoError(b, err)
		seconds = append(seconds, time.Since(begun))
	}
	b.Logf("tell                 %v", median(seconds))
}

// tellAtOnce lets goroutines of one process tell at once.
func (b *bench) tellAtOnce() {
	trials := b.issued(5 * b.tellers)
	begun := time.Now()
	var all sync.WaitGroup
	for _, own := range slices.Collect(slices.Chunk(trials, 5)) {
		all.Go(func() {
			for _, trial := range own {
				if _, err := b.study.Tell(context.Background(), store.Report{Trial: trial.Number, Numbers: map[string]float64{"value": 2}}); err != nil {
					b.Errorf("trial %d: %v", trial.Number, err)
				}
			}
		})
	}
	all.Wait()
	b.Logf("%d goroutines        %d tells in %v", b.tellers, len(trials), time.Since(begun).Round(time.Millisecond))
	b.complete(trials)
}

// tellCommands runs processes of bo tell at once.
func (b *bench) tellCommands() {
	trials := b.issued(b.tellers)
	begun := time.Now()
	var all sync.WaitGroup
	for _, trial := range trials {
		all.Go(func() {
			if out, err := b.run("tell", "s", fmt.Sprint(trial.Number), "3").CombinedOutput(); err != nil {
				b.Errorf("trial %d: %v: %s", trial.Number, err, out)
			}
		})
	}
	all.Wait()
	b.Logf("%d processes         %d tells in %v", b.tellers, len(trials), time.Since(begun).Round(time.Millisecond))
	b.complete(trials)
}

func (b *bench) complete(trials []store.Trial) {
	v, err := b.study.View(context.Background())
	require.NoError(b, err)
	for _, trial := range trials {
		require.Equal(b, store.Complete, v.Trials[trial.Number-1].State)
	}
}

func (b *bench) run(args ...string) *exec.Cmd {
	return exec.Command(b.bo, append(args, "--store", b.address)...)
}

// measuring is set in the process that measures the memory of a command. The memory of a child
// counts from the memory of its parent, so the parent must be small.
const measuring = "BO_TEST_MEASURE"

func TestMain(m *testing.M) {
	if os.Getenv(measuring) == "" {
		os.Exit(m.Run())
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		fmt.Print(usage.Maxrss >> 10)
	}
}

// resident returns the largest resident memory of a command in MB.
func (b *bench) resident(args ...string) string {
	c := b.run(args...)
	cmd := exec.Command(os.Args[0], c.Args...)
	cmd.Env = append(os.Environ(), measuring+"=1")
	out, err := cmd.Output()
	require.NoError(b, err, "%v", args)
	return string(out)
}

// command measures a command in a new process.
func (b *bench) command(args ...string) {
	var wall, busy []time.Duration
	for range b.repeats {
		cmd := b.run(args...)
		begun := time.Now()
		require.NoError(b, cmd.Run(), "%v", args)
		wall = append(wall, time.Since(begun))
		busy = append(busy, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	b.Logf("bo %-30s %v, processor %v, %s MB resident", fmt.Sprint(args), median(wall), median(busy), b.resident(args...))
}
