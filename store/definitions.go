package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// definitions are the parsed definitions of studies by their texts. Parsing takes longer than the
// other work of a Tell, which runs alone in the store.
var definitions = cache{parsed: map[string]*parsed{}}

const maxDefinitions = 256

type cache struct {
	mu     sync.Mutex
	parsed map[string]*parsed
}

// parsed is a definition and its space. Callers must not change them.
type parsed struct {
	definition *study.Definition
	space      *space.Space
}

// get returns the parsed form of a text. The error wraps ErrUnreadable.
func (c *cache) get(text []byte) (*parsed, error) {
	c.mu.Lock()
	found := c.parsed[string(text)]
	c.mu.Unlock()
	if found != nil {
		return found, nil
	}
	found, err := parse(text)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for old := range c.parsed {
		if len(c.parsed) < maxDefinitions {
			break
		}
		delete(c.parsed, old)
	}
	c.parsed[string(text)] = found
	return found, nil
}

// parse returns the parsed form of a text. The error wraps ErrUnreadable.
func parse(text []byte) (*parsed, error) {
	d, err := study.Parse(text)
	if err != nil {
		return nil, unreadable(err)
	}
	s, err := d.Space()
	if err != nil {
		return nil, unreadable(err)
	}
	return &parsed{d, s}, nil
}

// budgets are the budgets of the definitions in a list of studies, by the hashes of their texts. A
// list of thousands of studies would displace the definitions in use from a cache.
type budgets struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]budget
}

type budget struct {
	trials int
	fault  string // the reason for which the definition cannot be read
}

// of returns the budgets of rows, and keeps these alone.
func (b *budgets) of(rows []Row) []budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := make(map[[sha256.Size]byte]budget, len(rows))
	out := make([]budget, len(rows))
	for i := range rows {
		key := sha256.Sum256(rows[i].Definition)
		found, ok := b.known[key]
		if !ok {
			found, ok = next[key]
		}
		if !ok {
			if p, err := parse(rows[i].Definition); err != nil {
				found.fault = err.Error()
			} else {
				found.trials = p.definition.Budget
			}
		}
		next[key], out[i] = found, found
	}
	b.known = next
	return out
}

// unreadable returns the error of a stored definition. A definition of a newer version has keys that this
// program lacks, so the version alone is its fault.
func unreadable(err error) error {
	if faults, ok := errors.AsType[space.Faults](err); ok {
		for _, fault := range faults {
			if f, ok := errors.AsType[*study.Fault](fault); ok && len(f.Path) == 1 && f.Path[0] == "version" {
				return fmt.Errorf("%w: %w", ErrUnreadable, fault)
			}
		}
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}
