package performance

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/functionspace/bo/benchmarks"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/fsplaplace"
	"github.com/functionspace/bo/surrogate/gp"
)

// besideBoTorch returns a table of the fastest of several suggestions of this library and of BoTorch,
// called in turn on the same data: Levy's function of two inputs at 50 Sobol points.
func besideBoTorch(ctx context.Context, python string, rounds int) ([][]string, error) {
	const n, d = 50, 2
	t := [][]string{{"case", "time", "BoTorch", "ratio"}}
	for _, exact := range []bool{true, false} {
		o := benchmarks.Levy(d)
		history, task := data(o, n, d, exact)
		peer, err := startPeer(ctx, python, task)
		if err != nil {
			return nil, err
		}
		for _, m := range []struct {
			name  string
			model surrogate.Model
		}{{"fsp-laplace", fsplaplace.Model{}}, {"gp", gp.Model{}}} {
			fastest, theirs := -1.0, -1.0
			for range rounds + 1 { // the first round prepares both
				start := time.Now()
				if _, err := loop.Propose(ctx, o.Space, loop.Options{Surrogate: m.model, NoiseFree: exact}, history, 1); err != nil {
					return nil, err
				}
				own := time.Since(start).Seconds()
				other, err := peer.suggest()
				if err != nil {
					return nil, err
				}
				if fastest < 0 {
					fastest, theirs = 1e9, 1e9
					continue
				}
				fastest, theirs = min(fastest, own), min(theirs, other)
			}
			kind := "noisy"
			if exact {
				kind = "exact"
			}
			t = append(t, []string{fmt.Sprintf("%s, %s values", m.name, kind), seconds(1e9 * fastest), seconds(1e9 * theirs), ratio(fastest / theirs)})
		}
		if err := peer.close(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// data returns the values of o at n points of a Sobol sequence, for this library and for its peer.
func data(o benchmarks.Objective, n, d int, exact bool) (loop.History, any) {
	var h loop.History
	task := struct {
		Lo        []float64   `json:"lo"`
		Hi        []float64   `json:"hi"`
		Points    [][]float64 `json:"points"`
		Values    []float64   `json:"values"`
		Dim       int         `json:"dim"`
		Seed      int         `json:"seed"`
		Threads   int         `json:"threads"`
		NoiseFree bool        `json:"noise_free"`
	}{Dim: d, Seed: 1, Threads: runtime.GOMAXPROCS(0), NoiseFree: exact}
	for _, p := range o.Space.Parameters() {
		task.Lo, task.Hi = append(task.Lo, p.Min), append(task.Hi, p.Max)
	}
	design := space.Sobol(n, d, random.New(1, "design", 0))
	for i := range n {
		p := o.Space.Decode(design.RawRowView(i))
		h.Trials = append(h.Trials, loop.Trial{ID: i + 1, Point: p, State: loop.Complete, Value: o.At(p)})
		var x []float64
		for _, q := range o.Space.Parameters() {
			x = append(x, p.Float(q.Name))
		}
		task.Points, task.Values = append(task.Points, x), append(task.Values, o.At(p))
	}
	return h, task
}

// peer is a process of benchmarks/peers/suggestion.py.
type peer struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  strings.Builder
}

func startPeer(ctx context.Context, python string, task any) (*peer, error) {
	p := &peer{process: exec.CommandContext(ctx, python, "benchmarks/peers/suggestion.py")}
	p.process.Stderr = &p.stderr
	var err error
	if p.in, err = p.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.process.Start(); err != nil {
		return nil, err
	}
	return p, json.NewEncoder(p.in).Encode(task)
}

// suggest returns the seconds of a suggestion.
func (p *peer) suggest() (float64, error) {
	if _, err := fmt.Fprintln(p.in); err != nil {
		return 0, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		_ = p.process.Wait()
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(p.process.Args, " "), err, lastLine(p.stderr.String()))
	}
	return strconv.ParseFloat(strings.TrimSpace(line), 64)
}

func (p *peer) close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.process.Wait()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
