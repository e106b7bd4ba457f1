package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

// ask issues trials: first the ones that wait, then new ones.
func (m *machine) ask() {
	n, length := 1+m.rng.IntN(3), lease
	running := slices.ContainsFunc(m.trials, func(t *trial) bool { return t.lease > m.clock.offset && t.state == store.Pending })
	if m.def.Batch > 0 && running {
		return // the ask may wait for the end of the round
	}
	want := m.claim(n)
	left := m.def.Budget - m.issued
	var got []store.Trial
	var err error
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Minute) // much more than an ask takes
	defer cancel()
	if m.rng.IntN(2) == 0 {
		got, err = m.handle().Ask(ctx, n)
	} else {
		length = shortLease
		got, err = m.handle().AskFor(ctx, n, "someone", shortLease)
	}
	v, viewErr := m.handle().View(m.t.Context())
	m.must(viewErr)
	if len(v.Trials) < len(m.trials) {
		m.fail("trials are lost")
	}
	added := v.Trials[len(m.trials):]
	if len(added) > 0 && len(want) == n || len(added) > max(0, left) {
		m.fail("ask %d: %d new trials with %d waiting and a budget of %d more", n, len(added), len(want), left)
	}
	for _, t := range added {
		m.proposed(&t)
		if len(want) < n {
			want = append(want, t.Number)
		}
	}
	m.note("ask %d: %d trials %v, %v", n, len(got), want, err)
	switch {
	case len(want) > 0 && err == nil:
	case len(want) == 0 && left <= 0 && errors.Is(err, store.ErrBudget):
	case len(want) == 0 && left > 0 && errors.Is(err, store.ErrExhausted):
	default:
		m.fail("ask %d: want trials %v of %d left, error %v", n, want, left, err)
	}
	if len(want) < n && len(added) < left && (m.def.Batch == 0 || len(want) == 0) && (!m.def.Objective().NoiseFree || m.points == 0 || len(m.seen()) < m.points) {
		m.fail("ask %d: %d trials, and %d of %d points have a trial", n, len(want), len(m.seen()), m.points)
	}
	m.issuedTo(got, want, length)
}

// issuedTo records the attempts of an ask.
func (m *machine) issuedTo(got []store.Trial, want []int, length time.Duration) {
	if len(got) != len(want) {
		m.fail("%d trials, want %v", len(got), want)
	}
	for i, t := range got {
		if t.Number != want[i] || t.Token == "" || t.State != store.Pending {
			m.fail("trial %d is %+v, want trial %d", i, t, want[i])
		}
		own := m.trials[t.Number-1]
		own.attempt, own.token, own.lease, own.steps = own.attempt+1, t.Token, m.clock.offset+length, nil
		if own.text != string(t.Params) {
			m.fail("trial %d has parameters %s, want %s", t.Number, t.Params, own.text)
		}
	}
}

// claim returns the waiting trials that an ask for n trials issues.
func (m *machine) claim(n int) (want []int) {
	for i, t := range m.trials {
		if t.state != store.Pending || t.lease > m.clock.offset || len(want) >= n && t.lease == 0 {
			continue
		}
		if t.lease != 0 {
			t.lost++
			t.lease = 0
			t.revoke()
		}
		switch {
		case t.lost >= store.MaxLost:
			t.state, t.failure = store.Failed, store.Lost
		case len(want) >= n:
		case t.fitted == nil:
			t.state, t.failure = store.Failed, store.Unfit
		default:
			want = append(want, i+1)
			if key(t.values) != key(t.fitted) { // the space has other parameters
				t.values, t.text = t.fitted, m.textOf(t.fitted)
			}
		}
	}
	return want
}

// revoke ends the attempt of a trial.
func (t *trial) revoke() {
	if t.token != "" {
		t.tokens = append(t.tokens, t.token)
	}
	t.token = ""
}

// textOf returns values as JSON in the order of the parameters.
func (m *machine) textOf(values map[string]any) string {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, p := range m.def.Parameters {
		if v, ok := values[p.Name]; ok {
			if b.Len() > 1 {
				b.WriteByte(',')
			}
			name, _ := json.Marshal(p.Name)
			text, _ := json.Marshal(v)
			b.Write(name)
			b.WriteByte(':')
			b.Write(text)
		}
	}
	b.WriteByte('}')
	return b.String()
}

