package exchange

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"github.com/functionspace/bo/store/internal/sqliteerr"
)

// schemaVersion is the version of Optuna's tables since Optuna 2, and revisions are their
// alembic revisions since Optuna 3.
const schemaVersion = 12

var revisions = []string{"v3.0.0.d", "v3.2.0.a"}

// ReadSQLite reads a study from an SQLite file of Optuna, without writing to it. The name
// may be empty if the file holds one study. Times in the file are taken as local.
// Errors wrap ErrFormat or ErrTooLarge, or os.ErrNotExist.
func ReadSQLite(ctx context.Context, path, name string) (*Import, error) {
	in, err := readSQLite(ctx, path, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return in, nil
}

func readSQLite(ctx context.Context, path, name string) (*Import, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: not a regular file", ErrFormat)
	case info.Size() > MaxSize:
		return nil, ErrTooLarge
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "busy_timeout(10000)"}, "_time_format": {"sqlite"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one snapshot of all rows
	if err != nil {
		return nil, sqliteerr.Plain(err)
	}
	defer func() { _ = tx.Rollback() }()
	d := &database{ctx: ctx, tx: tx, distributions: map[string]*distribution{}}
	in, err := d.read(name)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, unreadable(sqliteerr.Plain(err))
	}
	return in, nil
}

// database is an SQLite file of Optuna.
type database struct {
	ctx           context.Context
	tx            *sql.Tx
	distributions map[string]*distribution // distributions by JSON text
}

