package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// writeFile replaces the file at path by what write writes, all or nothing: a
// reader, or a crash, finds the old contents or the new.
func writeFile(path string, write func(w io.Writer) error) (err error) {
	name := path
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", name, cause(err))
		}
	}()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	mode := os.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	if err := f.Chmod(mode); err != nil {
		return err
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

// cause drops what the os package says about the names of temporary files.
func cause(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}
