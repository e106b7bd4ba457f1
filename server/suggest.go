package server

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/server/internal/wire"
	"github.com/functionspace/bo/study"
)

// Suggest answers the document of bo suggest.
func (s *service) Suggest(ctx context.Context, r *bov1.SuggestRequest) (*bov1.SuggestResponse, error) {
	ctx, cancel := s.limited(ctx, true)
	defer cancel()
	done, err := s.gate.enter(ctx) // requests that wait are not parsed, which takes several times their memory
	if err != nil {
		return nil, s.coded(ctx, err)
	}
	defer done()
	document, err := s.document(r)
	if err != nil {
		return nil, err
	}
	request, err := study.ParseRequest(document)
	if err != nil {
		return nil, err
	}
	if err := s.checkSize(request.Study); err != nil {
		return nil, err
	}
	response, err := study.Suggest(ctx, request)
	if err != nil {
		return nil, s.suggestError(ctx, err)
	}
	return suggestResponse(response)
}

// suggestError is coded for an answer that depends on the request alone: an error that is no fault
// of the request comes from the surrogate model.
func (s *service) suggestError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return s.coded(ctx, err)
	}
	for _, c := range codes {
		if errors.Is(err, c.is) {
			return connect.NewError(c.code, err)
		}
	}
	return connect.NewError(connect.CodeFailedPrecondition, err)
}

// document returns the JSON text of a request.
func (s *service) document(r *bov1.SuggestRequest) ([]byte, error) {
	if n, most := len(r.Trials), s.opts.Limits.Trials; n > most {
		return nil, tooMany("%d trials, the server takes at most %d", n, most)
	}
	if n, most := max(int(r.N), len(r.Queue)), s.opts.Limits.Points; n > most {
		return nil, tooMany("%d points, the server suggests at most %d", n, most)
	}
	m := map[string]any{}
	if r.Study != nil {
		text, err := wire.Definition(r.Study)
		if err != nil {
			return nil, err
		}
		m["study"] = text
	}
	for key, list := range map[string][]*structpb.Struct{"trials": r.Trials, "queue": r.Queue} {
		if len(list) == 0 {
			continue
		}
		objects := make([]map[string]any, len(list))
		for i, v := range list {
			objects[i] = v.AsMap()
		}
		m[key] = objects
	}
	if r.Version != 0 {
		m["version"] = r.Version
	}
	if r.N != 0 {
		m["n"] = r.N
	}
	if r.Given != nil {
		m["given"] = r.Given.AsMap()
	}
	if r.Action != "" {
		m["action"] = r.Action
	}
	if r.Report != nil {
		m["report"] = r.Report.AsMap()
	}
	if len(r.Warm) > 0 {
		m["warm"] = r.Warm
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, invalid("%w: a number is not finite", study.ErrRequest)
	}
	return text, nil
}

func tooMany(format string, args ...any) error {
	err := invalid(format, args...)
	return connect.NewError(connect.CodeResourceExhausted, errors.Unwrap(err))
}

// checkSize returns an error for a definition beyond the limits.
func (s *Server) checkSize(d *study.Definition) error {
	l := s.opts.Limits
	switch {
	case len(d.Parameters) > l.Parameters:
		return tooMany("%d parameters, the server takes at most %d", len(d.Parameters), l.Parameters)
	case d.Budget > l.Trials:
		return tooMany("budget is %d, the server takes at most %d trials", d.Budget, l.Trials)
	case len(d.Earlier.Trials) > l.Trials:
		return tooMany("%d earlier evaluations, the server takes at most %d", len(d.Earlier.Trials), l.Trials)
	case d.Batch > l.Points || d.Initial > l.Trials:
		return tooMany("batch is %d and initial is %d, the server takes at most %d and %d", d.Batch, d.Initial, l.Points, l.Trials)
	}
	return nil
}

// suggestResponse returns the message of an answer: its keys are the same.
func suggestResponse(r *study.Response) (*bov1.SuggestResponse, error) {
	m := &bov1.SuggestResponse{Version: int32(r.Version), Exhausted: r.Exhausted, Initial: int32(min(r.Initial, math.MaxInt32))}
	for _, p := range r.Points {
		point, err := wire.Struct(p)
		if err != nil {
			return nil, err
		}
		m.Points = append(m.Points, point)
	}
	if r.Warm != nil {
		if err := json.Unmarshal(r.Warm, &m.Warm); err != nil {
			return nil, err
		}
	}
	for i := range r.Require {
		one, err := wire.Struct(r.Require[i])
		if err != nil {
			return nil, err
		}
		m.Require = append(m.Require, one)
	}
	var err error
	part := func(present bool, v any) (out *structpb.Struct) {
		if present && err == nil {
			out, err = wire.Struct(v)
		}
		return out
	}
	m.Fit, m.End, m.Regret = part(r.Fit != nil, r.Fit), part(r.End != nil, r.End), part(r.Regret != nil, r.Regret)
	m.Recommendation, m.Pareto = part(r.Recommendation != nil, r.Recommendation), part(r.Pareto != nil, r.Pareto)
	m.Decision, m.Front = part(r.Decision != nil, r.Decision), part(r.Front != nil, r.Front)
	return m, err
}
