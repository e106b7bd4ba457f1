package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// pruner is a backend that takes the age of replies.
type pruner struct {
	store.Backend
	ages chan time.Duration
	err  error
}

func (p *pruner) PruneReplies(_ context.Context, age time.Duration) error {
	p.ages <- age
	return p.err
}

// The server deletes old replies from its start, and continues after an error.
func TestPrune(t *testing.T) {
	for name, fault := range map[string]error{"": nil, "old replies to requests were not deleted": errors.New("disk full")} {
		p := &pruner{store.NewMemory(), make(chan time.Duration, 1), fault}
		r := start(t, p, Options{})
		require.Equal(t, store.ReplyAge, <-p.ages)
		require.NoError(t, r.Stop(), "it waits for the deletion")
		if fault == nil {
			require.NotContains(t, r.log.String(), "replies")
		} else {
			require.Contains(t, r.log.String(), name)
		}
	}
}
