// Package pgtest runs a PostgreSQL server for tests: the distribution's programs, an
// unprivileged user, a free port and a temporary folder.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a running PostgreSQL server.
type Server struct {
	dir, bin string
	port     int
}

// Start starts a server that ends with the test. Without PostgreSQL's programs the test is
// skipped, or fails on Linux if the environment variable CI is set.
func Start(t testing.TB) *Server {
	t.Helper()
	s := launched(t)
	t.Cleanup(s.remove)
	return s
}

func launched(t testing.TB) *Server {
	t.Helper()
	bin, err := programs()
	if err != nil {
		if os.Getenv("CI") != "" && runtime.GOOS == "linux" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	s, err := start(bin)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	sharing sync.Mutex
	shared  *Server
)

// Shared returns a server that the tests of a package share, for tests that neither stop it nor change it outside
// of their own databases. It must be stopped by StopShared.
func Shared(t testing.TB) *Server {
	t.Helper()
	sharing.Lock()
	defer sharing.Unlock()
	if shared == nil {
		shared = launched(t)
	}
	return shared
}

// StopShared stops the server of Shared, for the end of TestMain.
func StopShared() {
	if shared != nil {
		shared.remove()
	}
}

func start(bin string) (*Server, error) {
	dir, err := os.MkdirTemp("", "bo-postgres-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin}
	if err = s.init(); err == nil {
		err = s.Launch()
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// remove stops the server and removes its files.
func (s *Server) remove() {
	_ = s.Stop("immediate")
	_ = os.RemoveAll(s.dir)
}

// Address returns the address of the database on the server.
func (s *Server) Address() string {
	return fmt.Sprintf("postgres://bo:secret@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// Database makes an empty database and returns its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", time.Now().UnixNano())
	if out, err := s.Client("psql", "--quiet", "--command", "CREATE DATABASE "+name, "--dbname", s.Address()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Replace(s.Address(), "/postgres?", "/"+name+"?", 1)
}

// Client returns a command that runs a client program of PostgreSQL, such as pg_dump.
func (s *Server) Client(name string, args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(s.bin, name), args...)
}

// programs returns the folder of initdb, of the newest installed version.
func programs() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", errors.New("PostgreSQL is not installed (Debian: apt-get install postgresql)")
	}
	slices.Sort(found)
	newest, err := filepath.EvalSymlinks(found[len(found)-1])
	return filepath.Dir(newest), err
}

func (s *Server) init() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return err
	}
	if os.Getuid() == 0 {
		u, err := unprivileged()
		if err != nil {
			return err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(s.dir, uid, gid); err != nil {
			return err
		}
	}
	password := filepath.Join(s.dir, "password")
	if err := os.WriteFile(password, []byte("secret\n"), 0o644); err != nil {
		return err
	}
	return s.run("initdb", "-D", filepath.Join(s.dir, "data"), "-U", "bo", "--pwfile", password, "-A", "scram-sha-256", "-E", "UTF8", "--locale", "C", "-N")
}

// unprivileged returns the user that runs the server if the tests run as root.
func unprivileged() (*user.User, error) {
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return u, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

// run runs one of PostgreSQL's programs.
func (s *Server) run(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	if err := drop(cmd); err != nil {
		return err
	}
	// The server keeps its output open, so it must be a file.
	out, err := os.CreateTemp("", "bo-postgres-output-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(text)))
	}
	return nil
}

// Launch starts the server and waits until it answers.
func (s *Server) Launch() error {
	options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c shared_buffers=32MB", s.port)
	return s.run("pg_ctl", "-D", filepath.Join(s.dir, "data"), "-l", filepath.Join(s.dir, "log"), "-w", "-o", options, "start")
}

// Stop stops the server: "fast" ends all sessions, "immediate" is a crash.
func (s *Server) Stop(mode string) error {
	return s.run("pg_ctl", "-D", filepath.Join(s.dir, "data"), "-m", mode, "-w", "stop")
}
