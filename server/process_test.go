package server

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/api/bo/v1/bov1connect"
	"github.com/functionspace/bo/internal/programtest"
)

// process is bo serve.
type process struct {
	*exec.Cmd
	url string
}

func serve(t *testing.T, bo, dir, address string) *process {
	p := &process{Cmd: exec.Command(bo, "serve", "--quiet", "--lease", "3s", "--listen", address)}
	p.Dir = dir
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer log.Close()
	p.Stderr = log
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	text, _ := os.ReadFile(log.Name())
	require.NoError(t, err, "%s", text)
	_, p.url, _ = strings.Cut(strings.TrimSpace(line), " on ")
	return p
}

// freeAddress returns an address that no process uses.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// times collects durations of several goroutines.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (d *times) add(v time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, v)
}

// quantile returns a quantile of the durations.
func (d *times) quantile(q float64) time.Duration {
	slices.Sort(d.all)
	if len(d.all) == 0 {
		return 0
	}
	return d.all[min(len(d.all)-1, int(q*float64(len(d.all))))].Round(100 * time.Microsecond)
}

// 200 clients tell and list, a call a second each, while 8 studies ask. No call fails, and fits do not
// delay results.
func TestLoad(t *testing.T) {
	clients, seconds := 20, 3
	if *full {
		clients, seconds = 200, 60
	}
	const studies = 8
	bo, dir := programtest.Build(t, "../cmd/bo"), t.TempDir()
	p := serve(t, bo, dir, "127.0.0.1:0")
	c := bov1connect.NewStudyServiceClient(http.DefaultClient, p.url)
	each := clients*seconds/studies/2 + clients
	issued := make([]chan *bov1.Assignment, studies)
	for i := range studies {
		name := fmt.Sprint("s", i)
		create(t, c, fmt.Sprintf(`{"name": %q, "budget": 10000, "initial": %d, "parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}, {"name": "y", "type": "float", "min": 0, "max": 1}]}`, name, each))
		issued[i] = make(chan *bov1.Assignment, each)
		for left := each; left > 0; left -= 100 {
			a, err := c.Ask(t.Context(), &bov1.AskRequest{Study: name, N: int32(min(left, 100)), Lease: durationpb.New(time.Hour)})
			require.NoError(t, err)
			for _, one := range a.Trials {
				issued[i] <- one
			}
		}
	}
	var tells, lists, asks times
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	value := func(a *bov1.Assignment) *float64 {
		x, y := a.Params.Fields["x"].GetNumberValue(), a.Params.Fields["y"].GetNumberValue()
		v := (x-0.3)*(x-0.3) + (y-0.6)*(y-0.6)
		return &v
	}
	var all sync.WaitGroup
	for i := range studies {
		all.Go(func() {
			name := fmt.Sprint("s", i)
			for ctx.Err() == nil {
				begun := time.Now()
				a, err := c.Ask(ctx, &bov1.AskRequest{Study: name})
				end, _ := ctx.Deadline()
				if ctx.Err() != nil || connect.CodeOf(err) == connect.CodeDeadlineExceeded && time.Until(end) < time.Second {
					return // the end of the test, which the server may notice first
				}
				asks.add(time.Since(begun))
				if err == nil {
					_, err = c.Tell(context.WithoutCancel(ctx), &bov1.TellRequest{Study: name, Trial: a.Trials[0].Trial, Token: a.Trials[0].Token, Value: value(a.Trials[0])})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range clients {
		all.Go(func() {
			own := bov1connect.NewStudyServiceClient(&http.Client{Transport: &http.Transport{}}, p.url)
			time.Sleep(rand.N(time.Second))
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for n := i; ctx.Err() == nil; n++ {
				begun := time.Now()
				var err error
				name := fmt.Sprint("s", n/2%studies)
				switch n % 4 {
				case 0, 2:
					a := <-issued[n/2%studies]
					begun = time.Now()
					_, err = own.Tell(context.Background(), &bov1.TellRequest{Study: name, Trial: a.Trial, Token: a.Token, Value: value(a), Key: a.Token})
					tells.add(time.Since(begun))
				case 1:
					_, err = own.ListTrials(context.Background(), &bov1.ListTrialsRequest{Study: name})
					lists.add(time.Since(begun))
				case 3:
					_, err = own.ListStudies(context.Background(), &bov1.ListStudiesRequest{})
					lists.add(time.Since(begun))
				}
				if err != nil {
					t.Error(err)
				}
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
		})
	}
	all.Wait()
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d clients, %d s, load %s", clients, seconds, strings.TrimSpace(string(load)))
	for _, d := range []struct {
		name string
		of   *times
	}{{"tell", &tells}, {"list", &lists}, {"ask", &asks}} {
		t.Logf("%-5s %6d calls, median %v, 99 %% %v, longest %v", d.name, len(d.of.all), d.of.quantile(0.5), d.of.quantile(0.99), d.of.quantile(1))
	}
	if *full {
		require.Less(t, tells.quantile(0.99), 50*time.Millisecond)
	}
}

// The server is killed in the middle, again and again: no acknowledged result is lost, no key is used
// twice, and workers reconnect and finish.
func TestKilledServer(t *testing.T) {
	kills := 3
	if *full {
		kills = 30
	}
	bo, dir := programtest.Build(t, "../cmd/bo"), t.TempDir()
	address := freeAddress(t)
	p := serve(t, bo, dir, address)
	client := bov1connect.NewStudyServiceClient(http.DefaultClient, p.url)
	const definition = `{"name": "%s", "budget": %d, "initial": 4, "parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "surrogate": {"name": "rff", "features": 16}, "acquisition": "logei", "maximizer": {"raw": 64, "starts": 2, "iterations": 20}}`
	budget := 20 * kills
	create(t, client, fmt.Sprintf(definition, "work", budget))
	create(t, client, fmt.Sprintf(definition, "direct", 10_000))

	var workers sync.WaitGroup
	for i := range 2 {
		cmd := exec.Command(bo, "worker", "--server", p.url, "--study", "work", "--workers", "2", "--", "sh", "-c", "sleep 0.02; echo {x}")
		cmd.Dir = filepath.Join(dir, fmt.Sprint("worker", i))
		require.NoError(t, os.Mkdir(cmd.Dir, 0o700))
		workers.Go(func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("worker: %v: %s", err, out)
			}
		})
		t.Cleanup(func() { _ = cmd.Process.Kill() })
	}
	acknowledged := map[int32]float64{}
	ctx, cancel := context.WithCancel(t.Context())
	direct := make(chan struct{})
	go func() {
		defer close(direct)
		for n := 0; ctx.Err() == nil; n++ {
			tellOne(ctx, t, client, n, acknowledged)
		}
	}()
	for range kills {
		time.Sleep(300*time.Millisecond + rand.N(700*time.Millisecond))
		require.NoError(t, p.Process.Kill())
		_ = p.Wait()
		time.Sleep(rand.N(300 * time.Millisecond))
		p = serve(t, bo, dir, address)
	}
	workers.Wait()
	cancel()
	<-direct
	trials := listAll(t, client, "direct")
	for number, value := range acknowledged {
		require.Equal(t, "complete", trials[number-1].State)
		require.Equal(t, value, trials[number-1].Numbers["value"])
	}
	open := 0
	for _, trial := range trials {
		if trial.State == "pending" && trial.Attempt > 0 { // others are proposed ahead
			open++
		}
	}
	require.LessOrEqual(t, open, 1, "an issued trial was lost")
	done := listAll(t, client, "work")
	require.Len(t, done, budget)
	for _, trial := range done {
		require.Equal(t, "complete", trial.State, "%v", trial)
	}
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "level=ERROR")
	t.Logf("%d kills, %d results by workers, %d acknowledged to a client, all stored", kills, len(done), len(acknowledged))
	require.NoError(t, p.Process.Signal(os.Interrupt))
	_ = p.Wait()
	require.Equal(t, 0, p.ProcessState.ExitCode())
}

// tellOne asks and tells with keys until both are answered, and records the acknowledged result.
func tellOne(ctx context.Context, t *testing.T, c bov1connect.StudyServiceClient, n int, acknowledged map[int32]float64) {
	var a *bov1.AskResponse
	err := connect.NewError(connect.CodeUnavailable, nil)
	for again := error(err); again != nil && ctx.Err() == nil; {
		if a, again = c.Ask(ctx, &bov1.AskRequest{Study: "direct", Key: fmt.Sprint("ask", n)}); again != nil {
			time.Sleep(20 * time.Millisecond)
		}
	}
	value := float64(n)
	for ctx.Err() == nil {
		r, err := c.Tell(ctx, &bov1.TellRequest{Study: "direct", Trial: a.Trials[0].Trial, Value: &value, Key: fmt.Sprint("tell", n)})
		if err == nil {
			if _, twice := acknowledged[r.Trial.Trial]; twice {
				t.Errorf("trial %d was issued twice", r.Trial.Trial)
			}
			acknowledged[r.Trial.Trial] = value
			return
		}
		if connect.CodeOf(err) == connect.CodeAlreadyExists {
			t.Error(err)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func listAll(t *testing.T, c bov1connect.StudyServiceClient, name string) (all []*bov1.Trial) {
	for token, more := "", true; more; more = token != "" {
		r, err := c.ListTrials(t.Context(), &bov1.ListTrialsRequest{Study: name, PageSize: 1000, PageToken: token})
		require.NoError(t, err)
		all, token = append(all, r.Trials...), r.NextPageToken
	}
	return all
}
