package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"connectrpc.com/connect"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/internal/plaintext"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/server/internal/wire"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 10 * time.Second
	askTime    = 10 * time.Minute // of one request for a trial, which may wait for a fit
	callTime   = time.Minute      // of another request
	lastTime   = 10 * time.Second // of the requests for a result after an interrupt

	// refusalTime is the time in which requests with a refused token are repeated, if the token was valid
	// before. Results of long evaluations then outlast a fault of the service's file of tokens.
	refusalTime = 5 * time.Minute
)

// temporary reports an error after which a request is repeated.
func temporary(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeUnknown, connect.CodeDeadlineExceeded, connect.CodeResourceExhausted, connect.CodeAborted, connect.CodeInternal, connect.CodeCanceled:
		return true
	}
	return false
}

// unauthorized reports an error of the token.
func unauthorized(err error) bool {
	code := connect.CodeOf(err)
	return code == connect.CodeUnauthenticated || code == connect.CodePermissionDenied
}

// message returns the text of an error without its code.
func message(err error) string {
	if e, ok := errors.AsType[*connect.Error](err); ok {
		return e.Message()
	}
	return err.Error()
}

// pause waits. It returns the error of ctx if that ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// call repeats a request until it is answered.
func call[Q, A any](ctx context.Context, w *worker, limit time.Duration, do func(context.Context, *Q) (*A, error), q *Q) (answer *A, err error) {
	err = w.repeat(ctx, limit, func(ctx context.Context) (err error) {
		answer, err = do(ctx, q)
		return err
	})
	return answer, err
}

