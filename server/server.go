package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/functionspace/bo/internal/signal"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// Options are the settings of a Server. The zero value is the default.
type Options struct {
	// Version is recorded with every fit.
	Version string
	// Tokens authenticate requests. Nil accepts requests without a token: for loopback only.
	Tokens *Tokens
	// SessionKey signs the sessions of browsers. Servers with the same key and tokens accept one another's sessions. Nil is
	// a random key: all sessions end with the process.
	SessionKey []byte
	// Log receives a line for each request. Nil discards them.
	Log *slog.Logger
	// Lease is the time after which a trial without a heartbeat is issued again. 0 is
	// store.DefaultLease.
	Lease time.Duration
	// Prefix is the path of the service behind a proxy, such as /bo, which begins the addresses in pages; "" is none. The
	// server answers with the prefix and without it, so that the proxy may leave it or remove it. See CheckPrefix.
	Prefix string
	// Limits bound the load of requests.
	Limits Limits
}

// Limits bound the load of requests. Zero values are the defaults.
type Limits struct {
	Fits       int           // suggestions computed at a time; 0 is half of the processors
	Trials     int           // trials of a request and budget of a study; 0 is 10 000
	Parameters int           // parameters of a study; 0 is 200
	Points     int           // points of a request and trials of an ask; 0 is 100
	Bytes      int           // bytes of a request, and a quarter of the bytes of all requests above 64 KiB under way; 0 is 32 MiB
	Wait       time.Duration // time of a request for suggestions; 0 is 5 minutes
	Read       time.Duration // time of a read of the store; 0 is 10 seconds
	Watchers   int           // streams of events at a time; 0 is 1000
}

func (l *Limits) fill() {
	l.Fits = cmp.Or(l.Fits, max(1, runtime.GOMAXPROCS(0)/2))
	l.Trials = cmp.Or(l.Trials, 10_000)
	l.Parameters = cmp.Or(l.Parameters, 200)
	l.Points = cmp.Or(l.Points, 100)
	l.Bytes = cmp.Or(l.Bytes, 32<<20)
	l.Wait = cmp.Or(l.Wait, 5*time.Minute)
	l.Read = cmp.Or(l.Read, 10*time.Second)
	l.Watchers = cmp.Or(l.Watchers, 1000)
}

// Server is the service on a store. It is safe for concurrent use.
type Server struct {
	opts    Options
	store   *store.Store
	metrics *metrics
	gate    *gate
	memory  memory
	handler http.Handler

	closing context.Context // ends when the server shuts down
	shut    context.CancelFunc

	mu        sync.Mutex
	studies   map[string]*open
	maxHeld   int           // maxHeld, except in tests
	bodyTime  time.Duration // bodyTime, except in tests
	writeTime time.Duration // writeTime, except in tests
	used      int           // number of the latest request for a study
	watchers  int

	pruning sync.WaitGroup
}

// open is a study that requests use.
type open struct {
	study   *store.Study  // not embedded: copies of its methods would add to the binary
	changed signal.Signal // a request has changed the study
	used    int           // number of the latest request, guarded by Server.mu

	mu        sync.Mutex
	followers int    // streams of events
	stop      func() // ends their reader
}

// maxOpen and maxHeld bound the studies in memory and their trials. 10 000 trials take about 12 MB.
const (
	maxOpen = 256
	maxHeld = 200_000
)

// New returns a Server on a backend. Close closes the backend.
func New(b store.Backend, o Options) *Server {
	o.Limits.fill()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opts: o, studies: map[string]*open{}, maxHeld: maxHeld, bodyTime: bodyTime, writeTime: writeTime}
	s.memory.most = 4 * int64(o.Limits.Bytes)
	s.closing, s.shut = context.WithCancel(context.Background())
	s.metrics = newMetrics()
	if p, ok := b.(store.Pooled); ok {
		s.metrics.pool = p.Pool
	}
	s.gate = newGate(o.Limits.Fits, s.metrics)
	s.store = store.New(b, store.Options{
		Version: o.Version, Lease: o.Lease, ReadTime: o.Limits.Read, Admit: s.gate.enter,
		OnFit: func(_ loop.Fit, d time.Duration) { s.metrics.fits.observe(d.Seconds()) },
	})
	s.handler = s.routes()
	s.pruning.Go(s.prune)
	return s
}

// pruneEvery is the interval in which the server deletes old replies to requests.
const pruneEvery = time.Hour

