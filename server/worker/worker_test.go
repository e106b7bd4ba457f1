package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// refusing is a service with one trial that refuses the token in some requests.
type refusing struct {
	Client
	asks, tells []error // answers of the first requests; the last one is repeated
	issued      bool
	mu          sync.Mutex // of released
	released    []*bov1.ReleaseRequest
}

// next removes and returns the next answer.
func next(list *[]error) (err error) {
	if len(*list) > 0 {
		err = (*list)[0]
	}
	if len(*list) > 1 {
		*list = (*list)[1:]
	}
	return err
}

func (s *refusing) GetStudy(context.Context, *bov1.GetStudyRequest) (*bov1.GetStudyResponse, error) {
	d, err := structpb.NewStruct(map[string]any{"name": "bread", "parameters": []any{map[string]any{"name": "x", "type": "float", "min": 0, "max": 1}}})
	return &bov1.GetStudyResponse{Definition: d}, err
}

func (s *refusing) Ask(context.Context, *bov1.AskRequest) (*bov1.AskResponse, error) {
	if err := next(&s.asks); err != nil {
		return nil, err
	}
	if s.issued {
		return nil, connect.NewError(connect.CodeOutOfRange, errors.New("the budget is used up"))
	}
	s.issued = true
	params, err := structpb.NewStruct(map[string]any{"x": 0.5})
	return &bov1.AskResponse{Trials: []*bov1.Assignment{{Trial: 1, Attempt: 1, Token: "t", Params: params}}}, err
}

func (s *refusing) Release(_ context.Context, q *bov1.ReleaseRequest) (*bov1.ReleaseResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = append(s.released, q)
	return &bov1.ReleaseResponse{}, nil
}

func (s *refusing) Tell(context.Context, *bov1.TellRequest) (*bov1.TellResponse, error) {
	return &bov1.TellResponse{}, next(&s.tells)
}

// A result outlasts the refusal of a token that was valid, for some minutes.
func TestRefusedToken(t *testing.T) {
	invalid := connect.NewError(connect.CodeUnauthenticated, errors.New("the token is not valid"))
	weak := connect.NewError(connect.CodePermissionDenied, errors.New("the token has the role read"))
	for _, c := range []struct {
		name        string
		asks, tells []error
		evaluated   int
		want        string
	}{
		{"not refused", nil, nil, 1, ""},
		{"refused for a moment", []error{nil, weak, invalid, nil}, []error{invalid, weak, nil}, 1, ""},
		{"removed", nil, []error{invalid}, 0, "the result of trial 1, value 1, is not stored: unauthenticated: the token is not valid"},
		{"never valid", []error{invalid, nil}, nil, 0, "unauthenticated: the token is not valid"},
		{"of another role", []error{weak, nil}, nil, 0, "permission_denied: the token has the role read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &refusing{asks: c.asks, tells: c.tells}
				retried := time.Duration(0)
				evaluate := func(context.Context, store.Trial, space.Point) (store.Report, error) {
					return store.Report{Numbers: map[string]float64{"value": 1}}, nil
				}
				done, err := Run(t.Context(), s, evaluate, Options{Study: "bread", OnRetry: func(_ error, pause time.Duration) { retried += pause }})
				require.Equal(t, c.evaluated, done.Evaluated)
				if c.want == "" {
					require.NoError(t, err)
					return
				}
				require.EqualError(t, err, c.want)
				require.Equal(t, s.issued, retried >= refusalTime)
			})
		})
	}
}

// away is a service that takes no results.
type away struct {
	refusing
	trials atomic.Int32
}

func (s *away) Ask(context.Context, *bov1.AskRequest) (*bov1.AskResponse, error) {
	params, err := structpb.NewStruct(map[string]any{"x": 0.5})
	return &bov1.AskResponse{Trials: []*bov1.Assignment{{Trial: s.trials.Add(1), Attempt: 1, Token: "t", Params: params}}}, err
}

