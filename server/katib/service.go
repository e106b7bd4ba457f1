package katib

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"connectrpc.com/connect"

	healthv1 "github.com/functionspace/bo/api/grpc/health/v1"
	"github.com/functionspace/bo/api/grpc/health/v1/healthv1connect"
	api "github.com/functionspace/bo/api/katib/v1beta1"
	"github.com/functionspace/bo/api/katib/v1beta1/katibv1beta1connect"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// Options are the settings of a Service. The zero value is the default.
type Options struct {
	// Log receives a line for each request for suggestions. Nil discards them.
	Log *slog.Logger
	// Fit is the time of a computation of suggestions. Katib waits for 60 seconds. After Fit the
	// suggestions are points of the initial design. 0 is 40 seconds.
	Fit time.Duration
}

// Service implements api.v1.beta1.Suggestion. It is safe for concurrent use.
type Service struct {
	log *slog.Logger
	fit time.Duration
	one chan struct{} // held by a computation: they take turns, which bounds the memory
}

var _ katibv1beta1connect.SuggestionHandler = (*Service)(nil)

// New returns a Service.
func New(o Options) *Service {
	return &Service{cmp.Or(o.Log, slog.New(slog.DiscardHandler)), cmp.Or(o.Fit, 40*time.Second), make(chan struct{}, 1)}
}

const (
	maxPoints = 1000 // of a request
	maxUnseen = 32
)

// document returns the request of bo suggest for a request of Katib, and warnings about trials that
// are left out. Katib sends no trials that it has not created yet and no trials without metrics. N is
// then larger by their number, up to maxUnseen, and the reply has the last points: the first are the
// points of the trials that Katib leaves out, or near them.
func (e *experiment) document(r *api.GetSuggestionsRequest) (q *study.Request, warnings []string, err error) {
	n := int(r.GetCurrentRequestNumber())
	switch {
	case n < 1 || n > maxPoints:
		return nil, nil, fmt.Errorf("current_request_number is %d, want 1 to %d", n, maxPoints)
	case len(r.GetTrials()) > maxTrials:
		return nil, nil, fmt.Errorf("%d trials, want at most %d", len(r.GetTrials()), maxTrials)
	}
	sp, err := e.study.Space()
	if err != nil {
		return nil, nil, err
	}
	q = &study.Request{Version: study.Version, Study: e.study}
	for _, t := range r.GetTrials() {
		told, err := e.told(t)
		if err == nil {
			_, err = sp.PointOf(told.Params)
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("trial %s is left out: %v", t.GetName(), err))
			continue
		}
		q.Trials = append(q.Trials, told)
	}
	unseen := int(r.GetTotalRequestNumber()) - n - len(r.GetTrials())
	q.N = n + min(max(0, unseen), maxUnseen)
	return q, warnings, nil
}

// GetSuggestions returns the parameters of the next trials.
func (s *Service) GetSuggestions(ctx context.Context, r *api.GetSuggestionsRequest) (*api.GetSuggestionsReply, error) {
	begun := time.Now()
	if r.GetCurrentRequestNumber() == 0 {
		return &api.GetSuggestionsReply{}, nil
	}
	e, err := newExperiment(r.GetExperiment())
	if err != nil {
		return nil, invalid(err)
	}
	q, warnings, err := e.document(r)
	if err != nil {
		return nil, invalid(err)
	}
	answer, err := s.suggest(ctx, q)
	if err != nil {
		return nil, coded(ctx, err)
	}
	reply := &api.GetSuggestionsReply{}
	for _, p := range answer.Points[len(answer.Points)-int(r.GetCurrentRequestNumber()):] {
		point, values := &api.GetSuggestionsReply_ParameterAssignments{}, p.Params.Map()
		for i := range e.parameters {
			text, err := e.parameters[i].text(values[e.parameters[i].Name])
			if err != nil {
				return nil, err
			}
			point.Assignments = append(point.Assignments, &api.ParameterAssignment{Name: e.parameters[i].Name, Value: text})
		}
		reply.ParameterAssignments = append(reply.ParameterAssignments, point)
	}
	for _, w := range warnings {
		s.log.WarnContext(ctx, w, "experiment", r.GetExperiment().GetName())
	}
	s.log.InfoContext(ctx, "suggestions", "experiment", r.GetExperiment().GetName(), "trials", len(r.GetTrials()),
		"suggestions", len(reply.ParameterAssignments), "source", string(answer.Points[len(answer.Points)-1].Source), "seconds", time.Since(begun).Seconds())
	return reply, nil
}