func (d *database) read(name string) (*Import, error) {
	if err := d.version(); err != nil {
		return nil, err
	}
	var studies []*optunaStudy
	var ids []int64
	err := d.each("SELECT study_id, study_name FROM studies ORDER BY study_id", nil, func(scan func(...any) error) error {
		s, id := &optunaStudy{system: map[string]json.RawMessage{}}, int64(0)
		err := scan(&id, &s.name)
		studies, ids = append(studies, s), append(ids, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	s, err := choose(studies, name)
	if err != nil {
		return nil, err
	}
	id := ids[slices.Index(studies, s)]
	if err := errors.Join(d.directions(s, id), d.attributes("study_system_attributes", "study_id = ?", id, func(_ int64, key string, v json.RawMessage) error {
		s.system[key] = v
		return nil
	})); err != nil {
		return nil, err
	}
	if err := d.trials(s, id); err != nil {
		return nil, err
	}
	return s.study()
}

// version returns an error unless the tables have the version that this program reads.
func (d *database) version() error {
	var tables int
	err := d.tx.QueryRowContext(d.ctx, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('version_info', 'alembic_version', 'studies', 'trials')").Scan(&tables)
	if err != nil {
		return err
	}
	if tables < 4 {
		return errors.New("an SQLite file, but not one of Optuna")
	}
	var schema int
	var library, revision string
	if err := d.tx.QueryRowContext(d.ctx, "SELECT schema_version, library_version FROM version_info").Scan(&schema, &library); err != nil {
		return err
	}
	if err := d.tx.QueryRowContext(d.ctx, "SELECT version_num FROM alembic_version").Scan(&revision); err != nil {
		return err
	}
	if schema != schemaVersion || !slices.Contains(revisions, revision) {
		return fmt.Errorf("its schema is %d, revision %s, of Optuna %s: want %d, revision %s (optuna storage upgrade converts older files)",
			schema, revision, library, schemaVersion, strings.Join(revisions, " or "))
	}
	return nil
}

// each calls f for every row of a query.
func (d *database) each(query string, args []any, f func(scan func(...any) error) error) error {
	rows, err := d.tx.QueryContext(d.ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (d *database) directions(s *optunaStudy, id int64) error {
	return d.each("SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective", []any{id}, func(scan func(...any) error) error {
		var direction string
		err := scan(&direction)
		s.directions = append(s.directions, map[string]int{"MINIMIZE": 1, "MAXIMIZE": 2}[direction])
		return err
	})
}

// attributes calls f for the rows of a table of attributes.
func (d *database) attributes(table, where string, id int64, f func(owner int64, key string, v json.RawMessage) error) error {
	column := "trial_id"
	if strings.HasPrefix(table, "study") {
		column = "study_id"
	}
	return d.each("SELECT "+column+", key, value_json FROM "+table+" WHERE "+where, []any{id}, func(scan func(...any) error) error {
		var owner int64
		var key, value string
		if err := scan(&owner, &key, &value); err != nil {
			return err
		}
		text := pythonJSON([]byte(value))
		if !json.Valid(text) {
			return fmt.Errorf("attribute %q is not JSON", key)
		}
		return f(owner, key, text)
	})
}

var states = map[string]optunaState{
	"RUNNING": optunaRunning, "COMPLETE": optunaComplete, "PRUNED": optunaPruned, "FAIL": optunaFailed, "WAITING": optunaWaiting,
}

// trials reads the trials of a study, table by table.
func (d *database) trials(s *optunaStudy, study int64) error {
	byID := map[int64]*optunaTrial{}
	const columns = "trial_id, state, CAST(datetime_start AS TEXT), CAST(datetime_complete AS TEXT)"
	err := d.each("SELECT "+columns+" FROM trials WHERE study_id = ? ORDER BY number, trial_id", []any{study}, func(scan func(...any) error) error {
		t := &optunaTrial{intermediate: map[int64]float64{}, user: map[string]json.RawMessage{}, system: map[string]json.RawMessage{}}
		var id int64
		var state string
		var start, complete *string
		if err := scan(&id, &state, &start, &complete); err != nil {
			return err
		}
		var ok bool
		if t.state, ok = states[state]; !ok {
			return fmt.Errorf("state %q of a trial is not one of Optuna's", state)
		}
		var err, err2 error
		t.start, err = optunaTime(start)
		t.complete, err2 = optunaTime(complete)
		s.trials, byID[id] = append(s.trials, t), t
		return errors.Join(err, err2)
	})
	if err != nil {
		return err
	}
	const of = "trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)"
	return errors.Join(
		d.params(of, study, byID),
		d.values(of, study, byID),
		d.steps(of, study, byID),
		d.attributes("trial_user_attributes", of, study, func(id int64, key string, v json.RawMessage) error {
			byID[id].user[key] = v
			return nil
		}),
		d.attributes("trial_system_attributes", of, study, func(id int64, key string, v json.RawMessage) error {
			byID[id].system[key] = v
			return nil
		}))
}

func (d *database) params(of string, study int64, byID map[int64]*optunaTrial) error {
	return d.each("SELECT trial_id, param_name, param_value, distribution_json FROM trial_params WHERE "+of+" ORDER BY param_id", []any{study}, func(scan func(...any) error) error {
		var id int64
		var p optunaParam
		var text string
		if err := scan(&id, &p.name, &p.internal, &text); err != nil {
			return err
		}
		if p.distribution = d.distributions[text]; p.distribution == nil {
			var err error
			if p.distribution, err = parseDistribution(text); err != nil {
				return fmt.Errorf("parameter %q: %w", p.name, err)
			}
			d.distributions[text] = p.distribution
		}
		byID[id].params = append(byID[id].params, p)
		return nil
	})
}

// special returns the number of a row whose value may be infinite or NaN.
func special(v sql.NullFloat64, kind string) float64 {
	switch kind {
	case "INF_POS":
		return math.Inf(1)
	case "INF_NEG":
		return math.Inf(-1)
	case "FINITE":
		if v.Valid {
			return v.Float64
		}
	}
	return math.NaN()
}

func (d *database) values(of string, study int64, byID map[int64]*optunaTrial) error {
	return d.each("SELECT trial_id, value, value_type FROM trial_values WHERE "+of+" ORDER BY trial_id, objective", []any{study}, func(scan func(...any) error) error {
		var id int64
		var v sql.NullFloat64
		var kind string
		err := scan(&id, &v, &kind)
		if t := byID[id]; t != nil {
			t.values = append(t.values, special(v, kind))
		}
		return err
	})
}

func (d *database) steps(of string, study int64, byID map[int64]*optunaTrial) error {
	return d.each("SELECT trial_id, step, intermediate_value, intermediate_value_type FROM trial_intermediate_values WHERE "+of, []any{study}, func(scan func(...any) error) error {
		var id, step int64
		var v sql.NullFloat64
		var kind string
		err := scan(&id, &step, &v, &kind)
		if t := byID[id]; t != nil {
			t.intermediate[step] = special(v, kind)
		}
		return err
	})
}
