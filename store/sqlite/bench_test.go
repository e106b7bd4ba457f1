package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/study"
)

// large is a file with a study of n failed trials and a budget for more. Its next points are
// of the design, which costs no fit.
func large(b *testing.B, n int) string {
	b.Helper()
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "bo.db")
	backend, err := sqlite.Open(ctx, path, true)
	if err != nil {
		b.Fatal(err)
	}
	s := store.New(backend, store.Options{})
	defer s.Close()
	var ps []space.Parameter
	for i := range 6 {
		ps = append(ps, space.Float(fmt.Sprint("x", i), 0, 1))
	}
	u, err := s.Create(ctx, &study.Definition{Version: 1, Name: "s", Parameters: ps, Budget: study.MaxCount})
	if err != nil {
		b.Fatal(err)
	}
	var done []store.Evaluated
	for i := range n {
		p := map[string]any{}
		for j := range ps {
			p[ps[j].Name] = float64((i*7919+j*104729)%99991) / 99991
		}
		done = append(done, store.Evaluated{Params: p, Failure: store.FailedByProgram, Message: "exit status 1"})
	}
	if _, err := u.Add(ctx, "", done...); err != nil {
		b.Fatal(err)
	}
	return path
}

func opened(b *testing.B, path string) *store.Study {
	backend, err := sqlite.Open(context.Background(), path, true)
	if err != nil {
		b.Fatal(err)
	}
	s := store.New(backend, store.Options{})
	b.Cleanup(func() { _ = s.Close() })
	u, err := s.Study(context.Background(), "s")
	if err != nil {
		b.Fatal(err)
	}
	return u
}

// Open reads a study of 10 000 trials as a new process does.
func BenchmarkOpen10000(b *testing.B) {
	path := large(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		opened(b, path)
	}
}

// An ask and a tell in a study of 10 000 trials.
func BenchmarkAskTell10000(b *testing.B) {
	u := opened(b, large(b, 10_000))
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		trials, err := u.Ask(ctx, 1)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := u.Tell(ctx, store.Report{Trial: trials[0].Number, Failure: store.FailedByProgram}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTell10000(b *testing.B) {
	u := opened(b, large(b, 10_000))
	ctx := context.Background()
	trials, err := u.Ask(ctx, 2000)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := u.Tell(ctx, store.Report{Trial: trials[i%2000].Number, Failure: store.FailedByProgram}); err != nil {
			b.Fatal(err)
		}
	}
}
