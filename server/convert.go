package server

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/server/internal/wire"
	"github.com/functionspace/bo/store"
)

// stamp returns the message of a time, nil for the zero time.
func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// trialMessage returns the message of a trial at a time of the store's clock.
func trialMessage(t *store.Trial, now time.Time) (*bov1.Trial, error) {
	params, err := wire.Parse(t.Params)
	if err != nil {
		return nil, err
	}
	m := &bov1.Trial{
		Trial: int32(t.Number), Params: params, State: string(t.State), Source: string(t.Source), Numbers: t.Measured(),
		Failure: string(t.Failure), Message: strings.ToValidUTF8(t.Message, "\ufffd"), Attempt: int32(t.Attempt), Seconds: t.Seconds,
		Warnings: t.Warnings, Created: stamp(t.Created), Started: stamp(t.Started), Finished: stamp(t.Finished),
	}
	if t.Running(now) {
		m.Running, m.Worker = true, t.Owner.Name
	}
	if p := t.Prediction; p != nil {
		m.Prediction = &bov1.Prediction{Mean: p.Mean, Sd: p.SD, Acquisition: p.Acquisition}
		if p.Interval != [2]float64{} {
			m.Prediction.Interval = p.Interval[:]
		}
	}
	return m, nil
}

func trialMessages(trials []store.Trial, now time.Time) ([]*bov1.Trial, error) {
	out := make([]*bov1.Trial, len(trials))
	for i := range trials {
		var err error
		if out[i], err = trialMessage(&trials[i], now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkTexts returns an error for a text that is too long or that a store may not hold. It takes
// names and texts in turn.
func checkTexts(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		name, text := pairs[i], pairs[i+1]
		limit := 256
		if name == "message" || name == "output" || name == "stop" {
			limit = 64 << 10
		}
		switch {
		case len(text) > limit:
			return invalid("%s has %d bytes, want at most %d", name, len(text), limit)
		case strings.ContainsRune(text, 0):
			return invalid("%s contains the character NUL", name)
		}
	}
	return nil
}

// pageOf returns the size of a page and the position in the list from a request.
func pageOf(size int32, token string) (n int, after string, err error) {
	const usual, most = 100, 1000
	if size < 0 || size > most {
		return 0, "", invalid("page_size is %d, want 1 to %d, or 0 for %d", size, most, usual)
	}
	if n = int(size); n == 0 {
		n = usual
	}
	if token == "" {
		return n, "", nil
	}
	after, ok := strings.CutPrefix(token, pagePrefix)
	if !ok {
		return 0, "", invalid("page_token is not the next_page_token of an answer")
	}
	return n, after, nil
}

const pagePrefix = "after:"

func pageToken(after any) string { return fmt.Sprint(pagePrefix, after) }
