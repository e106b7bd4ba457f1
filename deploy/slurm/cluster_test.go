package slurm_test

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A cluster is a Slurm cluster of this machine alone: daemons of the distribution's packages
// in a temporary folder, which run as the user of the test.
type cluster struct {
	t   *testing.T
	dir string
}

// programs of the packages munge, slurmctld, slurmd and slurm-client.
var programs = []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo"}

const configuration = `ClusterName=bo
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
SlurmdPort=%[3]d
SlurmUser=%[4]s
SlurmdUser=%[4]s
AuthType=auth/munge
AuthInfo=socket=%[5]s/munge/socket
CredType=cred/munge
StateSaveLocation=%[5]s/state
SlurmdSpoolDir=%[5]s/spool
SlurmctldPidFile=%[5]s/slurmctld.pid
SlurmdPidFile=%[5]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=8 CoresPerSocket=8 RealMemory=2000
PartitionName=main Nodes=ALL Default=YES
`

// start starts a cluster that ends with the test. Without Slurm the test is skipped, or fails
// on Linux if the environment variable CI is set.
func start(t *testing.T) *cluster {
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("CI") != "" && runtime.GOOS == "linux" {
				t.Fatal(err)
			}
			t.Skipf("Slurm is not installed (Debian: apt-get install munge slurmctld slurmd slurm-client): %v", err)
		}
	}
	dir, err := os.MkdirTemp("", "bo-slurm-") // short: it holds a socket
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, d := range []string{"munge", "state", "spool"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, d), 0o700))
	}
	key := make([]byte, 1024)
	_, _ = rand.Read(key)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "munge", "key"), key, 0o600))
	self, err := user.Current()
	require.NoError(t, err)
	host, err := os.Hostname()
	require.NoError(t, err)
	host, _, _ = strings.Cut(host, ".")
	config := filepath.Join(dir, "slurm.conf")
	text := fmt.Sprintf(configuration, host, freePort(t), freePort(t), self.Username, dir)
	require.NoError(t, os.WriteFile(config, []byte(text), 0o644))
	t.Setenv("SLURM_CONF", config)

	c := &cluster{t, dir}
	munge := func(name string) string { return filepath.Join(dir, "munge", name) }
	c.daemon("munged", "--foreground", "--force", "--key-file", munge("key"), "--socket", munge("socket"),
		"--pid-file", munge("pid"), "--seed-file", munge("seed"), "--log-file", munge("log"))
	require.Eventually(t, func() bool {
		_, err := os.Stat(munge("socket"))
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	c.daemon("slurmctld", "-D", "-c", "-f", config)
	c.daemon("slurmd", "-D", "-c", "-f", config)
	require.Eventually(t, func() bool {
		text, err := exec.Command("sinfo", "--noheader", "--format=%T").Output()
		return err == nil && strings.TrimSpace(string(text)) == "idle"
	}, time.Minute, 100*time.Millisecond, "the node is not idle: %s", c)
	return c
}

// daemon runs a program until the test ends.
func (c *cluster) daemon(name string, args ...string) {
	log, err := os.Create(filepath.Join(c.dir, name+".log"))
	require.NoError(c.t, err)
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(c.t, cmd.Start())
	require.NoError(c.t, log.Close())
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		dead := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer dead.Stop()
		_ = cmd.Wait()
	})
}

// String returns the logs of the daemons.
func (c *cluster) String() string {
	all, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	var b strings.Builder
	for _, path := range all {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(path), text)
	}
	return b.String()
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
