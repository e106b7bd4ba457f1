package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/functionspace/bo/study"
)

// ReplyAge is the time for which Prune keeps the reply to a request with a key.
const ReplyAge = 7 * 24 * time.Hour

// Prune deletes the replies to requests with a key that are older than ReplyAge. A later repetition of such a request is
// a new request. It does nothing if the backend is no Pruner.
func (s *Store) Prune(ctx context.Context) error {
	if p, ok := s.backend.(Pruner); ok {
		return p.PruneReplies(ctx, ReplyAge)
	}
	return nil
}

// CreateOnce is Create for a request that may be repeated: with key, a repeated call changes
// nothing and returns the study that the first call created. The error wraps ErrKey if the first call
// had another definition. Earlier evaluations of the definition are not compared.
func (s *Store) CreateOnce(ctx context.Context, key string, d *study.Definition) (*Study, error) {
	if err := checkText("the key", key); err != nil {
		return nil, named(d.Name, err)
	}
	if key == "" {
		return s.Create(ctx, d)
	}
	return s.create(ctx, "create "+key, d)
}

// reply is the key under which the reply to a keyed Ask is stored.
func (a *asking) reply() string { return "ask " + a.key }

// issued is a Trial with its token, in the reply to a keyed Ask.
type issued struct {
	Trial
	Attempted string `json:"token"`
	Wanted    int    `json:"wanted,omitempty"` // trials that the Ask wanted; 0 in replies of earlier versions

	Given json.RawMessage `json:"given,omitempty"` // values of the Ask
}

// record stores the reply to a keyed Ask: the trials that it has and those that it claims.
func (a *asking) record(tx Tx, row *Row, claimed []Trial) error {
	if a.key == "" {
		return nil
	}
	var reply []issued
	for _, trials := range [][]Trial{a.got, claimed} {
		for _, t := range trials {
			reply = append(reply, issued{t, t.Token, a.want, a.given.text})
		}
	}
	text, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	return tx.PutReply(row.ID, a.reply(), text)
}

// answered reports whether an Ask with the same key was answered, and reads its trials. A reply
// that this Ask stored, in a transaction that was repeated, has the trials of this Ask.
func (a *asking) answered(tx Tx, row *Row) (yes bool, err error) {
	a.first, err = a.answer(tx, row)
	return a.first != nil, err
}

// answer returns the trials of the stored reply, nil if there is none. The error wraps ErrKey if the Ask of the reply
// wanted another number of trials, was given other values, or is withdrawn.
func (a *asking) answer(tx Tx, row *Row) (trials []Trial, err error) {
	if a.key == "" {
		return nil, nil
	}
	reply, found, err := a.replied(tx, row)
	if found && len(reply) == 0 {
		return nil, fmt.Errorf("%w: %q is withdrawn", ErrKey, a.key)
	}
	for _, t := range reply {
		if t.Wanted != 0 && t.Wanted != a.want {
			return nil, fmt.Errorf("%w: %q has n = %d", ErrKey, a.key, t.Wanted)
		}
		if !bytes.Equal(t.Given, a.given.text) {
			return nil, fmt.Errorf("%w: %q has the given values %s", ErrKey, a.key, cmp.Or(string(t.Given), "{}"))
		}
		t.Token = t.Attempted
		trials = append(trials, t.Trial)
	}
	return trials, err
}

// replied returns the stored reply to a keyed Ask. A reply without trials withdraws the Ask.
func (a *asking) replied(tx Tx, row *Row) (reply []issued, found bool, err error) {
	text, err := tx.Reply(row.ID, a.reply())
	if err != nil || text == nil {
		return nil, false, err
	}
	err = json.Unmarshal(text, &reply)
	return reply, err == nil, err
}

