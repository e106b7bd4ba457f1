package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/functionspace/bo/loop"
)

// Backend stores the rows of a Store. Package storetest tests implementations.
type Backend interface {
	// Update runs f in a transaction that reads the latest rows and excludes other Updates
	// of the same study. If f returns nil, all its changes are durable when Update returns;
	// otherwise there are none and Update returns f's error. Update may run f again after a
	// lost connection or a conflict, even if the first run was committed. So f must depend
	// only on the rows that it reads.
	Update(ctx context.Context, f func(Tx) error) error
	// View runs f on a consistent snapshot of the rows. f must not write.
	View(ctx context.Context, f func(Tx) error) error
	// Close releases the backend's resources. Later transactions of a database return ErrClosed.
	Close() error
}

// Schema is the version of the tables of a database, and the newest that this program reads.
// A database without studies has version 0.
type Schema struct {
	Version int64 `json:"version"`
	Newest  int64 `json:"newest"`
}

// Upgrade describes an upgrade of the tables of a database. From equals To if there was none.
type Upgrade struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Copy string `json:"copy,omitempty"` // file with the copy of version From
}

// Pinger is a Backend that checks whether this program can use its database.
type Pinger interface {
	Ping(ctx context.Context) error
}

// Upgraded is a Backend that may upgrade its database when it is opened.
type Upgraded interface {
	Upgraded() Upgrade
}

// Pruner is a Backend that deletes old replies to requests. Other backends keep them until their study is deleted.
type Pruner interface {
	// PruneReplies deletes the replies that were stored longer than age ago.
	PruneReplies(ctx context.Context, age time.Duration) error
}

// Pooled is a Backend with a pool of connections to a database.
type Pooled interface {
	Pool() sql.DBStats
}

// Transient is a Tx whose commit need not wait for the disk.
type Transient interface {
	// Transient allows a crash of the database to undo the transaction, as a whole. A later transaction that is on disk
	// has it too.
	Transient()
}

// Tx reads and writes rows within a transaction. The caller may change the returned rows.
type Tx interface {
	// Now returns the time of the store's clock, which is the same for all its processes.
	Now() (time.Time, error)

	// Studies returns all studies in the order of their names.
	Studies() ([]Row, error)
	// Study returns a study, locked until the transaction ends if that is an Update. It
	// returns ErrNoStudy if there is none.
	Study(name string) (*Row, error)
	// PutStudy writes a study. A study without an ID is inserted and its ID is set.
	// Inserting a name that exists returns ErrExists.
	PutStudy(*Row) error
	// DeleteStudy deletes a study and all its rows.
	DeleteStudy(id int64) error

	// Trials returns trials in the order of their numbers.
	Trials(study int64, q Query) ([]Trial, error)
	// PutTrials inserts or replaces trials by number.
	PutTrials(study int64, trials []Trial) error

	// PutFit inserts a fit; Fit returns a fit, or nil if there is none.
	PutFit(study int64, f *Fit) error
	Fit(study int64, number int) (*Fit, error)

	// PutEvents appends events; Events returns up to limit events above a revision.
	PutEvents(study int64, events []Event) error
	Events(study int64, since int64, limit int) ([]Event, error)

	// PutWaiting records that an ask waits for n trials until a time, and deletes records whose
	// time has passed; n = 0 deletes the record alone. Waiting returns the number of trials for which all asks wait.
	PutWaiting(study int64, ask string, n int, until time.Time) error
	Waiting(study int64, now time.Time) (int, error)

	// PutReply stores the reply to a request; a nil reply deletes it. See also Pruner. Reply returns it, or nil if
	// there is none.
	PutReply(study int64, key string, reply json.RawMessage) error
	Reply(study int64, key string) (json.RawMessage, error)

	// PutSteps appends numbers reported by step and ignores their IDs. Steps returns numbers in
	// the order of their IDs.
	PutSteps(study int64, steps []Step) error
	Steps(study int64, q StepQuery) ([]Step, error)
}

// Query selects trials. The zero value selects all.
type Query struct {
	Number  int   // this trial only
	Since   int64 // changed after this revision
	Pending bool  // only pending trials
	// Brief leaves out Prediction, Warnings, Lost, Token, Created, Started and Finished, and
	// Owner and Lease of trials that are not pending.
	Brief bool
}

// StepQuery selects steps. The zero value selects all.
type StepQuery struct {
	Trial int   // of this trial only
	Since int64 // with an ID above this one
}

// Row is a study as a backend stores it.
type Row struct {
	ID         int64
	Name       string
	Definition json.RawMessage
	Created    time.Time

	Revision int64 // number of the last event
	Trials   int   // number of the last trial
	Issued   int   // trials that count against the budget: all except added trials
	Finished int   // finished trials that count against the budget
	Fits     int   // number of the last fit
	Warm     int   // number of the last fit that has a warm start

	FitToken string // token of the fit lease; "" if no process fits
	FitOwner Owner
	FitLease time.Time
}

// ErrExhausted reports a finite space of which every point was tried.
var ErrExhausted = loop.ErrExhausted

// The errors of a store.
var (
	ErrNoStudy  = errors.New("no such study")
	ErrExists   = errors.New("the study exists")
	ErrNoTrial  = errors.New("no such trial")
	ErrConflict = errors.New("conflicting result")
	ErrBudget   = errors.New("the budget is used up")
	ErrOlder    = errors.New("the store was written by an earlier version")
	ErrNewer    = errors.New("the store was written by a newer version")

	// ErrKey reports a key that was used for another request.
	ErrKey = errors.New("the key belongs to another request")

	// ErrEdited reports an edit to which an Evaluate cannot adapt: see Edited.
	ErrEdited = errors.New("the study was edited")

	// ErrUnavailable reports a database that cannot be reached, or stays busy.
	ErrUnavailable = errors.New("the store is unavailable")

	// ErrClosed reports a store that was used after its Close.
	ErrClosed = errors.New("the store is closed")

	// ErrDenied reports a database whose role lacks a privilege, such as the privilege to write.
	ErrDenied = errors.New("the database role of the store lacks a privilege")

	// ErrUnreadable reports a study whose stored definition is not valid, for example because a newer
	// version has written it.
	ErrUnreadable = errors.New("the definition cannot be read")
)
