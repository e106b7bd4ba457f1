package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/postgres"
	"github.com/functionspace/bo/store/sqlite"
)

type storeCmd struct {
	Show    storeShowCmd    `cmd:"" help:"Show the version of a store, and count its studies and trials."`
	Upgrade storeUpgradeCmd `cmd:"" help:"Bring the tables of a store to the version of this program."`
	Backup  storeBackupCmd  `cmd:"" help:"Copy an SQLite store to a new file, also while studies run."`
}

// shownStore is the object of bo store show --json.
type shownStore struct {
	Store    string       `json:"store"`
	Kind     string       `json:"kind"` // sqlite or postgres
	Schema   store.Schema `json:"schema"`
	Studies  *int         `json:"studies,omitempty"` // counts need the newest version
	Trials   *int         `json:"trials,omitempty"`
	Finished *int         `json:"finished,omitempty"`
}

type storeShowCmd struct {
	storeFlags
	JSON bool `group:"result" name:"json" help:"Print one JSON object."`
}

func (c *storeShowCmd) Run(e *env) error {
	out := &shownStore{Store: c.shown(), Kind: c.kind()}
	var err error
	if out.Schema, err = c.inspect(e); err != nil {
		return err
	}
	if out.Schema.Version == out.Schema.Newest {
		err := c.withStore(e.ctx, false, func(s *store.Store) error {
			list, err := s.List(e.ctx)
			studies, trials, finished := len(list), 0, 0
			for i := range list {
				trials, finished = trials+list[i].Trials, finished+list[i].Finished
			}
			out.Studies, out.Trials, out.Finished = &studies, &trials, &finished
			return err
		})
		if err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(e.stdout, out)
	}
	return out.print(e.stdout)
}

func (o *shownStore) print(w io.Writer) error {
	rows := [][]string{{"store", fmt.Sprintf("%s (%s)", o.Store, map[string]string{"sqlite": "SQLite", "postgres": "PostgreSQL"}[o.Kind])}}
	switch v, newest := o.Schema.Version, o.Schema.Newest; {
	case v == 0:
		rows = append(rows, []string{"schema", "none yet"})
	case v < newest:
		rows = append(rows, []string{"schema", fmt.Sprintf("version %d; this program needs %d: bo store upgrade", v, newest)})
	case v > newest:
		rows = append(rows, []string{"schema", fmt.Sprintf("version %d, of a newer program; this program reads up to %d", v, newest)})
	default:
		rows = append(rows, []string{"schema", fmt.Sprintf("version %d, the newest", v)},
			[]string{"studies", fmt.Sprint(*o.Studies)}, []string{"trials", fmt.Sprintf("%d, %d finished", *o.Trials, *o.Finished)})
	}
	return printTable(w, rows)
}

func (f storeFlags) kind() string {
	if isPostgres(f.Store) {
		return "postgres"
	}
	return "sqlite"
}

// inspect returns the version of the store. It changes nothing.
func (f storeFlags) inspect(e *env) (s store.Schema, err error) {
	if isPostgres(f.Store) {
		return postgres.Inspect(e.ctx, f.Store)
	}
	s, err = sqlite.Inspect(e.ctx, cmp.Or(f.Store, defaultStore))
	return s, f.absent(err)
}

type storeUpgradeCmd struct {
	storeFlags
	JSON bool `group:"result" name:"json" help:"Print {\"from\": VERSION, \"to\": VERSION, \"copy\": FILE} as JSON."`
}

func (storeUpgradeCmd) Help() string {
	return `Every command upgrades an SQLite file of an earlier version, and copies it to FILE.v<version>.bak first. PostgreSQL is upgraded by this command alone, and is not copied: stop the processes that use it, and dump it with pg_dump.

Processes of an earlier version that have the store open end with an error at their next write. A bo serve of an earlier version continues, and answers writes with "unavailable": replace it.`
}

func (c *storeUpgradeCmd) Run(e *env) error {
	up, err := c.upgrade(e)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(e.stdout, up)
	}
	_, err = fmt.Fprintln(e.stdout, upgradeText(c.shown(), up))
	return err
}

func (f storeFlags) upgrade(e *env) (store.Upgrade, error) {
	if isPostgres(f.Store) {
		return postgres.Upgrade(e.ctx, f.Store)
	}
	b, err := sqlite.Open(e.ctx, cmp.Or(f.Store, defaultStore), false)
	if err != nil {
		return store.Upgrade{}, f.absent(err)
	}
	defer b.Close()
	return upgradeOf(b), nil
}

// upgradeOf returns the upgrade that was made when a backend was opened.
func upgradeOf(b store.Backend) store.Upgrade {
	if u, ok := b.(store.Upgraded); ok {
		return u.Upgraded()
	}
	return store.Upgrade{}
}

func upgradeText(name string, up store.Upgrade) string {
	switch {
	case up.From == up.To:
		return fmt.Sprintf("%s has version %d, the newest", name, up.To)
	case up.From == 0:
		return fmt.Sprintf("%s has the tables of version %d", name, up.To)
	case up.Copy == "":
		return fmt.Sprintf("%s is upgraded from version %d to %d", name, up.From, up.To)
	}
	return fmt.Sprintf("%s is upgraded from version %d to %d; %s is a copy of version %d", name, up.From, up.To, up.Copy, up.From)
}

type storeBackupCmd struct {
	storeFlags
	File string `arg:"" help:"The new file."`
	JSON bool   `group:"result" name:"json" help:"Print {\"backup\": FILE} as JSON."`
}

func (storeBackupCmd) Help() string {
	return `The copy has every result that was recorded before. It is a store itself: bo study list --store FILE. A copy of the file alone, as by cp, may lack the newest results, which are in FILE-wal. For PostgreSQL use pg_dump.`
}

func (c *storeBackupCmd) Run(e *env) error {
	if isPostgres(c.Store) {
		return usagef("bo store backup copies SQLite files: for PostgreSQL use pg_dump")
	}
	err := sqlite.Backup(e.ctx, cmp.Or(c.Store, defaultStore), c.File)
	if errors.Is(err, os.ErrExist) {
		return usagef("%s exists: give the name of a new file", c.File)
	}
	if err != nil {
		return c.absent(err)
	}
	if c.JSON {
		return printJSON(e.stdout, map[string]string{"backup": c.File})
	}
	_, err = fmt.Fprintf(e.stdout, "copied %s to %s\n", c.shown(), c.File)
	return err
}

// absent describes the error of a store whose file does not exist.
func (f storeFlags) absent(err error) error {
	path := cmp.Or(f.Store, defaultStore)
	if _, missing := os.Stat(path); err == nil || !errors.Is(missing, os.ErrNotExist) {
		return err
	}
	return fmt.Errorf("no studies yet: %s does not exist (give another place with --store or BO_STORE)", filepath.Clean(path))
}
