package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/postgres"
	"github.com/functionspace/bo/store/sqlite"
)

// defaultStore is the file of studies if neither --store nor BO_STORE is given.
const defaultStore = "bo.db"

// storeFlags select the store of studies.
type storeFlags struct {
	Store string `group:"store" env:"BO_STORE" placeholder:"FILE|URL" help:"Store of studies: an SQLite file or postgres://USER@HOST/DATABASE; default bo.db, or the value of BO_STORE."`
}

// open opens the store. Without create, a store that does not exist is an error.
func (f storeFlags) open(ctx context.Context, create bool) (*store.Store, error) {
	return f.openWith(ctx, create, store.Options{Version: version()})
}

func (f storeFlags) openWith(ctx context.Context, create bool, o store.Options) (*store.Store, error) {
	address := cmp.Or(f.Store, defaultStore)
	var b store.Backend
	var err error
	if isPostgres(address) {
		b, err = postgres.Open(ctx, address, create)
	} else {
		b, err = sqlite.Open(ctx, address, create)
		if errors.Is(err, os.ErrNotExist) && !create {
			err = fmt.Errorf("no studies yet: %s does not exist (state another place with --store or BO_STORE)", filepath.Clean(address))
		}
	}
	if err != nil {
		return nil, err
	}
	return store.New(b, o), nil
}

func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// shown returns the address of the store for messages, without a password.
func (f storeFlags) shown() string {
	if isPostgres(f.Store) {
		return postgres.Masked(f.Store)
	}
	return cmp.Or(f.Store, defaultStore)
}

// one opens a study that exists. The caller closes the store.
func (f storeFlags) one(ctx context.Context, name string) (*store.Store, *store.Study, error) {
	s, err := f.open(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	u, err := s.Study(ctx, name)
	if errors.Is(err, store.ErrNoStudy) {
		err = usageError{f.unknown(ctx, s, name)}
	}
	if err != nil {
		_ = s.Close()
		return nil, nil, err
	}
	return s, u, nil
}

// unknown returns the error for a study that is not in the store. It suggests a near name or
// lists all names.
func (f storeFlags) unknown(ctx context.Context, s *store.Store, name string) error {
	list, err := s.List(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("unknown study %q: %s has no studies", name, f.shown())
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return fmt.Errorf("unknown study %q%s", name, didyoumean.Hint(name, names))
}

// hidden reports an environment variable that programs must not get: it may hold a password.
func hidden(pair string) bool {
	return strings.HasPrefix(pair, "BO_STORE=") || strings.HasPrefix(pair, "PGPASSWORD=")
}
