package server

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
	"github.com/functionspace/bo/surrogate"
)

// errInternal is the answer for faults of the server. The log has the error.
var errInternal = errors.New("internal error, which the log of the server describes")

// errLimit is the cause of a context that Limits.Wait ends.
var errLimit = errors.New("the suggestions take longer than the server allows")

// errClosing is the answer while the server shuts down.
var errClosing = connect.NewError(connect.CodeUnavailable, errors.New("the server shuts down: repeat the request"))

// invalid returns an error about a request.
func invalid(format string, args ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf(format, args...))
}

// codes are the codes of errors, in the order in which they are compared.
var codes = []struct {
	is   error
	code connect.Code
}{
	{store.ErrNoStudy, connect.CodeNotFound},
	{store.ErrNoTrial, connect.CodeNotFound},
	{store.ErrUnreadable, connect.CodeFailedPrecondition},
	{store.ErrNewer, connect.CodeUnavailable}, // clients repeat the request, and reach a newer server
	{store.ErrExists, connect.CodeAlreadyExists},
	{store.ErrConflict, connect.CodeAlreadyExists},
	{store.ErrKey, connect.CodeAlreadyExists},
	{store.ErrBudget, connect.CodeOutOfRange},
	{store.ErrExhausted, connect.CodeOutOfRange},
	{store.ErrTarget, connect.CodeOutOfRange},
	{store.ErrCost, connect.CodeOutOfRange},
	{store.ErrFailures, connect.CodeOutOfRange},
	{study.ErrInvalid, connect.CodeInvalidArgument},
	{study.ErrRequest, connect.CodeInvalidArgument},
	{space.ErrPoint, connect.CodeInvalidArgument},
	{loop.ErrOptions, connect.CodeInvalidArgument},
	{loop.ErrNotFinite, connect.CodeInvalidArgument},
	{loop.ErrNoValue, connect.CodeFailedPrecondition},
	{loop.ErrUntried, connect.CodeFailedPrecondition},
	{surrogate.ErrNotPositiveDefinite, connect.CodeFailedPrecondition},
}

// retryAfter is the number of seconds after which clients repeat requests that the store could not serve.
const retryAfter = "5"

// unavailable returns the error of a store that cannot serve requests at present.
func unavailable(err error) error {
	e := connect.NewError(connect.CodeUnavailable, fmt.Errorf("%w: repeat the request", err))
	e.Meta().Set("Retry-After", retryAfter)
	return e
}

// coded returns an error with its code. It returns errInternal for faults of the server.
func (s *Server) coded(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*connect.Error](err); ok || err == nil {
		return err
	}
	switch {
	case errors.Is(err, store.ErrUnavailable): // the error may have the address
		s.opts.Log.ErrorContext(ctx, "the store is unavailable", "error", err.Error())
		return unavailable(store.ErrUnavailable)
	case errors.Is(err, store.ErrDenied): // clients repeat the request, and keep results until the role is corrected
		s.opts.Log.ErrorContext(ctx, "the store denies a request", "error", err.Error())
		return unavailable(store.ErrDenied)
	case s.closing.Err() != nil && errors.Is(err, context.Canceled):
		return errClosing
	case errors.Is(context.Cause(ctx), errLimit):
		return connect.NewError(connect.CodeResourceExhausted, errLimit)
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded)
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, context.Canceled)
	}
	for _, c := range codes {
		if errors.Is(err, c.is) {
			return connect.NewError(c.code, err)
		}
	}
	s.opts.Log.ErrorContext(ctx, "internal error", "error", err.Error())
	return connect.NewError(connect.CodeInternal, errInternal)
}
