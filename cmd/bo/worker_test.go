package main

import (
	"context"
	"errors"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// The message of a worker has all results that are lost, without codes of the service.
func TestExplainedLostResults(t *testing.T) {
	lost := func(n int) error {
		return &store.NotStored{Report: store.Report{Trial: n}, Err: connect.NewError(connect.CodeUnavailable, errors.New("down"))}
	}
	err := (&workerCmd{Server: "http://localhost"}).explained(errors.Join(errors.Join(context.Canceled, lost(1)), lost(2)))
	require.EqualError(t, err, "context canceled\nthe result of trial 1 is not stored: http://localhost: down\nthe result of trial 2 is not stored: http://localhost: down")
}