// seen returns the points of the present space that have a trial.
func (m *machine) seen() map[string]bool {
	seen := map[string]bool{}
	for _, t := range m.trials {
		if t.fitted != nil && t.failure != store.Unfit {
			seen[key(t.fitted)] = true
		}
	}
	return seen
}

// proposed checks a new trial of an ask and adds it to the model.
func (m *machine) proposed(t *store.Trial) {
	var values map[string]any
	m.must(json.Unmarshal(t.Params, &values))
	if t.Source != loop.Design && t.Source != loop.Suggested || !m.shape.fits(values) {
		m.fail("trial %d at %s is no point of the space", t.Number, t.Params)
	}
	if seen := m.seen(); m.points > 0 && len(seen) < m.points && seen[key(values)] {
		m.fail("trial %d at %s repeats a trial, and %d of %d points have none", t.Number, t.Params, m.points-len(seen), m.points)
	}
	m.put(&trial{text: string(t.Params), values: values, source: t.Source, state: store.Pending})
}

// tell reports a result: the first, a late, the same, or a conflicting one.
func (m *machine) tell() {
	t, number := m.any()
	r := store.Report{Trial: number, Numbers: map[string]float64{"loss": float64(m.rng.IntN(4)), "latency": 2 * m.rng.Float64()}, Seconds: 1}
	if t != nil && t.numbers != nil && m.rng.IntN(2) == 0 {
		r.Numbers = maps.Clone(t.numbers)
	}
	if t != nil {
		r.Token = append(slices.Clone(t.tokens), t.token)[m.rng.IntN(len(t.tokens)+1)]
	}
	var want error
	switch m.rng.IntN(12) {
	case 0:
		r.Failure, r.Message = store.FailedByProgram, "message"
	case 1:
		r.Failure, r.Numbers = store.TimedOut, nil
	case 2:
		r.Numbers["loss"], want = math.NaN(), loop.ErrNotFinite
	case 3:
		delete(r.Numbers, "loss")
	case 4:
		t, r.Trial = nil, len(m.trials)+1
	case 5:
		r.Failure, r.Message, r.Numbers = store.Lost, "lost", nil
	}
	moved := false
	if t != nil && m.rng.IntN(4) == 0 {
		r.At = m.shape.draw(m.rng)
		moved = r.At != nil && (t.fitted == nil || m.textOf(t.fitted) != m.textOf(r.At))
	}
	r.Correct = m.rng.IntN(4) == 0
	correct := r.Correct && t != nil && (!t.open() || t.failure == store.Lost && r.Failure != "")
	numbers := maps.Clone(r.Numbers)
	if correct && r.Failure == "" {
		numbers = maps.Clone(t.numbers)
		if numbers == nil {
			numbers = map[string]float64{}
		}
		maps.Copy(numbers, r.Numbers)
	}
	_, loss := numbers["loss"]
	_, latency := numbers["latency"]
	switch missing := r.Failure == "" && (!loss || !latency && len(m.def.Require) > 0); {
	case want != nil: // of a number that is not finite
	case t == nil:
		want = store.ErrNoTrial
	case r.Correct && (t.state == store.Pending || t.state == store.Stopped):
		want = store.ErrConflict
	case missing:
		want = loop.ErrNotFinite
	case correct:
	case moved && (!t.open() || t.failure == store.Lost && r.Failure == store.Lost):
		want = store.ErrConflict
	case r.Failure != "" && r.Token != "" && r.Token != t.token && t.state == store.Pending && t.lease > m.clock.offset: // late
		want = store.ErrConflict
	default:
		want = t.conflict(&r)
	}
	if m.foreign(&r.Token) {
		want = store.ErrNoStudy
	}
	told, err := m.handle().Tell(m.t.Context(), r)
	m.note("tell %+v: %v", r, err)
	if !errors.Is(err, want) || want == nil && err != nil {
		m.fail("error is %v, want %v", err, want)
	}
	if want != nil || !correct && (!t.open() || t.failure == store.Lost && r.Failure == store.Lost) {
		return
	}
	if t.state, t.failure, t.numbers = store.Complete, r.Failure, numbers; r.Failure != "" {
		t.state = store.Failed
	}
	if !correct {
		t.lease = 0
		t.revoke()
	}
	if moved {
		t.text, t.values, t.fitted = m.textOf(r.At), r.At, r.At
	}
	m.same(&told, t, number)
}

// open reports whether a trial accepts a first result.
func (t *trial) open() bool {
	return t.state == store.Pending || t.failure == store.Lost || t.failure == store.Unfit
}

