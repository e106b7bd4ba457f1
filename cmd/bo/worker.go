package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/server/worker"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

type workerCmd struct {
	Program []string `arg:"" optional:"" placeholder:"WORD" help:"The program and its arguments, after --, with {name} for the values of parameters."`

	Server string `group:"service" env:"BO_SERVER" placeholder:"URL" help:"Address of the service. Default: the value of BO_SERVER."`
	Study  string `group:"service" placeholder:"NAME" required:"" help:"Name of the study."`
	serviceFlags
	Name    string        `group:"service" placeholder:"NAME" help:"Name of the worker in the study. Default: host and process number."`
	Workers int           `group:"program" default:"0" min:"1" placeholder:"N" help:"Evaluations at a time. Default: the number in the study, or 1."`
	Timeout time.Duration `group:"program" default:"0" placeholder:"TIME" help:"Time limit of a trial, such as 90s or 2h. Default: the limit in the study, or none."`
	Time    time.Duration `group:"end" placeholder:"TIME" help:"Start no trial after TIME, such as 90m or 2h."`
	Quiet   bool          `group:"result" help:"Print no progress."`
	JSON    bool          `group:"result" name:"json" help:"Print the result as one JSON object."`
}

// serviceFlags are the token and the certificate authority for a service.
type serviceFlags struct {
	TokenFile string `group:"service" name:"token-file" placeholder:"FILE" help:"File with the token of the worker, which may be replaced while it runs. Default: the token in BO_TOKEN, if any."`
	CA        string `group:"service" name:"ca" placeholder:"FILE" help:"Certificate authority of the service (PEM), in addition to the authorities of the system."`
}

func (workerCmd) Help() string {
	return `Asks the service for trials, runs the program for each and tells the results, until the study ends. The program gets its parameters as with bo run: by {name} in its arguments and on standard input. The last line of its output is a number or a JSON object of numbers, and lines such as {"step": 3, "value": 0.41} report its progress. Its output is in bo-trials/STUDY/TRIAL.ATTEMPT.

If the service cannot be reached, the worker repeats its requests and the program runs on. Ctrl-C kills the program and returns the trial to the study. The command that is stored with a study never runs: the worker runs its own program alone.

Example:

    bo worker --server http://localhost:7040 --study resnet -- python train.py --lr {lr}`
}

func (c *workerCmd) Run(e *env) error {
	if len(c.Program) == 0 {
		return usagef("missing program: state it after --, as in bo worker --study resnet -- python train.py --lr {lr}")
	}
	if err := study.CheckName(c.Study); err != nil {
		return usageError{fmt.Errorf("--study: %w", err)}
	}
	client, err := c.client(e, c.Server)
	if err != nil {
		return err
	}
	out := &workerLog{e: e, quiet: c.Quiet}
	o := worker.Options{Study: c.Study, Name: c.Name, Time: c.Time, OnEnd: out.ended, OnStop: out.print, OnRetry: out.retried}
	d, err := worker.Definition(e.ctx, client, o)
	if err != nil {
		return explained(c.Server, err)
	}
	if err := d.CheckRun(); err != nil {
		return usagef("study %s: %w", c.Study, err)
	}
	p, err := newProgramOf(c.Program, placeholdersOf(d), cmp.Or(c.Timeout, d.Timeout.Value()))
	if usage, ok := errors.AsType[usageError](err); ok {
		return usagef("the program%s", strings.TrimPrefix(usage.Error(), "--command"))
	} else if err != nil {
		return fmt.Errorf("the program%s", strings.TrimPrefix(err.Error(), "--command"))
	}
	p.declared, p.dir = d.Reported(), filepath.Join("bo-trials", c.Study)
	ctx, stop := context.WithCancelCause(e.ctx)
	defer stop(nil)
	p.warn, p.halt = out.warn, stop
	evaluate := func(ctx context.Context, t store.Trial, at space.Point) (store.Report, error) {
		return p.evaluate(ctx, newCall(c.Study, t, at))
	}
	out.definition, o.Workers = d, cmp.Or(c.Workers, d.Workers)
	done, err := worker.Run(ctx, client, evaluate, o)
	if err != nil && e.ctx.Err() == nil {
		return explained(c.Server, err)
	}
	if loses(err) { // otherwise err is printed at the end
		fmt.Fprintf(e.stderr, "bo: %s\n", oneLine(explained(c.Server, err).Error()))
	}
	if printed := c.print(e, done); printed != nil {
		return printed
	}
	return err
}

