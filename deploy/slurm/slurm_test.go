// Package slurm_test runs the job script on a Slurm cluster of this machine.
package slurm_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/pgtest"
	"github.com/functionspace/bo/internal/programtest"
)

// objective logs the start and the end of each attempt. In tasks for which a file exists it
// hangs instead.
const objective = `echo "start $BO_TRIAL $BO_ATTEMPT task $SLURM_ARRAY_TASK_ID" >> log
if [ -e "hang $SLURM_ARRAY_TASK_ID" ]; then
  echo "hang $BO_TRIAL $BO_ATTEMPT task $SLURM_ARRAY_TASK_ID" >> log
  sleep 300
fi
sleep 0.7
echo "end $BO_TRIAL $BO_ATTEMPT task $SLURM_ARRAY_TASK_ID" >> log
awk -v x="$1" 'BEGIN { print (x - 0.3) ^ 2 }'
`

const studyFile = `name: scale
parameters:
  - {name: x, type: float, min: 0, max: 1}
budget: 24
command: sh objective.sh {x}
`

// Four array tasks share a study. One is cancelled and one is killed with its program: both
// trials are issued again, and no trial is evaluated twice to its end.
func TestArray(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Slurm cluster")
	}
	server := pgtest.Start(t)
	start(t)
	j := submit(t, server.Address(), 4)

	j.waitFor("four tasks evaluate", func() bool { return len(j.tasksOf("start")) == 4 && j.count("end") >= 4 })
	for name, args := range map[string][]string{"1": nil, "2": {"--full", "--signal=KILL"}} {
		j.write("hang "+name, "")
		j.waitFor("task "+name+" hangs", func() bool { return j.tasksOf("hang")[name] })
		j.run("scancel", append(args, j.id+"_"+name)...)
	}
	j.waitFor("the job ends", func() bool { return strings.TrimSpace(j.run("squeue", "--noheader", "--array", "--jobs="+j.id)) == "" })

	trials := j.trials()
	require.Len(t, trials, 24)
	again := 0
	for i, r := range trials {
		require.Equal(t, i+1, r.Trial)
		require.Equal(t, "complete", r.State, "trial %d", r.Trial)
		require.NotNil(t, r.Value)
		require.Equal(t, 1, j.count(fmt.Sprintf("end %d", r.Trial)), "trial %d", r.Trial)
		require.Equal(t, r.Attempt, j.count(fmt.Sprintf("start %d", r.Trial)), "trial %d", r.Trial)
		again += r.Attempt - 1
	}
	require.Equal(t, 2, again, "the trial of the cancelled and of the killed task")
	require.NotContains(t, j.run("sh", "-c", "cat bo-*.log"), "secret", "the password is in no output")
}

// A trial is a line of bo trials.
type trial struct {
	Trial, Attempt int
	State          string
	Value          *float64
}

// A job is the array job of a study.
type job struct {
	t           *testing.T
	dir, bo, id string
}

// submit starts the job script with a number of tasks. The password is in a file, as the
// script advises.
func submit(t *testing.T, address string, tasks int) *job {
	script, err := filepath.Abs("study.sbatch")
	require.NoError(t, err)
	j := &job{t: t, dir: t.TempDir(), bo: programtest.Build(t, "../../cmd/bo")}
	u, err := url.Parse(address)
	require.NoError(t, err)
	password, _ := u.User.Password()
	j.write(".pgpass", fmt.Sprintf("%s:%s:*:%s:%s\n", u.Hostname(), u.Port(), u.User.Username(), password))
	j.write("study.yaml", studyFile)
	j.write("objective.sh", objective)
	j.write("log", "")
	u.User = url.User(u.User.Username())
	t.Setenv("BO_STORE", u.String())
	t.Setenv("PGPASSFILE", filepath.Join(j.dir, ".pgpass"))
	t.Setenv("PATH", filepath.Dir(j.bo)+":"+os.Getenv("PATH"))
	out := j.run("sbatch", "--parsable", fmt.Sprintf("--array=0-%d", tasks-1), "--cpus-per-task=1", "--mem=100M", script, "study.yaml")
	j.id = strings.TrimSpace(out)
	return j
}

func (j *job) write(name, text string) {
	require.NoError(j.t, os.WriteFile(filepath.Join(j.dir, name), []byte(text), 0o600))
}

func (j *job) run(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = j.dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	require.NoError(j.t, err, "%s %v: %s", name, args, stderr.String())
	return string(text)
}

func (j *job) trials() (all []trial) {
	for dec := json.NewDecoder(strings.NewReader(j.run(j.bo, "trials", "scale", "--format", "jsonl"))); dec.More(); {
		var r trial
		require.NoError(j.t, dec.Decode(&r))
		all = append(all, r)
	}
	return all
}

// lines returns the log of the objective.
func (j *job) lines() []string {
	text, err := os.ReadFile(filepath.Join(j.dir, "log"))
	require.NoError(j.t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// count counts the lines that begin with words.
func (j *job) count(words string) int {
	n := 0
	for _, l := range j.lines() {
		if l == words || strings.HasPrefix(l, words+" ") {
			n++
		}
	}
	return n
}

// tasksOf returns the tasks with a line of a kind.
func (j *job) tasksOf(kind string) map[string]bool {
	tasks := map[string]bool{}
	for _, l := range j.lines() {
		if _, task, ok := strings.Cut(l, " task "); ok && strings.HasPrefix(l, kind+" ") {
			tasks[task] = true
		}
	}
	return tasks
}

func (j *job) waitFor(what string, f func() bool) {
	for begun := time.Now(); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > 2*time.Minute {
			logs, _ := exec.Command("sh", "-c", "cat "+j.dir+"/bo-*.log").Output()
			j.t.Fatalf("%s: not within two minutes\n%s\n%s", what, strings.Join(j.lines(), "\n"), logs)
		}
	}
}