// conflict returns ErrConflict if a trial has another result.
func (t *trial) conflict(r *store.Report) error {
	switch {
	case t.open(), r.Failure != "" && t.state == store.Failed, r.Failure == "" && t.state == store.Complete && maps.Equal(r.Numbers, t.numbers):
		return nil
	}
	return store.ErrConflict
}

// report reports steps.
func (m *machine) report() {
	t, number := m.any()
	if t == nil {
		return
	}
	token := append(slices.Clone(t.tokens), t.token)[m.rng.IntN(len(t.tokens)+1)]
	var steps []loop.Step
	for range 1 + m.rng.IntN(3) {
		steps = append(steps, loop.Step{Step: float64(1 + m.rng.IntN(10)), Value: []float64{m.rng.Float64(), math.NaN(), math.Inf(-1)}[max(0, m.rng.IntN(12)-9)]})
	}
	var want error
	switch {
	case t.state == store.Complete || t.state == store.Failed:
		want = store.ErrConflict
	case t.state == store.Stopped || token != "" && token != t.token:
		steps = steps[:0:0]
	case m.rng.IntN(12) == 0:
		steps[0].Step, want = math.Inf(1), loop.ErrNotFinite
	}
	if m.foreign(&token) {
		want = store.ErrNoStudy
	}
	got, err := m.handle().ReportSteps(m.t.Context(), store.Attempt{Trial: number, Token: token}, steps...)
	m.note("report %d %v: %s, %v", number, steps, got.State, err)
	if !errors.Is(err, want) || want == nil && err != nil {
		m.fail("error is %v, want %v", err, want)
	}
	if want != nil {
		return
	}
	m.decide(t, number, steps)
	m.same(&got, t, number)
	m.checkSteps(t, number)
}

// decide applies steps and the stopping rule to the model.
func (m *machine) decide(t *trial, number int, steps []loop.Step) {
	maximize := m.def.Objective().Goal == study.Maximize
	for _, s := range steps {
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			if s.Value = loop.MaxValue; maximize {
				s.Value = -loop.MaxValue
			}
		}
		if slices.ContainsFunc(t.steps, func(k loop.Step) bool { return k.Step == s.Step }) {
			continue
		}
		t.steps = append(t.steps, s)
		var all []loop.Trial
		for i, other := range m.trials {
			all = append(all, loop.Trial{ID: i + 1, State: loop.State(other.state), Steps: other.steps})
		}
		if d, _ := m.def.Stop.Decide(all, number, s.Step, maximize); d.Stop {
			t.state, t.numbers, t.lease = store.Stopped, map[string]float64{"loss": loop.LastStep(t.steps).Value}, 0
			t.revoke()
			return
		}
	}
}

// checkSteps compares the stored steps of the attempt with the model.
func (m *machine) checkSteps(t *trial, number int) {
	stored, err := m.handle().Steps(m.t.Context(), number)
	m.must(err)
	var own []loop.Step
	for _, s := range stored {
		if s.Attempt == t.attempt {
			own = append(own, loop.Step{Step: s.Step, Value: s.Value})
		}
	}
	if !slices.Equal(own, t.steps) {
		m.fail("trial %d has steps %v, want %v", number, own, t.steps)
	}
}

// enqueue adds points to evaluate, or repeats a request.
func (m *machine) enqueue() {
	values := m.shape.draw(m.rng)
	if values == nil {
		return
	}
	name := string(rune('a' + m.rng.IntN(26)))
	repeated, known := m.keys[name]
	var want error
	switch {
	case known:
	case m.rng.IntN(6) == 0:
		values, want = map[string]any{"unknown": 1}, space.ErrPoint
	case m.issued >= m.def.Budget:
		want = store.ErrBudget
	}
	got, err := m.handle().Enqueue(m.t.Context(), name, values)
	m.note("enqueue %s %v: %v", name, values, err)
	switch {
	case !errors.Is(err, want) || want == nil && err != nil:
		m.fail("error is %v, want %v", err, want)
	case want != nil:
	case known && got[0].Number != repeated:
		m.fail("the repeated request has trial %d, want %d", got[0].Number, repeated)
	case !known:
		m.put(&trial{text: m.textOf(values), values: values, source: loop.Enqueued, state: store.Pending})
		m.keys[name] = len(m.trials)
	}
}

