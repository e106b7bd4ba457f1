package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/functionspace/bo/internal/didyoumean"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/postgres"
	"github.com/functionspace/bo/store/sqlite"
)

// defaultStore is the file of studies if neither --store nor BO_STORE is given.
const defaultStore = "bo.db"

// storeFlags select the store of studies.
type storeFlags struct {
	Store string `group:"store" env:"BO_STORE" placeholder:"FILE|URL" help:"Store of studies: an SQLite file or postgres://USER@HOST/DATABASE. Default: the value of BO_STORE, or bo.db."`

	notices io.Writer // of upgrades
}

// AfterApply is called by the parser of the command line. It returns an error for a URL of another kind.
func (f *storeFlags) AfterApply(e *env) error {
	f.notices = e.stderr
	return checkStore(f.Store)
}

// keywords is the beginning of an address as PostgreSQL's programs also take it, such as host=db dbname=studies.
var keywords = regexp.MustCompile(`^\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=`)

// checkStore returns an error for an address of PostgreSQL that is no URL, and for a URL other than PostgreSQL's. The error
// has no more of the URL than its scheme: the rest may have a password.
func checkStore(address string) error {
	const want = "want the path of an SQLite file, or postgres://USER@HOST/DATABASE"
	scheme, rest, ok := strings.Cut(address, ":")
	switch {
	case keywords.MatchString(address):
		return fmt.Errorf("the store is written as %s…, %s; a file of this name is ./%[1]s…", keywords.FindString(address), want)
	case !ok || isPostgres(address):
		return nil
	case scheme == "sqlite" || scheme == "file":
		path := strings.TrimPrefix(rest, "//")
		if scheme == "sqlite" && path != rest {
			path = strings.TrimPrefix(path, "/") // sqlite:///a.db is a.db, as in SQLAlchemy
		}
		return fmt.Errorf("the store is a URL %s:…, %s: write %s", scheme, want, cmp.Or(path, defaultStore))
	case strings.HasPrefix(rest, "//"):
		return fmt.Errorf("the store is a URL %s://…, %s", scheme, want)
	}
	return nil
}

// open opens the store. Without create, a store that does not exist is an error.
func (f storeFlags) open(ctx context.Context, create bool) (*store.Store, error) {
	return f.openWith(ctx, create, store.Options{Version: version()})
}

func (f storeFlags) openWith(ctx context.Context, create bool, o store.Options) (*store.Store, error) {
	b, err := f.backend(ctx, create)
	if err != nil {
		return nil, err
	}
	return store.New(b, o), nil
}

// backend opens the backend of the store.
func (f storeFlags) backend(ctx context.Context, create bool) (store.Backend, error) {
	address := cmp.Or(f.Store, defaultStore)
	var b store.Backend
	var err error
	if isPostgres(address) {
		b, err = postgres.Open(ctx, address, create)
	} else {
		b, err = sqlite.Open(ctx, address, create)
		if !create {
			err = f.absent(err)
		}
	}
	if err != nil {
		return nil, err
	}
	if up := upgradeOf(b); up.From < up.To && f.notices != nil {
		fmt.Fprintf(f.notices, "bo: %s\n", upgradeText(f.shown(), up))
	}
	return b, nil
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

// withStore opens the store, calls do and closes the store. Without create, a store that
// does not exist is an error.
func (f storeFlags) withStore(ctx context.Context, create bool, do func(*store.Store) error) error {
	s, err := f.open(ctx, create)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// withStudy calls do with a study that exists.
func (f storeFlags) withStudy(ctx context.Context, name string, do func(*store.Study) error) error {
	return f.withStore(ctx, false, func(s *store.Store) error {
		u, err := f.find(ctx, s, name)
		if err != nil {
			return err
		}
		return do(u)
	})
}

// withView calls do with a study that exists and its brief trials. The verbs that use it end soon
// after: garbage collection at its usual rate takes a quarter of their time.
func (f storeFlags) withView(ctx context.Context, name string, do func(*store.Study, *store.View) error) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	return f.withStudy(ctx, name, func(u *store.Study) error {
		v, err := u.Brief(ctx)
		if err != nil {
			return err
		}
		return do(u, v)
	})
}

// find returns a study of s. For a study that does not exist the error names others.
func (f storeFlags) find(ctx context.Context, s *store.Store, name string) (*store.Study, error) {
	u, err := s.Study(ctx, name)
	if errors.Is(err, store.ErrNoStudy) {
		err = usageError{f.unknown(ctx, s, name)}
	}
	return u, err
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

// conflictWarning describes trials of a study that contradict a noise-free objective, or returns
// "".
func conflictWarning(ctx context.Context, u *store.Study) (string, error) {
	_, options, h, err := u.History(ctx)
	if err != nil || !options.NoiseFree {
		return "", err
	}
	return conflictText(loop.Conflicts(h.Trials)), nil
}

func conflictText(conflicts []loop.Conflict) string {
	text := conflictFault(conflicts)
	if text != "" {
		text += ": remove noise_free from the study"
	}
	return text
}

// conflictFault is conflictText without the remedy.
func conflictFault(conflicts []loop.Conflict) string {
	if len(conflicts) == 0 {
		return ""
	}
	others := ""
	if n := len(conflicts) - 1; n > 0 {
		others = ", and " + count(n, "point") + " more"
	}
	return fmt.Sprintf("%v%s, but the objective is declared exact", conflicts[0], others)
}

// warnConflicts prints the warning about trials that contradict a noise-free objective.
func warnConflicts(e *env, u *store.Study) error {
	text, err := conflictWarning(e.ctx, u)
	if text != "" {
		fmt.Fprintf(e.stderr, "bo: warning: %s\n", text)
	}
	return err
}

// hidden reports an environment variable that programs must not get: it may hold a password or a
// token.
func hidden(pair string) bool {
	return strings.HasPrefix(pair, "BO_STORE=") || strings.HasPrefix(pair, "PGPASSWORD=") || strings.HasPrefix(pair, "BO_TOKEN=")
}
