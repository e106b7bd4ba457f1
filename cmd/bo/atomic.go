package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// writeFile replaces the file at path by the output of write, all or nothing: a reader, or a
// crash, leaves the old contents or the new. The temporary file beside it is named by
// temporary; removeStale removes the temporary file of a killed process.
func writeFile(path string, write func(w io.Writer) error) error {
	return writeFileMode(path, 0o666, write)
}

// writeFileMode is writeFile with the mode of a new file, before the umask. The mode of an existing file stays.
func writeFileMode(path string, mode os.FileMode, write func(w io.Writer) error) (err error) {
	name := path
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", name, cause(err))
		}
	}()
	if err := regular(path); err != nil {
		return err
	}
	path = resolve(path)
	prefix, suffix := temporary(path)
	part := filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%d-%d%s", prefix, os.Getpid(), rand.Uint64(), suffix))
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if old, err := os.Stat(path); err == nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// regular reports a path that exists and is no regular file, such as a folder or a device.
func regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	return nil
}

// resolve follows symbolic links to an existing file.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// temporary returns the start and the end of the names of temporary files for path. Between them are
// the process number and a random number.
func temporary(path string) (prefix, suffix string) {
	return "." + filepath.Base(path) + ".bo-", ".tmp"
}

// staleAge is the age at which a temporary file is stale even if a process has its number. The process may be a
// later one, or of another machine.
const staleAge = time.Hour

// removeStale removes the temporary files that killed processes left beside path.
func removeStale(path string) {
	path = resolve(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // the later write reports the fault
	}
	prefix, suffix := temporary(path)
	for _, e := range entries {
		middle, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || !strings.HasSuffix(middle, suffix) {
			continue
		}
		number, _, _ := strings.Cut(middle, "-")
		pid, err := strconv.Atoi(number)
		info, gone := e.Info()
		if gone == nil && (err != nil || !running(pid) || time.Since(info.ModTime()) > staleAge) {
			os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// running reports whether a process of this machine has a number. If in doubt it reports true.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return errors.Is(err, fs.ErrPermission) // Windows: a process of another user
	}
	defer p.Release()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// maxRead is the largest size in bytes of a file that readRegular reads.
const maxRead = 256 << 20

// readRegular returns the contents of a regular file of at most maxRead bytes.
func readRegular(path string) ([]byte, error) {
	if err := regular(path); err != nil { // before Open, which blocks on a pipe without a writer
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err == nil && len(text) > maxRead {
		err = fmt.Errorf("%s: larger than %d MiB", path, maxRead>>20)
	}
	return text, err
}

// cause drops the names of temporary files from an error of the os package.
func cause(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}
