package storetest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// full is the flag for a million operations.
var full = flag.Bool("full", false, "storetest: 800,000 random operations in memory, 180,000 in SQLite, 20,000 in PostgreSQL")

// RunOperations checks a backend by n random operations with the flag -full, and by a short run
// without it. Function fresh is the one of Run.
func RunOperations(t *testing.T, n int, fresh func(t *testing.T) Opener) {
	t.Helper()
	if !*full {
		n = 400
	}
	o := fresh(t)
	for seed := uint64(0); n > 0; seed++ {
		m := &machine{t: t, rng: rand.New(rand.NewPCG(seed, 17)), open: o, name: fmt.Sprint("s", seed)}
		n -= m.run(20 + m.rng.IntN(100))
	}
}

// machine makes random operations on one study through two handles, as of two processes, and
// compares the study with a model after each operation.
type machine struct {
	t     *testing.T
	rng   *rand.Rand
	open  Opener
	name  string
	clock *clock

	backends [2]store.Backend
	stores   [2]*store.Store
	handles  [2]*store.Study

	shape    *shape
	points   int // of the shape; 0 is infinite
	def      *study.Definition
	trials   []*trial
	issued   int
	keys     map[string]int // trial by key of its request to enqueue
	gone     []string       // tokens of studies of this name that were deleted
	revision int64
	log      []string
}

// trial is the model of a trial.
type trial struct {
	text    string // parameters as JSON
	values  map[string]any
	source  loop.Source
	state   store.State
	failure store.Failure
	numbers map[string]float64
	attempt int
	lost    int
	token   string
	tokens  []string // of earlier attempts
	lease   time.Duration
	steps   []loop.Step // of the attempt

	fitted map[string]any // values in the present space; nil if they are no point of it
}

// The lengths of leases are no sums of steps of the clock.
const (
	lease      = time.Hour + 3*time.Minute
	shortLease = 33 * time.Minute
)

// clock shifts the clock of backends.
type clock struct {
	offset time.Duration
	repeat bool // transactions run twice, as after a lost connection
}

type shifted struct {
	store.Backend
	clock *clock
}

func (b shifted) Update(ctx context.Context, f func(store.Tx) error) error {
	update := func() error {
		return b.Backend.Update(ctx, func(tx store.Tx) error { return f(shiftedTx{tx, b.clock}) })
	}
	if err := update(); err != nil || !b.clock.repeat {
		return err
	}
	return update()
}

func (b shifted) View(ctx context.Context, f func(store.Tx) error) error {
	return b.Backend.View(ctx, func(tx store.Tx) error { return f(shiftedTx{tx, b.clock}) })
}

type shiftedTx struct {
	store.Tx
	clock *clock
}

func (tx shiftedTx) Now() (time.Time, error) {
	now, err := tx.Tx.Now()
	return now.Add(tx.clock.offset), err
}

// run makes up to n operations and returns their number.
func (m *machine) run(n int) int {
	m.clock = &clock{}
	for k := range m.stores {
		m.connect(k)
	}
	m.create()
	operations := []struct {
		weight int
		f      func()
	}{
		{25, m.ask}, {25, m.tell}, {15, m.report}, {5, m.enqueue}, {3, m.add}, {5, m.release}, {4, m.heartbeat},
		{6, m.pass}, {4, m.edit}, {1, m.exchange}, {1, m.recreate}, {2, m.reconnect}, {1, m.cancelled},
	}
	total := 0
	for _, o := range operations {
		total += o.weight
	}
	for range n {
		m.clock.repeat = m.rng.IntN(20) == 0
		k := m.rng.IntN(total)
		for _, o := range operations {
			if k -= o.weight; k < 0 {
				o.f()
				break
			}
		}
		m.clock.repeat = false
		m.check()
	}
	m.must(m.stores[0].Delete(m.t.Context(), m.name))
	for k := range m.stores {
		m.must(m.stores[k].Close())
	}
	return n
}

// note records an operation for a message.
func (m *machine) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *machine) fail(format string, args ...any) {
	m.t.Helper()
	text, _ := json.Marshal(m.def)
	m.t.Fatalf("study %s: %s\nafter:\n%s\ndefinition: %s", m.name, fmt.Sprintf(format, args...), strings.Join(m.log[max(0, len(m.log)-25):], "\n"), text)
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.fail("%v", err)
	}
}

func (m *machine) connect(k int) {
	b, err := m.open()
	m.must(err)
	m.backends[k] = shifted{b, m.clock}
	m.stores[k] = store.New(m.backends[k], store.Options{Lease: lease})
}

// create makes the study.
func (m *machine) create() {
	m.shape = newShape(m.rng)
	m.points = m.shape.count()
	m.def = randomDefinition(m.shape, m.rng)
	m.def.Name = m.name
	m.note("create")
	_, err := m.stores[0].Create(m.t.Context(), m.def)
	m.must(err)
	m.forget()
	m.trials, m.issued, m.keys, m.revision = nil, 0, map[string]int{}, 0
	for k := range m.handles {
		if m.handles[k] == nil {
			m.handles[k], err = m.stores[k].Study(m.t.Context(), m.name)
			m.must(err)
		}
	}
}

// forget moves the tokens of all trials to the tokens of deleted studies.
func (m *machine) forget() {
	for _, t := range m.trials {
		t.revoke()
		m.gone, t.tokens = append(m.gone, t.tokens...), nil
	}
}

// foreign sometimes replaces a token by one of a deleted study, and then returns true.
func (m *machine) foreign(token *string) bool {
	if len(m.gone) == 0 || m.rng.IntN(8) > 0 {
		return false
	}
	*token = m.gone[m.rng.IntN(len(m.gone))]
	return true
}