// add records an evaluation made elsewhere.
func (m *machine) add() {
	values := m.shape.draw(m.rng)
	if values == nil {
		return
	}
	e := store.Evaluated{Params: values, Numbers: map[string]float64{"loss": m.rng.Float64(), "latency": m.rng.Float64() * 2}}
	t := &trial{text: m.textOf(values), values: values, source: loop.Added, state: store.Complete, numbers: e.Numbers}
	if m.rng.IntN(4) == 0 {
		e.Failure, e.Numbers = store.FailedByProgram, nil
		t.state, t.failure, t.numbers = store.Failed, e.Failure, nil
	}
	_, err := m.handle().Add(m.t.Context(), "", e)
	m.note("add %v: %v", values, err)
	m.must(err)
	m.put(t)
}

// release returns an attempt, of the trial or an earlier one.
func (m *machine) release() {
	t, number := m.any()
	if t == nil {
		return
	}
	token := append(slices.Clone(t.tokens), t.token)[m.rng.IntN(len(t.tokens)+1)]
	m.note("release %d", number)
	m.must(m.handle().Release(m.t.Context(), store.Attempt{Trial: number, Token: token}))
	if token != "" && token == t.token {
		t.lease = 0
		t.revoke()
	}
}

// heartbeat extends leases.
func (m *machine) heartbeat() {
	t, number := m.any()
	if t == nil {
		return
	}
	token := append(slices.Clone(t.tokens), t.token)[m.rng.IntN(len(t.tokens)+1)]
	lost, err := m.handle().Heartbeat(m.t.Context(), store.Attempt{Trial: number, Token: token})
	m.must(err)
	held := token != "" && token == t.token
	m.note("heartbeat %d: lost %v", number, lost)
	if held == (len(lost) > 0) {
		m.fail("the lost trials are %v", lost)
	}
	if held {
		t.lease = m.clock.offset + lease
	}
}

// edit changes the space, the budget or the rules, or fails.
func (m *machine) edit() {
	s, d := m.shape, *m.def
	fault := errors.New("fault")
	var want error
	switch m.rng.IntN(6) {
	case 0:
		d.Budget = max(1, d.Budget-2+m.rng.IntN(6))
		d.Initial, d.Batch = min(d.Initial, d.Budget), min(d.Batch, d.Budget)
	case 1:
		d.Stop = randomDefinition(s, m.rng).Stop
	case 2:
		want = fault
	case 3:
		d.Name, want = "other", study.ErrInvalid
	default:
		s = newShape(m.rng)
		s.write(&d, m.rng)
	}
	err := m.handle().Edit(m.t.Context(), func(study.Definition) (*study.Definition, error) {
		if want == fault {
			return nil, fault
		}
		c := d
		return &c, nil
	})
	m.note("edit: %v", err)
	if !errors.Is(err, want) || want == nil && err != nil {
		m.fail("error is %v, want %v", err, want)
	}
	if want != nil {
		return
	}
	m.shape, m.points, m.def = s, s.count(), &d
	for _, t := range m.trials {
		t.fitted, _ = m.fit(t.values)
	}
}

// exchange writes the study to a file, deletes it and reads the file.
func (m *machine) exchange() {
	ctx := m.t.Context()
	before, err := m.handle().Snapshot(ctx)
	m.must(err)
	var file bytes.Buffer
	m.must(exchange.Write(&file, before))
	in, err := exchange.Read(&file)
	m.must(err)
	m.note("delete and restore")
	m.must(m.stores[0].Delete(ctx, m.name))
	restored, err := m.stores[1].Restore(ctx, m.name, in.Snapshot)
	m.must(err)
	after, err := restored.Snapshot(ctx)
	m.must(err)
	a, _ := json.Marshal(before)
	b, _ := json.Marshal(after)
	if !bytes.Equal(a, b) {
		m.fail("the restored study is %s, want %s", b, a)
	}
	m.keys = map[string]int{}
	for _, t := range m.trials {
		t.lease = 0
	}
	m.forget()
}

// cancelled makes a call whose context is cancelled.
func (m *machine) cancelled() {
	ctx, cancel := context.WithCancel(m.t.Context())
	cancel()
	m.note("cancelled")
	if _, err := m.handle().Ask(ctx, 1); !errors.Is(err, context.Canceled) {
		m.fail("error of a cancelled ask is %v", err)
	}
	if _, err := m.handle().Tell(ctx, store.Report{Trial: 1, Failure: store.TimedOut}); !errors.Is(err, context.Canceled) {
		m.fail("error of a cancelled tell is %v", err)
	}
}
