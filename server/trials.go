package server

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/server/internal/wire"
	"github.com/functionspace/bo/store"
)

// GetTrial returns a trial with its steps.
func (s *service) GetTrial(ctx context.Context, r *bov1.GetTrialRequest) (*bov1.GetTrialResponse, error) {
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	u, err := s.study(ctx, r.Study)
	if err != nil {
		return nil, err
	}
	t, now, err := u.study.Trial(ctx, int(r.Trial))
	if err != nil {
		return nil, err
	}
	steps, err := u.study.Steps(ctx, t.Number)
	if err != nil {
		return nil, err
	}
	m := &bov1.GetTrialResponse{}
	for _, step := range steps {
		if !step.Usable() {
			step.Value = math.NaN()
		}
		m.Steps = append(m.Steps, &bov1.Step{Step: step.Step, Value: step.Value})
	}
	if m.Output, err = u.study.Output(ctx, &t); err != nil {
		return nil, err
	}
	m.Trial, err = trialMessage(&t, now)
	return m, err
}

// ListTrials returns trials in the order of their numbers.
func (s *service) ListTrials(ctx context.Context, r *bov1.ListTrialsRequest) (*bov1.ListTrialsResponse, error) {
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	n, text, err := pageOf(r.PageSize, r.PageToken)
	if err != nil {
		return nil, err
	}
	after, err := strconv.Atoi(cmp.Or(text, "0"))
	if err != nil || after < 0 {
		return nil, invalid("page_token is not the next_page_token of an answer")
	}
	for _, state := range r.States {
		if !slices.Contains([]store.State{store.Pending, store.Complete, store.Failed, store.Stopped}, store.State(state)) {
			return nil, invalid("states has %.40q, want pending, complete, failed or stopped", state)
		}
	}
	u, err := s.study(ctx, r.Study)
	if err != nil {
		return nil, err
	}
	page, err := u.study.Page(ctx, after, n, func(t *store.Trial) bool {
		return t.Revision > int64(r.Since) && (len(r.States) == 0 || slices.Contains(r.States, string(t.State)))
	})
	if err != nil {
		return nil, err
	}
	m := &bov1.ListTrialsResponse{Revision: uint32(page.Revision)}
	if page.More {
		m.NextPageToken = pageToken(page.Trials[len(page.Trials)-1].Number)
	}
	m.Trials, err = trialMessages(page.Trials, page.Now)
	return m, err
}

const maxLease = 366 * 24 * time.Hour

// Ask issues trials to a worker.
func (s *service) Ask(ctx context.Context, r *bov1.AskRequest) (*bov1.AskResponse, error) {
	if err := checkTexts("key", r.Key, "worker", r.Worker); err != nil {
		return nil, err
	}
	n, most := max(1, int(r.N)), s.opts.Limits.Points
	if r.N < 0 || n > most {
		return nil, invalid("n is %d, want 1 to %d", r.N, most)
	}
	lease := cmp.Or(s.opts.Lease, store.DefaultLease)
	if r.Lease != nil {
		if lease = r.Lease.AsDuration(); !r.Lease.IsValid() || lease < time.Second || lease > maxLease {
			return nil, invalid("lease is %v, want 1s to %v", lease, maxLease)
		}
	}
	ctx, cancel := s.limited(ctx, true)
	defer cancel()
	u, err := s.study(ctx, r.Study)
	if err != nil {
		return nil, err
	}
	trials, err := s.ask(ctx, u, r, n, lease)
	if err != nil {
		return nil, s.coded(ctx, err)
	}
	m := &bov1.AskResponse{}
	for _, t := range trials {
		params, err := wire.Parse(t.Params)
		if err != nil {
			return nil, err
		}
		a := &bov1.Assignment{
			Trial: int32(t.Number), Params: params, Attempt: int32(t.Attempt), Token: t.Token, Lease: stamp(t.Lease), Source: string(t.Source),
			Warnings: t.Warnings,
		}
		if r.Lease == nil {
			a.Heartbeat = durationpb.New(lease / 4)
		}
		m.Trials = append(m.Trials, a)
	}
	return m, nil
}

