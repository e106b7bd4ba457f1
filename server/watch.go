package server

import (
	"context"
	"time"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/store"
)

const (
	watchPoll  = 500 * time.Millisecond // interval of reads for changes by other processes, one for all streams of a study
	watchAlive = 15 * time.Second       // interval of messages without an event
	watchBatch = 500                    // events of one read
)

// Watch sends the events of a study above a revision, and then new events. It ends when the study is deleted, or the
// token is removed or expires.
func (s *service) Watch(ctx context.Context, r *bov1.WatchRequest, answer func(*bov1.WatchResponse) error) error {
	u, err := s.study(ctx, r.Study)
	if err != nil {
		return err
	}
	leave, err := s.watching()
	if err != nil {
		return err
	}
	defer leave()
	defer u.follow()()
	sent := time.Now()
	send := func(e *bov1.Event) error {
		sent = time.Now()
		return answer(&bov1.WatchResponse{Event: e})
	}
	if err := send(nil); err != nil { // the headers reach the client before the first event
		return err
	}
	for feed := u.study.Feed(int64(r.Since)); ; {
		if err := observedOf(ctx).check(); err != nil {
			return err
		}
		changed := u.changed.Wait()
		events, err := feed.Next(ctx, watchBatch)
		if err != nil {
			s.forget(r.Study, err)
			return err
		}
		for i := range events {
			if err := send(eventMessage(&events[i])); err != nil {
				return err
			}
		}
		if len(events) == watchBatch {
			continue
		}
		if time.Since(sent) >= watchAlive {
			if err := send(nil); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing.Done():
			return errClosing
		case <-changed:
		case <-time.After(watchAlive - time.Since(sent)):
		}
	}
}

// follow announces changes of the study by other processes until the caller calls leave. Callers at the
// same time share one reader.
func (u *open) follow() (leave func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.followers++; u.followers == 1 {
		var ctx context.Context
		ctx, u.stop = context.WithCancel(context.Background())
		go u.poll(ctx)
	}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.followers--; u.followers == 0 {
			u.stop()
		}
	}
}

// poll announces each new revision of the study, and each error, which the streams then meet themselves.
func (u *open) poll(ctx context.Context) {
	for last := int64(-1); ctx.Err() == nil; {
		revision, err := u.study.Revision(ctx)
		if err != nil || revision != last {
			last = revision
			u.changed.Send()
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchPoll):
		}
	}
}

// watching counts a stream until its caller calls leave.
func (s *Server) watching() (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers >= s.opts.Limits.Watchers {
		return nil, tooMany("%d streams of events, the server has at most %d", s.watchers+1, s.opts.Limits.Watchers)
	}
	s.watchers++
	s.metrics.watchers.Add(1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers--
		s.metrics.watchers.Add(-1)
	}, nil
}

func eventMessage(e *store.Event) *bov1.Event {
	return &bov1.Event{
		Revision: uint32(e.Revision), Time: stamp(e.Time), Kind: string(e.Kind), Trial: int32(e.Trial), Attempt: int32(e.Attempt), Detail: e.Detail,
	}
}
