package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/functionspace/bo/internal/filelock"
)

// ErrStore reports a directory of results with unusable contents.
var ErrStore = errors.New("bad results")

// ErrInUse reports a directory of results to which another Store appends.
var ErrInUse = errors.New("another process adds results")

// fileName is the file to which a Store appends.
const fileName = "runs.jsonl"

// Store is a directory of results. It appends a line to runs.jsonl for each finished
// run, and syncs the file. It holds the lock of the file until Close.
type Store struct {
	file    *os.File
	records map[Key]Record
}

// OpenStore opens a directory, which it creates if necessary, and reads its records.
// It removes an incomplete last line, which an interrupted process left. The error
// wraps ErrStore for invalid contents, and ErrInUse while another Store has the directory.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fileName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	s := &Store{f, map[Key]Record{}}
	if err := s.lock(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := s.load(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// lock takes the lock of the file, if its file system has locks. Two processes would repeat each other's runs.
// The second would also take a line that the first is writing for a line of an interrupted process, and cut the
// file there.
func (s *Store) lock() error {
	free, err := filelock.TryLock(s.file)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", s.file.Name(), err)
	case !free:
		return fmt.Errorf("%s: %w: wait for its end, or use another directory", s.file.Name(), ErrInUse)
	}
	return nil
}

func (s *Store) load(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	records, whole, err := decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, r := range records {
		s.records[r.Key()] = r
	}
	if whole < len(text) {
		return s.file.Truncate(int64(whole))
	}
	return nil
}

// decode parses the lines of text, except an incomplete last line, which begins at
// whole.
func decode(text []byte) (records []Record, whole int, err error) {
	for n := 1; ; n++ {
		end := bytes.IndexByte(text[whole:], '\n')
		if end < 0 {
			return records, whole, nil
		}
		line := text[whole : whole+end]
		whole += end + 1
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, 0, fmt.Errorf("%w: line %d: %w", ErrStore, n, err)
		}
		if r.Problem == "" || r.Method == "" || len(r.Suggest) != len(r.Values) {
			return nil, 0, fmt.Errorf("%w: line %d is not the record of a run", ErrStore, n)
		}
		records = append(records, r)
	}
}

// Remaining returns the runs of the plan without a record, and with again also the runs
// that failed. The error wraps ErrStore if the results belong to another suite or to
// different runs.
func (s *Store) Remaining(plan []Run, again bool) ([]Run, error) {
	for _, was := range s.records {
		if len(plan) > 0 && was.Suite != plan[0].Suite {
			return nil, fmt.Errorf("%w: %s holds the suite %s, not %s", ErrStore, s.file.Name(), was.Suite, plan[0].Suite)
		}
	}
	var left []Run
	for _, run := range plan {
		was, ok := s.records[run.Key()]
		if !ok || again && was.Error != "" {
			left = append(left, run)
		} else if c := run.conflict(was); c != "" {
			return nil, fmt.Errorf("%w: %s holds %s with %s", ErrStore, s.file.Name(), was.Problem, c)
		}
	}
	return left, nil
}

// Commits returns the commits of the records, sorted.
func (s *Store) Commits() []string {
	var list []string
	for _, r := range s.records {
		if !slices.Contains(list, r.Commit) {
			list = append(list, r.Commit)
		}
	}
	slices.Sort(list)
	return list
}

// Append writes a record. After a crash the file has the whole record or none of it.
func (s *Store) Append(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return err
	}
	s.records[r.Key()] = r
	return s.file.Sync()
}

// Close closes the file.
func (s *Store) Close() error { return s.file.Close() }

// Read returns the records in all .jsonl files of a directory, for each run the last
// record. The error wraps ErrStore for invalid contents.
func Read(dir string) ([]Record, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	files, err := fs.Glob(os.DirFS(dir), "*.jsonl")
	if err != nil {
		return nil, err
	}
	place := map[Key]int{}
	var records []Record
	for _, name := range files {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found, _, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, r := range found {
			if len(records) > 0 && r.Suite != records[0].Suite {
				return nil, fmt.Errorf("%s: %w: suite %s beside %s", path, ErrStore, r.Suite, records[0].Suite)
			}
			if i, ok := place[r.Key()]; ok {
				records[i] = r
				continue
			}
			place[r.Key()] = len(records)
			records = append(records, r)
		}
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: %s holds no finished run", ErrStore, dir)
	}
	return records, nil
}