// An interrupted worker whose server is away returns all results that are lost.
func TestInterruptedWithoutServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var begun sync.WaitGroup
		begun.Add(2)
		s := &away{refusing: refusing{tells: []error{connect.NewError(connect.CodeUnavailable, errors.New("down"))}}}
		_, err := Run(ctx, s, func(_ context.Context, trial store.Trial, _ space.Point) (store.Report, error) {
			begun.Done()
			begun.Wait()
			cancel()
			return store.Report{Numbers: map[string]float64{"value": float64(trial.Number)}}, nil
		}, Options{Study: "bread", Workers: 2})
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "the result of trial 1, value 1, is not stored: no answer in 10s")
		require.ErrorContains(t, err, "the result of trial 2, value 2, is not stored: no answer in 10s")
	})
}

// silent is a service that does not answer the first heartbeat.
type silent struct {
	refusing
	begun time.Time
	beats []time.Duration // since the trial was issued
}

func (s *silent) Ask(ctx context.Context, q *bov1.AskRequest) (*bov1.AskResponse, error) {
	r, err := s.refusing.Ask(ctx, q)
	if err == nil {
		s.begun = time.Now()
		r.Trials[0].Heartbeat = durationpb.New(store.DefaultLease / 4)
	}
	return r, err
}

func (s *silent) Heartbeat(ctx context.Context, _ *bov1.HeartbeatRequest) (*bov1.HeartbeatResponse, error) {
	s.beats = append(s.beats, time.Since(s.begun))
	if len(s.beats) == 1 {
		<-ctx.Done()
		return nil, connect.NewError(connect.CodeDeadlineExceeded, ctx.Err())
	}
	return &bov1.HeartbeatResponse{}, nil
}

// A heartbeat without an answer is repeated before the lease ends.
func TestHeartbeatWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &silent{}
		_, err := Run(t.Context(), s, func(context.Context, store.Trial, space.Point) (store.Report, error) {
			time.Sleep(5 * time.Minute)
			return store.Report{Numbers: map[string]float64{"value": 1}}, nil
		}, Options{Study: "bread"})
		require.NoError(t, err)
		require.Less(t, s.beats[1], store.DefaultLease)
	})
}

// waiting is a service whose computation of a trial does not end.
type waiting struct{ refusing }

func (s *waiting) Ask(ctx context.Context, _ *bov1.AskRequest) (*bov1.AskResponse, error) {
	<-ctx.Done()
	return nil, connect.NewError(connect.CodeDeadlineExceeded, ctx.Err())
}

// late is a service whose answer to an Ask arrives after the interrupt.
type late struct {
	refusing
	interrupt context.CancelFunc
	key       string
}

func (s *late) Ask(ctx context.Context, q *bov1.AskRequest) (*bov1.AskResponse, error) {
	s.key = q.Key
	s.interrupt()
	return nil, connect.NewError(connect.CodeCanceled, ctx.Err())
}

// An interrupted worker withdraws the request for a trial that has no answer.
func TestInterruptedAsk(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &late{interrupt: cancel}
	_, err := Run(ctx, s, nil, Options{Study: "bread"})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, s.released, 1)
	require.NotEmpty(t, s.key)
	require.Equal(t, s.key, s.released[0].Key)
	require.Equal(t, "bread", s.released[0].Study)
}

// hung is a service that answers no Ask and no Release.
type hung struct{ waiting }

func (s *hung) Release(ctx context.Context, _ *bov1.ReleaseRequest) (*bov1.ReleaseResponse, error) {
	<-ctx.Done()
	return nil, connect.NewError(connect.CodeDeadlineExceeded, ctx.Err())
}

// An interrupted worker of a service that hangs ends within a second.
func TestInterruptedAskOfAHungServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		begun := time.Now()
		_, err := Run(ctx, &hung{}, nil, Options{Study: "bread", Workers: 2})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, time.Minute+time.Second, time.Since(begun))
	})
}

