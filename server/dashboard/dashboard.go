// Package dashboard serves pages for browsers about the studies of a store: the list of studies, and for
// each study its state, its trials, its trials' details and the pictures of package insight/report. Pages
// change nothing. They follow changes by server-sent events.
package dashboard

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/functionspace/bo/store"
)

// Options connect a dashboard to its server. All fields but Sessions and Prefix are needed.
type Options struct {
	Store *store.Store
	// Study returns a study and a channel that is closed when a request changes the study.
	Study func(ctx context.Context, name string) (*store.Study, <-chan struct{}, error)
	// Admit waits for a slot of a fit. The caller calls done at the end of the fit.
	Admit func(ctx context.Context) (done func(), err error)
	// Watch counts a stream of events until leave is called.
	Watch func() (leave func(), err error)
	// Wait bounds the time of the computation of a page, with its fits.
	Wait time.Duration
	// Closing ends when the server shuts down.
	Closing context.Context
	// Sessions authenticates readers. Nil admits everyone.
	Sessions Sessions
	// Status returns the status and the text of an error for the reader.
	Status func(ctx context.Context, err error) (int, string)
	// Prefix begins the paths of pages for browsers, such as /bo behind a proxy; "" is none. Requests come without it.
	Prefix string
	// Observe is called at the end of each request.
	Observe func(ctx context.Context, method, study, reader, peer string, status int, seconds float64)
	Log     *slog.Logger
}

// Sessions authenticates readers.
type Sessions interface {
	// Begin returns the session of a token. The text of an error is for the reader.
	Begin(token string) (session string, err error)
	// Reader returns the reader of a session, if the token is still valid.
	Reader(session string) (r Reader, ok bool)
	// Bearer returns the reader with the token in the header Authorization.
	Bearer(header http.Header) (r Reader, ok bool)
}

// Reader is the owner of a token.
type Reader struct {
	Name    string // of the token
	Studies string // beginning of the names of the studies that the reader may see
}

// permits reports whether the reader may see a study. Nil is no reader, and may see none.
func (r *Reader) permits(study string) bool { return r != nil && strings.HasPrefix(study, r.Studies) }

// Dashboard is the handler of all pages.
type Dashboard struct {
	Options
	mux   *http.ServeMux
	pages *template.Template
	jobs  *jobs
	lists lists
	facts factCache
}

// New returns a Dashboard.
func New(o Options) *Dashboard {
	d := &Dashboard{Options: o, mux: http.NewServeMux(), jobs: newJobs(o)}
	d.pages = template.Must(templates().Clone()).Funcs(template.FuncMap{"at": d.at})
	d.page("GET /{$}", "studies", d.studies)
	d.page("GET /studies/{study}", "study", d.study)
	d.page("GET /studies/{study}/pictures", "pictures", d.pictures)
	d.page("GET /studies/{study}/trials/{trial}", "trial", d.trial)
	d.data("GET /studies/{study}/history", "history", d.history)
	d.data("GET /studies/{study}/records", "records", d.records)
	d.data("GET /studies/{study}/events", "events", d.studyEvents)
	d.data("GET /studies/{study}/models", "models", d.models)
	d.data("GET /studies/{study}/trials/{trial}/why", "why", d.why)
	d.data("GET /events", "events", d.listEvents)
	d.handle("POST /login", "login", d.login)
	d.handle("POST /logout", "logout", d.logout)
	d.handle("GET /assets/{name}", "assets", d.asset)
	d.handle("/", "unknown", func(w http.ResponseWriter, r *http.Request) error {
		http.NotFound(w, r)
		return nil
	})
	return d
}

// ServeHTTP implements http.Handler.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.mux.ServeHTTP(w, r) }

// policy permits what the pages contain: files of this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

type handler func(w http.ResponseWriter, r *http.Request) error

// readerKey is the key of the Reader of a request in its context.
type readerKey struct{}

// readerOf returns the reader of a request, nil without a valid token.
func readerOf(r *http.Request) *Reader {
	reader, _ := r.Context().Value(readerKey{}).(*Reader)
	return reader
}

// route is the handler of a pattern.
type route struct {
	dashboard *Dashboard
	method    string // for logs and metrics
	serve     handler
}

// handle serves a pattern for everyone.
func (d *Dashboard) handle(pattern, method string, h handler) {
	d.mux.Handle(pattern, &route{d, "Dashboard." + method, h})
}