// prune deletes old replies to requests until the server shuts down.
func (s *Server) prune() {
	for {
		if err := s.store.Prune(s.closing); err != nil && s.closing.Err() == nil {
			s.opts.Log.Warn("old replies to requests were not deleted", "error", err.Error())
		}
		select {
		case <-s.closing.Done():
			return
		case <-time.After(pruneEvery):
		}
	}
}

// Close closes the store. Requests must have ended, as they have after Serve.
func (s *Server) Close() error {
	s.shut()
	s.pruning.Wait()
	return s.store.Close()
}

// Handler returns the handler of all paths, for a server other than Serve's.
func (s *Server) Handler() http.Handler { return s.handler }

// Store returns the store of the studies.
func (s *Server) Store() *store.Store { return s.store }

func (s *Server) routes() http.Handler {
	options := []connect.HandlerOption{
		connect.WithCodec(strictJSON("json")), connect.WithCodec(strictJSON("json; charset=utf-8")),
		connect.WithReadMaxBytes(s.opts.Limits.Bytes),
		connect.WithRequestGate(s.authorize),
		connect.WithInterceptors(&observer{s}),
	}
	mux := http.NewServeMux()
	mount := func(procedure string, h http.Handler) { mux.Handle(procedure, s.observed(procedure, h)) }
	handleStudies(mount, &service{Server: s}, options)
	handleHealth(mount, &health{s, make(chan struct{}, maxProbes)}, options)
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.Handle("GET /metrics", s.protected(Read, s.metrics.handler()))
	mux.Handle("/", s.dashboard())
	return s.guard(unprefixed(s.opts.Prefix, mux))
}

// unprefixed removes the prefix from the paths of requests that have it.
func unprefixed(prefix string, next http.Handler) http.Handler {
	if prefix == "" {
		return next
	}
	strip := http.StripPrefix(prefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch rest, found := strings.CutPrefix(r.URL.Path, prefix); {
		case found && rest == "":
			http.Redirect(w, r, prefix+"/", http.StatusPermanentRedirect)
		case found && rest[0] == '/':
			strip.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

var prefixes = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

// CheckPrefix returns an error for a text that is no Options.Prefix.
func CheckPrefix(prefix string) error {
	if !prefixes.MatchString(prefix) {
		return fmt.Errorf("the prefix is %q, want a path such as /bo, of letters, digits, '.', '_', '~' and '-'", prefix)
	}
	return nil
}

// service implements bo.v1.StudyService.
type service struct{ *Server }

// study returns a study that exists and that the token of the request permits.
func (s *Server) study(ctx context.Context, name string) (*open, error) {
	if err := study.CheckName(name); err != nil {
		return nil, invalid("study: %w", err)
	}
	if err := permit(ctx, name); err != nil {
		return nil, err
	}
	if u := s.use(name); u != nil {
		return u, nil
	}
	stored, err := s.store.Study(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.opened(stored), nil
}

// opened returns the open form of a study, the same for all requests.
func (s *Server) opened(stored *store.Study) *open {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.studies[stored.Name()]; u != nil {
		return u
	}
	s.used++
	u := &open{study: stored, used: s.used}
	s.studies[stored.Name()] = u
	s.evict()
	return u
}

// use returns an open study, nil if it is not open, and bounds the studies in memory.
func (s *Server) use(name string) *open {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.studies[name]
	if u != nil {
		s.used++
		u.used = s.used
		s.evict()
	}
	return u
}

// evict closes the studies whose last use is longest ago, except the last one, until the others are within the
// bounds. The caller holds s.mu.
func (s *Server) evict() {
	held := 0
	for _, u := range s.studies {
		held += u.study.Held()
	}
	for len(s.studies) > maxOpen || held > s.maxHeld && len(s.studies) > 1 {
		oldest := ""
		for name, u := range s.studies {
			if oldest == "" || u.used < s.studies[oldest].used {
				oldest = name
			}
		}
		held -= s.studies[oldest].study.Held()
		delete(s.studies, oldest) // requests that hold it continue, and its watchers poll
	}
}

// forget closes a study that does not exist.
func (s *Server) forget(name string, err error) {
	if errors.Is(err, store.ErrNoStudy) {
		s.deleted(name)
	}
}

// deleted closes a study, and wakes the streams of its events.
func (s *Server) deleted(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.studies[name]; u != nil {
		delete(s.studies, name)
		u.changed.Send()
	}
}