// Withdraw returns the trials of the AskOnce with a key to the study. It is for a caller that needs no answer any
// more, for example after an interrupt. An AskOnce with the key that is under way, or comes later, issues nothing.
// Its error wraps ErrKey.
func (u *Study) Withdraw(ctx context.Context, key string) error {
	if err := checkText("the key", key); err != nil {
		return named(u.name, err)
	}
	a := &asking{Study: u, key: key}
	return named(u.name, u.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		reply, _, err := a.replied(tx, row)
		if err != nil {
			return err
		}
		attempts := make([]Attempt, len(reply))
		for i, t := range reply {
			attempts[i] = Attempt{t.Number, t.Attempted}
		}
		if err := release(tx, row, now, attempts); err != nil {
			return err
		}
		return errors.Join(tx.PutReply(row.ID, a.reply(), nil), tx.PutReply(row.ID, a.reply(), []byte("[]"))) // which replaces the reply
	}))
}

// Answer returns the trials of the first AskOnce with the key of r, nil if none was answered. The error wraps ErrKey if that
// call had another N or was given other values.
func (u *Study) Answer(ctx context.Context, r AskRequest) ([]Trial, error) {
	given, err := u.given(ctx, r.Given)
	if err != nil {
		return nil, named(u.name, err)
	}
	a := &asking{Study: u, key: r.Key, given: given, want: r.N}
	err = u.store.view(ctx, func(tx Tx) error {
		row, err := tx.Study(u.name)
		if err == nil {
			_, err = a.answered(tx, row)
		}
		return err
	})
	return a.first, named(u.name, err)
}

// settle stores the reply to a keyed Ask that has fewer trials than it wants.
func (a *asking) settle(ctx context.Context) error {
	if a.key == "" {
		return nil
	}
	return a.update(ctx, func(tx Tx, row *Row, _ time.Time) error {
		if answered, err := a.answered(tx, row); err != nil || answered {
			return err
		}
		return a.record(tx, row, nil)
	})
}

// admit waits until Options.Admit admits a computation.
func (s *Store) admit(ctx context.Context) (leave func(), err error) {
	if s.opts.Admit == nil {
		return func() {}, nil
	}
	if leave, err = s.opts.Admit(ctx); err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	return leave, nil
}

// once runs f once for a key. A repeated call returns the reply of the first call. Without a key, the reply
// serves a repeated transaction of this call only, and the next such request of this handle deletes it.
func (u *Study) once(ctx context.Context, key string, reply any, f func(tx Tx, row *Row, now time.Time) error) error {
	var spent []spentKey
	keyed := key != ""
	if !keyed {
		key = token()
		spent = u.spent.take()
	}
	if err := checkText("the key", key); err != nil {
		return err
	}
	own := spentKey{key: key}
	err := u.update(ctx, func(tx Tx, row *Row, now time.Time) error {
		own.study = row.ID
		stored, err := tx.Reply(row.ID, key)
		if err != nil {
			return err
		}
		if stored != nil {
			return json.Unmarshal(stored, reply)
		}
		if err := f(tx, row, now); err != nil {
			return err
		}
		for _, old := range spent {
			if old.study == row.ID {
				if err := tx.PutReply(row.ID, old.key, nil); err != nil {
					return err
				}
			}
		}
		text, err := json.Marshal(reply)
		if err != nil {
			return err
		}
		return tx.PutReply(row.ID, key, text)
	})
	switch {
	case keyed:
	case err != nil: // the transaction may be stored nevertheless
		u.spent.add(append(spent, own)...)
	default:
		u.spent.add(own)
	}
	return err
}

// spentKey is the key of a stored reply that serves no further request.
type spentKey struct {
	study int64
	key   string
}

// maxSpent bounds the keys that a handle keeps while its requests fail.
const maxSpent = 64

type spentKeys struct {
	mu   sync.Mutex
	keys []spentKey
}

// take returns the keys and removes them.
func (s *spentKeys) take() []spentKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.keys
	s.keys = nil
	return keys
}

func (s *spentKeys) add(keys ...spentKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, keys...)
	s.keys = s.keys[max(0, len(s.keys)-maxSpent):]
}
