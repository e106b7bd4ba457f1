package sqlite

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/internal/upgradetest"
	"github.com/functionspace/bo/store/storetest"
)

// network opens files as on a network file system.
func network() opener {
	o := system
	o.remote = func(string) bool { return true }
	return o
}

// hold is a process that has a store open as on a network file system. It prints a line and
// waits for the end of its input.
func hold(path string) error {
	b, err := network().open(context.Background(), path, true)
	if err != nil {
		return err
	}
	_, _ = os.Stdout.WriteString("open\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return b.Close()
}

// The rules of a store hold with one connection, an exclusive lock and a rollback journal.
func TestNetworkMode(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the suite runs on a local file")
	}
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "bo.db")
		b, err := network().open(context.Background(), path, true) // one process opens the file once
		require.NoError(t, err)
		t.Cleanup(func() { _ = b.Close() })
		return func() (store.Backend, error) { return shared{b}, nil }
	})
}

// shared is a backend that stays open when one of its users closes it.
type shared struct{ store.Backend }

func (shared) Close() error { return nil }

// A second process is told the alternatives, whether the first has written or only read. A
// killed process leaves no lock.
func TestNetworkModeExcludesProcesses(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"new": filepath.Join(t.TempDir(), "bo.db"), "existing, from a local disk": filled(t)} {
		t.Run(name, func(t *testing.T) { excludes(t, path, network()) })
	}
}

// excludes checks that only one process opens a file.
func excludes(t *testing.T, path string, o opener) {
	ctx := context.Background()
	first := process("hold", path)
	out, err := first.StdoutPipe()
	require.NoError(t, err)
	in, err := first.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, first.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "open\n", line)

	begun := time.Now()
	_, err = o.open(ctx, path, false)
	require.EqualError(t, err, "another process has it open on a network file system, where only one can: use a file on a local disk, or PostgreSQL")
	require.Less(t, time.Since(begun), 10*time.Second)
	_, err = o.inspect(ctx, path)
	require.ErrorContains(t, err, "use a file on a local disk, or PostgreSQL")

	require.NoError(t, first.Process.Kill())
	_ = first.Wait()
	_ = in.Close()
	b, err := o.open(ctx, path, false)
	require.NoError(t, err)
	defer b.Close()
	_, err = os.Stat(path + "-wal")
	require.ErrorIs(t, err, os.ErrNotExist, "a write-ahead log needs memory that processes share")
}

// A file on a real network file system. sshfs serves it through the kernel's FUSE, with a server of
// OpenSSH and without a connection.
func TestNetworkFileSystem(t *testing.T) {
	server := "/usr/lib/openssh/sftp-server"
	for _, program := range []string{"sshfs", "fusermount3", server} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	from, mount := filepath.Join(dir, "exported"), filepath.Join(dir, "mount")
	require.NoError(t, os.Mkdir(from, 0o700))
	require.NoError(t, os.Mkdir(mount, 0o700))
	connect := filepath.Join(dir, "connect")
	require.NoError(t, os.WriteFile(connect, []byte("#!/bin/sh\nexec "+server+"\n"), 0o700))
	if out, err := exec.Command("sshfs", "-o", "ssh_command="+connect, "host:"+from, mount).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("fusermount3", "-u", "-z", mount).Run() })

	require.False(t, onNetwork(from))
	require.True(t, onNetwork(mount))
	path := filepath.Join(mount, "bo.db")
	b, err := Open(context.Background(), path, true)
	require.NoError(t, err)
	upgradetest.Fill(t, b)
	require.NoError(t, b.Close())
	excludes(t, path, system)
	upgraded, err := next(quick).open(context.Background(), path, false)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(upgraded.Upgraded().Copy, ".bak"))
	upgradetest.Continue(t, upgraded)
	require.NoError(t, upgraded.Close())
}
