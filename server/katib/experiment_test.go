package katib_test

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	api "github.com/functionspace/bo/api/katib/v1beta1"
	"github.com/functionspace/bo/internal/programtest"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/server/katib"
	"github.com/functionspace/bo/space"
)

// branin has the minimum 0.397887.
func branin(x, y float64) float64 {
	a := y - 5.1/(4*math.Pi*math.Pi)*x*x + 5/math.Pi*x - 6
	return a*a + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10
}

// 40 rounds of an experiment, with a trial that runs beside, reach what a run of package loop reaches, which is
// the run of bo run.
func TestExperiment(t *testing.T) {
	rounds, tolerance := 40, 1e-3
	if testing.Short() {
		rounds, tolerance = 30, 0.1
	}
	f := func(at *api.GetSuggestionsReply_ParameterAssignments) string {
		x, err := strconv.ParseFloat(at.Assignments[0].Value, 64)
		require.NoError(t, err)
		y, err := strconv.ParseFloat(at.Assignments[1].Value, 64)
		require.NoError(t, err)
		return strconv.FormatFloat(-branin(x, y), 'g', -1, 64)
	}
	sp, err := space.New(space.Float("x", -5, 10), space.Float("y", 0, 15))
	require.NoError(t, err)
	run, err := loop.Minimize(t.Context(), func(_ context.Context, p space.Point) (float64, error) {
		return branin(p.Float("x"), p.Float("y")), nil
	}, sp, loop.Options{Budget: rounds, Seed: 3})
	require.NoError(t, err)
	require.Less(t, run.Best.Value, 0.397887+tolerance)
	eachClient(t, katib.Options{}, func(t *testing.T, c client) {
		e := experiment([]*api.ParameterSpec{between("x", double, "-5", "10", "", uniform), between("y", double, "0", "15", "", uniform)}, "seed", "3")
		e.Spec.Objective.Type, e.Spec.Objective.ObjectiveMetricName = api.ObjectiveType_MAXIMIZE, "accuracy"
		var trials []*api.Trial
		best := math.Inf(1)
		for range rounds {
			reply, code, message := c.suggest(request(e, 1, trials...))
			require.Empty(t, code, message)
			if n := len(trials); n > 0 { // the trial beside
				at := &api.GetSuggestionsReply_ParameterAssignments{Assignments: trials[n-1].Spec.ParameterAssignments.Assignments}
				trials[n-1] = trial(at, api.TrialStatus_SUCCEEDED, "accuracy", f(at), "seconds", "3")
				v, _ := strconv.ParseFloat(f(at), 64)
				best = min(best, -v)
			}
			trials = append(trials, trial(reply.ParameterAssignments[0], api.TrialStatus_RUNNING))
		}
		t.Logf("%d rounds: the experiment has %.6f, a run of package loop %.6f", rounds, best, run.Best.Value)
		require.Less(t, best, 0.397887+tolerance)
	})
}

// The program answers within Katib's limits of 60 s and 100 MiB: 200 trials of ten parameters, three suggestions.
func TestLimitsOfKatib(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test reads /proc")
	}
	cmd := exec.Command(programtest.Build(t, "../../cmd/bo-katib"), "--listen", "127.0.0.1:0", "--quiet")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	_, address, _ := strings.Cut(strings.TrimSpace(line), " on ")
	c := connectTo(address)

	var specs []*api.ParameterSpec
	for i := range 4 {
		specs = append(specs, between(fmt.Sprint("x", i), double, "0", "1", "", uniform))
	}
	specs = append(specs, between("rate", double, "1e-5", "1", "", logarithm), between("n", integer, "1", "8", "", uniform), between("width", integer, "16", "256", "16", 0),
		discrete("batch", "32", "64", "128"), categorical("optimizer", "sgd", "adam", "rmsprop"), categorical("activation", "relu", "tanh"))
	e, rng := experiment(specs), rand.New(rand.NewPCG(1, 2))
	design, code, message := c.suggest(request(experiment(specs, "initial", "200"), 200))
	require.Empty(t, code, message)
	var trials []*api.Trial
	for _, p := range design.ParameterAssignments {
		loss := 0.1 * rng.NormFloat64()
		for i, a := range p.Assignments[:6] {
			v, _ := strconv.ParseFloat(a.Value, 64)
			loss += (v - float64(i)/6) * (v - float64(i)/6)
		}
		trials = append(trials, trial(p, api.TrialStatus_SUCCEEDED, "loss", fmt.Sprint(loss)))
	}
	for range 2 {
		begun := time.Now()
		reply, code, message := c.suggest(request(e, 3, trials...))
		require.Empty(t, code, message)
		require.Len(t, reply.ParameterAssignments, 3)
		require.Less(t, time.Since(begun), time.Minute)
		peak := peakMemory(t, cmd.Process.Pid)
		t.Logf("%v, at most %d MiB resident", time.Since(begun).Round(time.Millisecond), peak>>20)
		require.Less(t, peak, 100<<20)
		trials = append(trials, trial(reply.ParameterAssignments[0], api.TrialStatus_RUNNING))
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
}

// peakMemory returns the largest resident set of a process so far, in bytes.
func peakMemory(t *testing.T, pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			require.NoError(t, err)
			return n << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

// The example experiment of deploy/kubernetes is valid, and gets suggestions.
func TestExampleExperiment(t *testing.T) {
	text, err := os.ReadFile("../../deploy/kubernetes/katib/experiment.yaml")
	require.NoError(t, err)
	var file struct {
		Spec struct {
			Objective struct {
				ObjectiveMetricName   string   `yaml:"objectiveMetricName"`
				AdditionalMetricNames []string `yaml:"additionalMetricNames"`
			}
			Algorithm struct {
				AlgorithmSettings []struct{ Name, Value string } `yaml:"algorithmSettings"`
			}
			Parameters []struct {
				Name          string
				ParameterType string `yaml:"parameterType"`
				FeasibleSpace struct {
					Min, Max, Step, Distribution string
					List                         []string
				} `yaml:"feasibleSpace"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	var specs []*api.ParameterSpec
	for _, p := range file.Spec.Parameters {
		f := p.FeasibleSpace
		space := &api.FeasibleSpace{Min: f.Min, Max: f.Max, Step: f.Step, List: f.List}
		if f.Distribution == "logUniform" {
			space.Distribution = logarithm
		}
		specs = append(specs, &api.ParameterSpec{Name: p.Name, ParameterType: api.ParameterType(api.ParameterType_value[strings.ToUpper(p.ParameterType)]), FeasibleSpace: space})
	}
	var settings []string
	for _, s := range file.Spec.Algorithm.AlgorithmSettings {
		settings = append(settings, s.Name, s.Value)
	}
	e := experiment(specs, settings...)
	e.Spec.Objective.ObjectiveMetricName = file.Spec.Objective.ObjectiveMetricName
	e.Spec.Objective.AdditionalMetricNames = file.Spec.Objective.AdditionalMetricNames
	c := connectTo(serve(t, katib.Options{}))
	code, message := c.validate(e)
	require.Empty(t, code, message)
	reply, code, message := c.suggest(request(e, 3))
	require.Empty(t, code, message)
	require.Len(t, reply.ParameterAssignments, 3)
}