// repeat repeats a request until it is answered. Pauses double, and vary, so that the requests of
// many workers spread after a restart of the server.
func (w *worker) repeat(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	var refusal time.Time // the first one
	for wait := firstPause; ; wait = min(2*wait, maxPause) {
		limited, cancel := context.WithTimeout(ctx, limit)
		err := do(limited)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case unauthorized(err) && w.admitted.Load():
			if refusal.IsZero() {
				refusal = time.Now()
			}
			if time.Since(refusal) >= refusalTime {
				return err
			}
		case !temporary(err):
			return err
		}
		wait := wait/2 + mathrand.N(wait)
		if w.opts.OnRetry != nil {
			w.opts.OnRetry(err, wait)
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

func (w *worker) get(ctx context.Context) (*bov1.GetStudyResponse, error) {
	return call(ctx, w, callTime, w.client.GetStudy, &bov1.GetStudyRequest{Study: w.opts.Study})
}

// define reads the definition of the study. It returns the error of store.Edited after an edit.
func (w *worker) define(ctx context.Context) error {
	r, err := w.get(ctx)
	if err != nil {
		return err
	}
	d, err := definitionOf(r)
	if err != nil {
		return err
	}
	sp, err := d.Space()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.definition != nil {
		if err := store.Edited(w.definition, d); err != nil {
			return fmt.Errorf("study %s: %w", w.opts.Study, err)
		}
	}
	w.definition, w.space = d, sp
	return nil
}

// patience is the time in which Definition reaches the server.
const patience = 10 * time.Second

// Definition returns the definition of the study. It repeats a request that fails because the server
// cannot be reached for ten seconds: the server may be starting.
func Definition(ctx context.Context, client Client, o Options) (*study.Definition, error) {
	var last error
	retry := o.OnRetry
	o.OnRetry = func(err error, wait time.Duration) {
		if last = err; retry != nil {
			retry(err, wait)
		}
	}
	limited, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer in %v", patience))
	defer cancel()
	r, err := (&worker{client: client, opts: o}).get(limited)
	switch {
	case err == nil:
		return definitionOf(r)
	case ctx.Err() == nil && limited.Err() != nil && last != nil:
		return nil, last
	case ctx.Err() == nil && limited.Err() != nil:
		return nil, connect.NewError(connect.CodeUnavailable, err)
	}
	return nil, err
}

func definitionOf(r *bov1.GetStudyResponse) (*study.Definition, error) {
	text, err := wire.Definition(r.Definition)
	if err != nil {
		return nil, err
	}
	return study.Parse(text)
}

// point returns the point of a trial. It reads the definition again if the point is not in the space:
// the study may have been edited.
func (w *worker) point(ctx context.Context, a *bov1.Assignment) (p space.Point, err error) {
	for range 2 {
		w.mu.Lock()
		sp := w.space
		w.mu.Unlock()
		if p, err = sp.PointOf(a.Params.AsMap()); err == nil {
			return p, nil
		}
		if err := w.define(ctx); err != nil {
			return p, err
		}
	}
	return p, fmt.Errorf("trial %d: %w", a.Trial, err)
}

// ask asks for one trial.
func (w *worker) ask(ctx context.Context) (*bov1.Assignment, error) {
	q := &bov1.AskRequest{Study: w.opts.Study, N: 1, Worker: w.opts.Name, Key: rand.Text()}
	r, err := call(ctx, w, askTime, w.client.Ask, q)
	if err != nil {
		if ctx.Err() != nil { // the server may have issued a trial
			w.giveBack(ctx, &bov1.ReleaseRequest{Study: q.Study, Key: q.Key})
		}
		return nil, err
	}
	w.admitted.Store(true)
	if len(r.Trials) != 1 {
		return nil, fmt.Errorf("the server issued %d trials, want 1", len(r.Trials))
	}
	return r.Trials[0], nil
}

// heartbeats extends the lease of an attempt until ctx ends. It calls cancel if the attempt is lost.
func (w *worker) heartbeats(ctx context.Context, cancel func(), a *bov1.Assignment) {
	every := a.Heartbeat.AsDuration()
	if every <= 0 {
		return
	}
	for pause(ctx, every) == nil {
		if w.lost(ctx, min(callTime, 2*every), a) { // half a lease: a repeated request is in time
			cancel()
			return
		}
	}
}

// lost extends the lease of an attempt, and reports whether the attempt is lost.
func (w *worker) lost(ctx context.Context, limit time.Duration, a *bov1.Assignment) bool {
	q := &bov1.HeartbeatRequest{Study: w.opts.Study, Attempts: []*bov1.Attempt{{Trial: a.Trial, Token: a.Token}}}
	r, err := call(ctx, w, limit, w.client.Heartbeat, q)
	return err == nil && len(r.Lost) > 0
}

// report reports steps. It also stops the trial if rule, the reason of a rule of the evaluation, is not "". It
// returns the reason and loop.ErrStopped if the trial is stopped.
func (w *worker) report(ctx context.Context, a *bov1.Assignment, rule string, steps []loop.Step) (reason string, err error) {
	q := &bov1.ReportStepsRequest{Study: w.opts.Study, Trial: a.Trial, Token: a.Token, Stop: plaintext.Clean(rule[:min(len(rule), store.MaxMessage)])}
	for _, s := range steps {
		q.Steps = append(q.Steps, &bov1.Step{Step: s.Step, Value: s.Value})
	}
	r, err := call(ctx, w, callTime, w.client.ReportSteps, q)
	if err != nil || !r.Stop {
		return "", err
	}
	return r.Reason, fmt.Errorf("%w: trial %d: %s", loop.ErrStopped, a.Trial, r.Reason)
}

// release returns an attempt to the study.
func (w *worker) release(ctx context.Context, a *bov1.Assignment) {
	w.giveBack(ctx, &bov1.ReleaseRequest{Study: w.opts.Study, Attempts: []*bov1.Attempt{{Trial: a.Trial, Token: a.Token}}})
}

// giveBack makes a request, also after the end of ctx. Without an answer in a second the trial waits again when its
// lease ends.
func (w *worker) giveBack(ctx context.Context, q *bov1.ReleaseRequest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = w.client.Release(ctx, q)
}

// tell stores a result. A result that the server does not take, because another attempt was first, is
// dropped. A result that an edit of the study made invalid is a NotStored with store.ErrEdited. After the end of
// ctx it has a moment.
func (w *worker) tell(ctx context.Context, a *bov1.Assignment, t store.Trial, r store.Report, unreported bool) error {
	after, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(lastTime, func() { cancel(fmt.Errorf("no answer in %v", lastTime)) })
	})
	defer stop()
	r.Message, r.Output = plaintext.Clean(r.Message[:min(len(r.Message), store.MaxMessage)]), plaintext.Clean(r.Output[max(0, len(r.Output)-2*store.MaxOutput):])
	var err error
	latest := 0
	if r.Failure == "" {
		_, err = call(after, w, callTime, w.client.Tell, &bov1.TellRequest{
			Study: w.opts.Study, Trial: a.Trial, Token: a.Token, Numbers: r.Numbers, Message: r.Message, Output: r.Output, Seconds: r.Seconds, Key: a.Token,
		})
	} else {
		var failed *bov1.FailResponse
		failed, err = call(after, w, callTime, w.client.Fail, &bov1.FailRequest{
			Study: w.opts.Study, Trial: a.Trial, Token: a.Token, Failure: string(r.Failure), Message: r.Message, Numbers: r.Numbers, Output: r.Output, Seconds: r.Seconds, Key: a.Token,
		})
		latest = int(failed.GetAlike())
	}
	if connect.CodeOf(err) == connect.CodeAlreadyExists {
		return nil
	}
	if connect.CodeOf(err) == connect.CodeInvalidArgument { // the study may have been edited
		if edited := w.define(after); errors.Is(edited, store.ErrEdited) {
			err = edited
		}
		w.release(after, a)
	}
	if err != nil {
		r.Trial = t.Number
		return &store.NotStored{Report: r, Err: err}
	}
	if w.opts.OnEnd != nil {
		w.opts.OnEnd(t, r)
	}
	return w.note(r, unreported, latest)
}