func (s *service) ask(ctx context.Context, u *open, r *bov1.AskRequest, n int, lease time.Duration) ([]store.Trial, error) {
	request := store.AskRequest{Key: r.Key, N: n, Given: r.Given.AsMap(), Owner: cmp.Or(r.Worker, "api"), Lease: lease}
	ended, err := u.study.Ended(ctx)
	if err != nil {
		return nil, err
	}
	if ended != nil {
		if r.Key == "" {
			return nil, ended
		}
		trials, err := u.study.Answer(ctx, request)
		if err == nil && trials == nil {
			err = ended
		}
		return trials, err
	}
	defer u.changed.Send()
	return u.study.AskOnce(ctx, request)
}

// maxAttempts bounds the attempts of a request.
const maxAttempts = 10_000

// attempts returns the study of a request and its attempts.
func (s *service) attempts(ctx context.Context, name string, list []*bov1.Attempt) (*open, []store.Attempt, error) {
	if len(list) > maxAttempts {
		return nil, nil, invalid("%d attempts, want at most %d", len(list), maxAttempts)
	}
	u, err := s.study(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	out := make([]store.Attempt, len(list))
	for i, a := range list {
		out[i] = store.Attempt{Trial: int(a.Trial), Token: a.Token}
	}
	return u, out, nil
}

// Heartbeat extends leases.
func (s *service) Heartbeat(ctx context.Context, r *bov1.HeartbeatRequest) (*bov1.HeartbeatResponse, error) {
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	u, attempts, err := s.attempts(ctx, r.Study, r.Attempts)
	if err != nil {
		return nil, err
	}
	lost, err := u.study.Heartbeat(ctx, attempts...)
	if err != nil {
		return nil, err
	}
	m := &bov1.HeartbeatResponse{}
	for _, n := range lost {
		m.Lost = append(m.Lost, int32(n))
	}
	return m, nil
}

// Release returns trials to the study.
func (s *service) Release(ctx context.Context, r *bov1.ReleaseRequest) (*bov1.ReleaseResponse, error) {
	if err := checkTexts("key", r.Key); err != nil {
		return nil, err
	}
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	u, attempts, err := s.attempts(ctx, r.Study, r.Attempts)
	if err != nil {
		return nil, err
	}
	defer u.changed.Send()
	if r.Key != "" {
		if err := u.study.Withdraw(ctx, r.Key); err != nil {
			return nil, err
		}
	}
	return &bov1.ReleaseResponse{}, u.study.Release(ctx, attempts...)
}

// Enqueue adds waiting trials.
func (s *service) Enqueue(ctx context.Context, r *bov1.EnqueueRequest) (*bov1.EnqueueResponse, error) {
	if err := checkTexts("key", r.Key); err != nil {
		return nil, err
	}
	if n, most := len(r.Points), s.opts.Limits.Points; n < 1 || n > most {
		return nil, invalid("%d points, want 1 to %d", n, most)
	}
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	u, err := s.study(ctx, r.Study)
	if err != nil {
		return nil, err
	}
	points := make([]map[string]any, len(r.Points))
	for i, p := range r.Points {
		points[i] = p.AsMap()
	}
	trials, err := u.study.Enqueue(ctx, r.Key, points...)
	if err != nil {
		return nil, err
	}
	u.changed.Send()
	m := &bov1.EnqueueResponse{}
	m.Trials, err = trialMessages(trials, time.Time{})
	return m, err
}

const maxSteps = 100_000 // of a request

// ReportSteps records steps of a trial.
func (s *service) ReportSteps(ctx context.Context, r *bov1.ReportStepsRequest) (*bov1.ReportStepsResponse, error) {
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	if len(r.Steps) > maxSteps {
		return nil, invalid("%d steps, want at most %d", len(r.Steps), maxSteps)
	}
	if err := checkTexts("stop", r.Stop); err != nil {
		return nil, err
	}
	u, err := s.study(ctx, r.Study)
	if err != nil {
		return nil, err
	}
	steps := make([]loop.Step, len(r.Steps))
	for i, step := range r.Steps {
		steps[i] = loop.Step{Step: step.Step, Value: step.Value}
	}
	defer u.changed.Send()
	attempt := store.Attempt{Trial: int(r.Trial), Token: r.Token}
	t, err := u.study.ReportSteps(ctx, attempt, steps...)
	if err == nil && r.Stop != "" {
		t, err = u.study.Stop(ctx, attempt, r.Stop)
	}
	if err != nil {
		return nil, err
	}
	m := &bov1.ReportStepsResponse{Stop: t.State == store.Stopped}
	if m.Stop {
		m.Reason = t.Message
	}
	return m, nil
}

// Tell records the result of a trial.
func (s *service) Tell(ctx context.Context, r *bov1.TellRequest) (*bov1.TellResponse, error) {
	trial, err := s.tell(ctx, r.Study, r.Value, store.Report{
		Trial: int(r.Trial), Token: r.Token, Numbers: r.Numbers, Message: r.Message, Output: r.Output, Seconds: r.Seconds, Key: r.Key,
		At: r.At.AsMap(), Correct: r.Correct,
	})
	return &bov1.TellResponse{Trial: trial}, err
}

// Fail records that a trial failed.
func (s *service) Fail(ctx context.Context, r *bov1.FailRequest) (*bov1.FailResponse, error) {
	kind := store.Failure(cmp.Or(r.Failure, string(store.FailedByProgram)))
	if !slices.Contains([]store.Failure{store.FailedByProgram, store.TimedOut, store.NotFinite, store.Lost}, kind) {
		return nil, invalid("failure is %.40q, want program, timeout, not finite or lost", r.Failure)
	}
	trial, err := s.tell(ctx, r.Study, nil, store.Report{
		Trial: int(r.Trial), Token: r.Token, Numbers: r.Numbers, Failure: kind, Message: r.Message, Output: r.Output, Seconds: r.Seconds, Key: r.Key,
		At: r.At.AsMap(), Correct: r.Correct,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	m := &bov1.FailResponse{Trial: trial}
	if u, err := s.study(ctx, r.Study); err == nil { // the failure is stored, with or without this number
		n, _ := u.study.Alike(ctx, trial.Message)
		m.Alike = int32(n)
	}
	return m, nil
}

// tell stores a report. A value is the number of the first objective.
func (s *service) tell(ctx context.Context, name string, value *float64, report store.Report) (*bov1.Trial, error) {
	ctx, cancel := s.limited(ctx, false)
	defer cancel()
	if err := checkTexts("key", report.Key, "message", report.Message, "output", report.Output); err != nil {
		return nil, err
	}
	if !(report.Seconds >= 0) || math.IsInf(report.Seconds, 0) {
		return nil, invalid("seconds is %v, want 0 or more", report.Seconds)
	}
	u, err := s.study(ctx, name)
	if err != nil {
		return nil, err
	}
	if value != nil {
		if err := withValue(ctx, u, *value, &report); err != nil {
			return nil, err
		}
	}
	t, err := u.study.Tell(ctx, report)
	if err != nil {
		return nil, err
	}
	u.changed.Send()
	return trialMessage(&t, time.Time{})
}

// withValue adds the value of the first objective to a report.
func withValue(ctx context.Context, u *open, value float64, report *store.Report) error {
	d, _, err := u.study.Definition(ctx)
	if err != nil {
		return err
	}
	objective := d.Objective().Name
	if _, given := report.Numbers[objective]; given {
		return invalid("value and numbers both have %s", objective)
	}
	if report.Numbers == nil {
		report.Numbers = map[string]float64{}
	}
	report.Numbers[objective] = value
	return nil
}