// ServeHTTP implements http.Handler.
func (p *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun, sent, d := time.Now(), &recorder{ResponseWriter: w}, p.dashboard
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "same-origin")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	name := ""
	if reader, ok := d.reader(r); ok {
		name = reader.Name
		r = r.WithContext(context.WithValue(r.Context(), readerKey{}, &reader))
	}
	defer func() {
		if fault := recover(); fault != nil {
			if fault == http.ErrAbortHandler {
				panic(fault)
			}
			d.Log.ErrorContext(r.Context(), "panic", "method", p.method, "fault", fault, "stack", string(debug.Stack()))
			if sent.status == 0 {
				d.fault(sent, r, http.StatusInternalServerError, "internal error, which the log of the server describes")
			}
		}
		d.Observe(r.Context(), p.method, r.PathValue("study"), name, hostOf(r.RemoteAddr), sent.status, time.Since(begun).Seconds())
	}()
	if err := p.serve(sent, r); err != nil && sent.status == 0 {
		status, text := d.Status(r.Context(), err)
		d.fault(sent, r, status, text)
	}
}

// page serves a page for readers. Others get the form for a token.
func (d *Dashboard) page(pattern, method string, h handler) {
	d.handle(pattern, method, func(w http.ResponseWriter, r *http.Request) error {
		if !d.admitted(r) {
			return d.loginPage(w, r, r.URL.RequestURI(), "")
		}
		return d.permitted(h)(w, r)
	})
}

// data serves data to the scripts of pages, and not to pages of other origins.
func (d *Dashboard) data(pattern, method string, h handler) {
	d.handle(pattern, method, func(w http.ResponseWriter, r *http.Request) error {
		site := r.Header.Get("Sec-Fetch-Site")
		switch {
		case site != "" && site != "same-origin" && site != "none":
			http.Error(w, "the server answers requests of its own pages only", http.StatusForbidden)
		case !d.admitted(r):
			http.Error(w, "sign in with a token", http.StatusUnauthorized)
		default:
			return d.permitted(h)(w, r)
		}
		return nil
	})
}

// permitted is h for studies that the reader may see. Others do not exist for the reader.
func (d *Dashboard) permitted(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		name := r.PathValue("study") // "" of the list
		if reader := readerOf(r); name != "" && !reader.permits(name) {
			return fmt.Errorf("study %s: %w", name, store.ErrNoStudy)
		}
		return h(w, r)
	}
}

// reader returns the reader of a request, if it has a valid token or Sessions is nil.
func (d *Dashboard) reader(r *http.Request) (reader Reader, ok bool) {
	if d.Sessions == nil {
		return reader, true
	}
	if reader, ok = d.Sessions.Bearer(r.Header); ok {
		return reader, true
	}
	c, err := r.Cookie(cookieName)
	if err != nil {
		return Reader{}, false
	}
	return d.Sessions.Reader(c.Value)
}

func (d *Dashboard) admitted(r *http.Request) bool {
	_, ok := d.reader(r)
	return ok
}

// fault answers with an error: a page for browsers, a line for scripts.
func (d *Dashboard) fault(w http.ResponseWriter, r *http.Request, status int, text string) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest != "document" && dest != "" {
		http.Error(w, text, status)
		return
	}
	_ = d.render(w, r, status, "fault", frame{Title: http.StatusText(status)}, text)
}

// frame is the data of all pages.
type frame struct {
	Title   string
	Reader  string // name of the token
	Study   string // "" for pages that belong to no study
	Tab     string
	Session bool // the reader can sign out
	Data    any
}

// render writes a page. Nothing is written if the template fails.
func (d *Dashboard) render(w http.ResponseWriter, r *http.Request, status int, name string, f frame, data any) error {
	if reader := readerOf(r); reader != nil {
		f.Reader = reader.Name
	}
	f.Session = f.Reader != ""
	f.Data = data
	var b bytes.Buffer
	if err := d.pages.ExecuteTemplate(&b, name, f); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
	return nil
}

// recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(p)
}

// Unwrap gives http.ResponseController the writer of the server.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// at returns the path of a page for browsers.
func (d *Dashboard) at(path string) string { return d.Prefix + path }

// studyPath returns the path of a page of a study, without the prefix.
func studyPath(name string, parts ...string) string {
	path := "/studies/" + url.PathEscape(name)
	for _, p := range parts {
		path += "/" + url.PathEscape(p)
	}
	return path
}