func (m *machine) handle() *store.Study { return m.handles[m.rng.IntN(2)] }

// any returns a trial with its number, or nil if there is none.
func (m *machine) any() (*trial, int) {
	if len(m.trials) == 0 {
		return nil, 0
	}
	k := m.rng.IntN(len(m.trials))
	if m.rng.IntN(2) == 0 { // an issued trial
		for i := range m.trials {
			if j := (k + i) % len(m.trials); m.trials[j].token != "" {
				k = j
				break
			}
		}
	}
	return m.trials[k], k + 1
}

// pass lets time pass.
func (m *machine) pass() {
	m.clock.offset += []time.Duration{10 * time.Minute, 40 * time.Minute, 2 * time.Hour}[m.rng.IntN(3)]
	m.note("time is %v", m.clock.offset)
}

// reconnect opens the store and the study again.
func (m *machine) reconnect() {
	k := m.rng.IntN(2)
	m.note("reconnect %d", k)
	m.must(m.stores[k].Close())
	m.connect(k)
	var err error
	m.handles[k], err = m.stores[k].Study(m.t.Context(), m.name)
	m.must(err)
}

// recreate deletes the study and makes another one of the same name.
func (m *machine) recreate() {
	m.note("delete")
	m.must(m.stores[1].Delete(m.t.Context(), m.name))
	if _, err := m.handle().View(m.t.Context()); err == nil {
		m.fail("a deleted study has a view")
	}
	m.create()
}

// put adds a trial to the model.
func (m *machine) put(t *trial) {
	t.fitted, _ = m.fit(t.values)
	m.trials = append(m.trials, t)
	if t.source != loop.Added {
		m.issued++
	}
}

// fit returns the values in the present space.
func (m *machine) fit(values map[string]any) (map[string]any, bool) {
	v, ok := m.shape.adapt(values)
	if !ok {
		return nil, false
	}
	return v, true
}

// check compares the study with the model.
func (m *machine) check() {
	m.t.Helper()
	ctx := m.t.Context()
	v, err := m.handle().View(ctx)
	m.must(err)
	if len(v.Trials) != len(m.trials) {
		m.fail("there are %d trials, want %d", len(v.Trials), len(m.trials))
	}
	unfit, finished := 0, 0
	for i, t := range m.trials {
		m.same(&v.Trials[i], t, i+1)
		point := v.Points[i]
		if (point.Space() != nil) != (t.fitted != nil) || t.fitted != nil && key(point.Map()) != key(t.fitted) {
			m.fail("trial %d: the point is %v, want %v", i+1, point, t.fitted)
		}
		if t.fitted == nil {
			unfit++
		}
		if t.state != store.Pending {
			finished++
		}
		if running := t.state == store.Pending && t.lease > m.clock.offset; v.Trials[i].Running(v.Now) != running {
			m.fail("trial %d: running is not %v", i+1, running)
		}
	}
	if m.rng.IntN(8) == 0 {
		list, err := m.stores[0].List(ctx)
		m.must(err)
		k := slices.IndexFunc(list, func(s store.Summary) bool { return s.Name == m.name })
		if list[k].Trials != len(m.trials) || list[k].Finished != finished || list[k].Budget != m.def.Budget {
			m.fail("the summary is %+v, want %d trials and %d finished", list[k], len(m.trials), finished)
		}
	}
	events, err := m.handle().Events(ctx, m.revision, 1000)
	m.must(err)
	for _, e := range events {
		m.revision++
		if e.Revision != m.revision {
			m.fail("event %+v has not revision %d", e, m.revision)
		}
	}
	if v.Unfit != unfit || v.Revision != m.revision {
		m.fail("%d trials do not fit, want %d; the revision is %d, and the last event %d", v.Unfit, unfit, v.Revision, m.revision)
	}
	m.checkBest(v)
}

// same compares a trial with its model.
func (m *machine) same(got *store.Trial, want *trial, number int) {
	m.t.Helper()
	switch {
	case got.Number != number, got.State != want.state, got.Failure != want.failure, got.Source != want.source, got.Attempt != want.attempt, got.Lost != want.lost,
		got.Token != want.token, !maps.Equal(got.Numbers, want.numbers), string(got.Params) != want.text:
		m.fail("trial %d is %+v with parameters %s, want %+v", number, *got, got.Params, *want)
	case got.Revision > m.revision+100, got.Asked < 1, (got.Told == 0) != (got.State == store.Pending), got.Told > got.Revision:
		m.fail("trial %d has revisions %d, %d, %d", number, got.Asked, got.Told, got.Revision)
	}
}

// checkBest compares the best trial with the feasible complete trials that fit the definition.
func (m *machine) checkBest(v *store.View) {
	sign := 1.0
	if m.def.Objective().Goal == study.Maximize {
		sign = -1
	}
	best := v.Best()
	if best != nil && v.Points[best.Number-1].Space() == nil {
		m.fail("the best trial %d does not fit the definition", best.Number)
	}
	for i, t := range m.trials {
		_, measured := t.numbers["latency"]
		if t.state != store.Complete || v.Points[i].Space() == nil || len(m.def.Require) > 0 && (!measured || t.numbers["latency"] > 1) {
			continue
		}
		if best == nil || !m.def.Feasible(best.Numbers) || sign*best.Numbers["loss"] > sign*t.numbers["loss"] {
			m.fail("the best trial is %+v, and trial %d has %v", best, i+1, t.numbers)
		}
	}
}
