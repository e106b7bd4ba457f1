package store

import (
	"io/fs"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process is dead if it has certainly ended. A process that /proc hides is not.
func TestOwnerDead(t *testing.T) {
	ended := exec.Command("true")
	require.NoError(t, ended.Run())
	read := readStat
	t.Cleanup(func() { readStat = read })
	hide := func(int) ([]byte, error) { return nil, fs.ErrNotExist }
	text := func(text string) func(int) ([]byte, error) {
		return func(int) ([]byte, error) { return []byte(text), nil }
	}
	parent, err := processStart(os.Getppid())
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		pid   int
		start string
		read  func(int) ([]byte, error)
		dead  bool
	}{
		{"running", os.Getppid(), parent, read, false},
		{"running and hidden", os.Getppid(), parent, hide, false},
		{"number of a later process", os.Getppid(), "1", read, true},
		{"unknown form", os.Getppid(), parent, text("1 (a) S 1"), false},
		{"waits for its parent", os.Getppid(), "9", text("1 (a) Z 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 9"), true},
		{"ended", ended.Process.Pid, "9", read, true},
		{"ended and hidden", ended.Process.Pid, "9", hide, true},
	} {
		readStat = c.read
		require.Equal(t, c.dead, Owner{Host: Self().Host, PID: c.pid, Start: c.start}.dead(), c.name)
	}
}