func (c *workerCmd) print(e *env, done worker.Done) error {
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"study": c.Study, "evaluated": done.Evaluated, "failed": done.Failed, "reason": done.Reason})
	}
	failed := ""
	if done.Failed > 0 {
		failed = fmt.Sprintf(", %d failed", done.Failed)
	}
	_, err := fmt.Fprintf(e.stdout, "evaluated %s%s: %s\n", count(done.Evaluated, "trial"), failed, oneLine(cmp.Or(done.Reason, "interrupted")))
	return err
}

// explained drops the code of an error of a service, and names the address if it was not reached.
func explained(address string, err error) error {
	if lost, ok := errors.AsType[*store.NotStored](err); ok {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			all := slices.Clone(joined.Unwrap())
			for i := range all {
				all[i] = explained(address, all[i])
			}
			return errors.Join(all...)
		}
		return &store.NotStored{Report: lost.Report, Err: explained(address, lost.Err)}
	}
	e, ok := errors.AsType[*connect.Error](err)
	if !ok {
		return err
	}
	switch e.Code() {
	case connect.CodeUnavailable, connect.CodeUnknown, connect.CodeUnimplemented:
		return fmt.Errorf("%s: %s", address, e.Message())
	case connect.CodeNotFound:
		return usageError{errors.New(e.Message())}
	}
	return errors.New(e.Message())
}

// client returns a client of the service at an address, with the token.
func (c *serviceFlags) client(e *env, address string) (*worker.HTTP, error) {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return nil, usagef("missing --server URL, such as http://localhost:7040")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "":
		return nil, usagef("--server is not an address such as http://localhost:7040")
	}
	token, err := c.token()
	if err != nil {
		return nil, err
	}
	if token != "" && u.Scheme == "http" && !server.Loopback(u.Hostname()+":0") {
		fmt.Fprintln(e.stderr, "bo: warning: the token travels unencrypted: use https")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// Without pings a connection to a host that has vanished stays in use for a quarter of an hour.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, usageError{fmt.Errorf("--ca: %w", err)}
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, usagef("--ca: %s has no certificate", c.CA)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	client := &http.Client{Transport: transport}
	if c.TokenFile != "" {
		client.Transport = &replacedToken{transport, c}
	}
	return &worker.HTTP{URL: address, Token: token, Client: client}, nil
}

// replacedToken sends the present token of the file in place of the first one, so that the token may be replaced while
// the worker runs.
type replacedToken struct {
	http.RoundTripper
	flags *serviceFlags
}

func (t *replacedToken) RoundTrip(r *http.Request) (*http.Response, error) {
	if token, err := t.flags.token(); err == nil && r.Header.Get("Authorization") != "" { // none after a redirection to another host
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return t.RoundTripper.RoundTrip(r)
}

// token returns the token of the worker, "" if it has none.
func (c *serviceFlags) token() (string, error) {
	if c.TokenFile == "" {
		return strings.TrimSpace(os.Getenv("BO_TOKEN")), nil
	}
	text, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", usageError{fmt.Errorf("--token-file: %w", err)}
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \n") {
		return "", usagef("--token-file: %s has no token", c.TokenFile)
	}
	return token, nil
}

// workerLog prints the results of a worker.
type workerLog struct {
	e          *env
	quiet      bool
	definition *study.Definition

	mu     sync.Mutex
	warned time.Time // of the last message about requests that fail
}

func (l *workerLog) ended(t store.Trial, r store.Report) { l.print(result(t, r)) }

// result returns a trial with its result.
func result(t store.Trial, r store.Report) store.Trial {
	t.State, t.Numbers, t.Message, t.Seconds, t.Failure = store.Complete, r.Numbers, r.Message, r.Seconds, r.Failure
	if r.Failure != "" {
		t.State = store.Failed
	}
	return t
}

// print prints a trial that has ended.
func (l *workerLog) print(t store.Trial) {
	if l.quiet {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.e.stderr, "trial %s\n", strings.TrimSpace(trialText(&t, &store.View{Definition: l.definition}, nil)))
}

// retried prints a request that fails, once in ten seconds.
func (l *workerLog) retried(err error, _ time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quiet || time.Since(l.warned) < 10*time.Second {
		return
	}
	l.warned = time.Now()
	fmt.Fprintf(l.e.stderr, "bo: warning: %s; trying again\n", oneLine(err.Error()))
}

// warn prints a warning.
func (l *workerLog) warn(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.quiet {
		fmt.Fprintf(l.e.stderr, "bo: warning: %s\n", oneLine(text))
	}
}
