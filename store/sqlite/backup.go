package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/functionspace/bo/store/internal/sqldb"
)

// Backup copies the store in a file to a new file. Other processes may use the store meanwhile:
// the copy has every transaction that was committed before the call. The error wraps os.ErrExist if the
// new file exists, and os.ErrNotExist if the store does not exist.
func Backup(ctx context.Context, path, to string) error {
	if err := system.backup(ctx, path, to); err != nil {
		return fmt.Errorf("store %s: %w", path, err)
	}
	return nil
}

func (o opener) backup(ctx context.Context, path, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s: %w", to, os.ErrExist)
	}
	db, remote, err := o.connect(path, false)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := o.schema(ctx, db)
	if err == nil && s.Version == 0 {
		err = errors.New("the file has no studies")
	}
	if err != nil {
		return o.plain(err, path, remote)
	}
	removeStale(to)
	temporary, err := copied(ctx, db, path, to)
	if err != nil {
		return o.plain(err, path, remote)
	}
	defer os.Remove(temporary)
	return publish(temporary, to)
}

// temporaryPrefix returns the start of the names of temporary files for copies of a file, and of
// their journals.
func temporaryPrefix(path string) string { return "." + filepath.Base(path) + ".copy-" }

// removeStale removes the temporary files that killed processes left beside a file.
func removeStale(path string) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the caller's next step reports the fault
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporaryPrefix(path)) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// copied copies the database in a file to a temporary file beside the file that the copy is for. It
// returns the name of the temporary file.
func copied(ctx context.Context, db *sql.DB, from, to string) (path string, err error) {
	info, err := os.Stat(from)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(to), temporaryPrefix(to)+"*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	// VACUUM INTO accepts an empty file.
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", f.Name()); err != nil {
		return "", err
	}
	return f.Name(), errors.Join(f.Chmod(info.Mode().Perm()), f.Sync())
}

// publish gives a complete file its name. If the name exists, the error wraps os.ErrExist.
func publish(temporary, to string) error {
	err := os.Link(temporary, to)
	if err == nil || errors.Is(err, os.ErrExist) {
		return err
	}
	if _, err := os.Lstat(to); err == nil { // on a file system without links
		return fmt.Errorf("%s: %w", to, os.ErrExist)
	}
	return os.Rename(temporary, to)
}

// keep copies a file of an earlier version to FILE.v<version>.bak before its upgrade. If that
// file exists and differs, the name is FILE.v<version>-2.bak, and so on. keep returns the name.
func keep(ctx context.Context, db *sql.DB, path string, version int64) (string, error) {
	temporary, err := copied(ctx, db, path, path)
	if err != nil {
		return "", err
	}
	defer os.Remove(temporary)
	if have, err := versionOf(ctx, temporary); err != nil || have != version {
		return "", err // another process has copied and upgraded the file
	}
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.v%d.bak", path, version)
		if n > 1 {
			to = fmt.Sprintf("%s.v%d-%d.bak", path, version, n)
		}
		err := publish(temporary, to)
		if !errors.Is(err, os.ErrExist) {
			return to, err
		}
		if same, err := equal(temporary, to); same || err != nil {
			return to, err // copied by another process, or before an interrupted upgrade
		}
	}
}

// versionOf returns the version of the schema in a file that no process writes.
func versionOf(ctx context.Context, path string) (int64, error) {
	db, err := sql.Open("sqlite", address(path, nil)+"&mode=ro&immutable=1")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return sqldb.Version(ctx, db)
}

func equal(a, b string) (bool, error) {
	text, err := os.ReadFile(a)
	other, err2 := os.ReadFile(b)
	return bytes.Equal(text, other), errors.Join(err, err2)
}
