package store

import (
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
	d, err := study.Parse(text)
	if err != nil {
		return nil, unreadable(err)
	}
	s, err := d.Space()
	if err != nil {
		return nil, unreadable(err)
	}
	found = &parsed{d, s}
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