// A worker ends at the end of its time, also while it waits for a trial or for the service.
func TestTimeWithoutATrial(t *testing.T) {
	down := connect.NewError(connect.CodeUnavailable, errors.New("down"))
	for _, client := range []Client{&waiting{}, &refusing{asks: []error{down}}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
			defer cancel()
			begun := time.Now()
			done, err := Run(ctx, client, nil, Options{Study: "bread", Time: time.Hour, Workers: 2})
			require.NoError(t, err)
			require.Equal(t, Done{Reason: "the time is used up: 1h0m0s"}, done)
			require.Equal(t, time.Hour, time.Since(begun))
		})
	}
}

// failed keeps the last failure, and stops no trial.
type failed struct {
	refusing
	last *bov1.FailRequest
}

func (s *failed) ReportSteps(context.Context, *bov1.ReportStepsRequest) (*bov1.ReportStepsResponse, error) {
	return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("trial 1 has no steps"))
}

func (s *failed) Fail(_ context.Context, q *bov1.FailRequest) (*bov1.FailResponse, error) {
	s.last = q
	return &bov1.FailResponse{}, nil
}

// stopping stops the trial for the reason of its worker. The first request has no answer.
type stopping struct {
	silent
	stopped time.Duration // since the trial was issued
}

func (s *stopping) ReportSteps(_ context.Context, q *bov1.ReportStepsRequest) (*bov1.ReportStepsResponse, error) {
	if q.Stop != "" && time.Since(s.begun) < 2*store.DefaultLease {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("down"))
	}
	s.stopped = time.Since(s.begun)
	return &bov1.ReportStepsResponse{Stop: q.Stop != "", Reason: "step 1: " + q.Stop}, nil
}

// A rule of the worker stops a trial. Heartbeats go on until the service has stored it.
func TestOwnRuleStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(stopping)
		var trials []store.Trial
		done, err := Run(t.Context(), s, func(ctx context.Context, _ store.Trial, _ space.Point) (store.Report, error) {
			require.NoError(t, loop.Report(ctx, 1, 0.5))
			return store.Report{}, fmt.Errorf("%w: flat", loop.ErrStopped)
		}, Options{Study: "bread", OnStop: func(trial store.Trial) { trials = append(trials, trial) }})
		require.NoError(t, err)
		require.Zero(t, done.Evaluated)
		require.Len(t, trials, 1)
		require.Equal(t, store.Stopped, trials[0].State)
		require.Equal(t, "step 1: flat", trials[0].Message)
		require.Greater(t, s.beats[len(s.beats)-1], s.stopped-store.DefaultLease/4)
	})
}

// A trial that the service does not stop has failed, at once and not when its lease ends.
func TestOwnRuleFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(failed)
		_, err := Run(t.Context(), s, func(context.Context, store.Trial, space.Point) (store.Report, error) {
			return store.Report{}, fmt.Errorf("%w: flat", loop.ErrStopped)
		}, Options{Study: "bread"})
		require.NoError(t, err)
		require.NotNil(t, s.last)
		require.Equal(t, "the trial is stopped: flat (only a trial of one objective is stopped, after a reported step)", s.last.Message)
	})
}

// lost is a service that has issued the trial again while it was down.
type lost struct{ failed }

func (s *lost) ReportSteps(context.Context, *bov1.ReportStepsRequest) (*bov1.ReportStepsResponse, error) {
	return &bov1.ReportStepsResponse{}, nil
}

func (s *lost) Heartbeat(_ context.Context, q *bov1.HeartbeatRequest) (*bov1.HeartbeatResponse, error) {
	return &bov1.HeartbeatResponse{Lost: []int32{q.Attempts[0].Trial}}, nil
}

// A rule of the worker does not make a failure of a trial that another worker evaluates.
func TestOwnRuleOfALostAttempt(t *testing.T) {
	s := new(lost)
	_, err := Run(t.Context(), s, func(context.Context, store.Trial, space.Point) (store.Report, error) {
		return store.Report{}, fmt.Errorf("%w: flat", loop.ErrStopped)
	}, Options{Study: "bread"})
	require.NoError(t, err)
	require.Nil(t, s.last)
}