// suggest answers a request of bo suggest. After the time of a fit it returns points of the initial design.
func (s *Service) suggest(ctx context.Context, q *study.Request) (*study.Response, error) {
	limited, cancel := context.WithTimeout(ctx, s.fit)
	defer cancel()
	answer, err := s.inTurn(limited, q)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "no fit in time: the suggestions are points of the initial design", "limit", s.fit.String(), "trials", len(q.Trials))
		design := *q.Study
		design.Initial = len(q.Trials) + q.N
		return study.Suggest(ctx, &study.Request{Version: q.Version, Study: &design, Trials: q.Trials, N: q.N})
	}
	if err == nil && len(answer.Points) < q.N {
		err = fmt.Errorf("%w: %d of %d points", loop.ErrExhausted, len(answer.Points), q.N)
	}
	return answer, err
}

// inTurn answers a request after all requests before it.
func (s *Service) inTurn(ctx context.Context, q *study.Request) (*study.Response, error) {
	select {
	case s.one <- struct{}{}:
		defer func() { <-s.one }()
		return study.Suggest(ctx, q)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ValidateAlgorithmSettings validates an experiment.
func (s *Service) ValidateAlgorithmSettings(ctx context.Context, r *api.ValidateAlgorithmSettingsRequest) (*api.ValidateAlgorithmSettingsReply, error) {
	e, err := newExperiment(r.GetExperiment())
	if err == nil {
		_, err = study.Suggest(ctx, &study.Request{Version: study.Version, Study: e.study, Action: study.ActionCheck})
	}
	if err != nil {
		s.log.WarnContext(ctx, "invalid experiment", "experiment", r.GetExperiment().GetName(), "error", invalid(err).Message())
		return nil, invalid(err)
	}
	return &api.ValidateAlgorithmSettingsReply{}, nil
}

// oneLine joins the lines of a message.
var oneLine = strings.NewReplacer("\n", "; ", "loop: ", "")

// invalid returns an error about an experiment, in one line.
func invalid(err error) *connect.Error {
	return connect.NewError(connect.CodeInvalidArgument, errors.New(oneLine.Replace(err.Error())))
}

// coded returns an error of a computation with its code.
func coded(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	case ctx.Err() != nil:
		return connect.NewError(connect.CodeCanceled, err)
	case errors.Is(err, study.ErrInvalid), errors.Is(err, study.ErrRequest), errors.Is(err, space.ErrInvalid), errors.Is(err, loop.ErrOptions):
		return invalid(err)
	}
	return connect.NewError(connect.CodeFailedPrecondition, errors.New(oneLine.Replace(err.Error())))
}

// health implements grpc.health.v1.Health for the probes of Katib and Kubernetes.
type health struct {
	healthv1connect.UnimplementedHealthHandler
}

// probed is the name under which Katib's controller probes a suggestion service.
const probed = "manager.v1beta1.Suggestion"

// Check returns SERVING for the service, for the name that Katib probes, and for "".
func (health) Check(_ context.Context, r *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	switch r.GetService() {
	case "", probed, katibv1beta1connect.SuggestionName:
		return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}, nil
	}
	return nil, connect.NewError(connect.CodeNotFound, errors.New("unknown service"))
}
