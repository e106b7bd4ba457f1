package main

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/functionspace/bo/internal/filelock"
	"github.com/functionspace/bo/internal/parallel"
	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/study"
)

// defaultTokens is the file of tokens if --tokens is not given.
const defaultTokens = "bo-tokens.json"

type serveCmd struct {
	storeFlags
	Listen     string `group:"service" default:"localhost:7040" placeholder:"HOST:PORT" help:"Address of the service; port 0 selects a free one. Default: ${default}."`
	Tokens     string `group:"service" placeholder:"FILE" help:"Tokens of clients, from bo token add. Default: bo-tokens.json if it exists."`
	SessionKey string `group:"service" placeholder:"FILE" help:"File of at least 32 random bytes that signs the sessions of browsers. Services with the same file accept one another's sessions. Default: a random key, so that sessions end with the service."`
	TLSCert    string `group:"service" name:"tls-cert" placeholder:"FILE" help:"Certificate chain of the service (PEM)."`
	TLSKey     string `group:"service" name:"tls-key" placeholder:"FILE" help:"Private key of --tls-cert (PEM)."`
	Prefix     string `group:"service" placeholder:"PATH" help:"Path of the service behind a proxy, such as /bo. The proxy may remove it from requests or leave it."`
	Log        string `group:"service" default:"text" enum:"text,json" placeholder:"FORMAT" help:"Form of the log on standard error: text or json. Default: ${default}."`
	Quiet      bool   `group:"service" help:"Log warnings and errors alone."`

	Lease         time.Duration `group:"limit" default:"1m" placeholder:"TIME" help:"Issue a trial again if its worker sends no heartbeat for TIME. Default: ${default}."`
	MaxFits       int           `group:"limit" default:"0" min:"1" placeholder:"N" help:"Suggestions computed at a time. Default: half of the processors."`
	MaxTrials     int           `group:"limit" default:"10000" min:"1" placeholder:"N" help:"Largest budget of a study, and trials of a request. Default: ${default}."`
	MaxParameters int           `group:"limit" default:"200" min:"1" placeholder:"N" help:"Largest number of parameters of a study. Default: ${default}."`
	MaxBytes      int           `group:"limit" default:"33554432" min:"1024" placeholder:"N" help:"Largest request in bytes. All requests above 64 KiB under way may have four times as many bytes together. Default: ${default}."`
	MaxWait       time.Duration `group:"limit" default:"5m" placeholder:"TIME" help:"Longest time of a request for suggestions. Default: ${default}."`
}

func (serveCmd) Help() string {
	return `Serves the studies of a store over HTTP until it is interrupted: gRPC, gRPC-Web, and JSON for curl. Methods suggest points without a store, create, edit and delete studies, ask, tell and fail, list and export, and send events as they happen. The server runs no programs: bo worker does.

Without tokens the service answers on this machine alone. bo token add makes tokens with the roles read, work and admin. Clients send the header Authorization: Bearer TOKEN. Use TLS, here or in a proxy, on other networks.

A browser shows the studies at the same address: their state, history, trials and pictures. A token of role read signs in.

/healthz reports whether the service is ready, and /metrics has measurements for Prometheus. The service ends after SIGTERM as soon as the requests under way are answered.

Examples:

    bo serve
    curl -H 'Content-Type: application/json' -d '{"study": "bread"}' localhost:7040/bo.v1.StudyService/GetStudy
    bo token add ci --role work
    bo serve --listen 0.0.0.0:7040 --tls-cert cert.pem --tls-key key.pem`
}

func (c *serveCmd) Run(e *env) error {
	log := c.logger(e)
	if err := server.CheckPrefix(c.Prefix); err != nil {
		return usageError{fmt.Errorf("--prefix: %w", err)}
	}
	tokens, err := c.tokens(log)
	if err != nil {
		return err
	}
	if !server.Loopback(c.Listen) && (tokens == nil || tokens.Len() == 0) {
		return usagef("--listen %s: a service for other machines needs a token: bo token add NAME --role work", c.Listen)
	}
	key, err := c.sessionKey()
	if err != nil {
		return err
	}
	secure, err := c.tls(log)
	if err != nil {
		return err
	}
	if secure == nil && !server.Loopback(c.Listen) {
		log.Warn("tokens and results travel unencrypted: give --tls-cert and --tls-key, or listen on localhost behind a proxy")
	}
	backend, err := c.backend(e.ctx, true)
	if err != nil {
		return err
	}
	// Fits use all processors. Two further ones of the Go scheduler are for requests, so that the
	// operating system divides the processors between fits and requests, within milliseconds.
	fits := runtime.GOMAXPROCS(0)
	parallel.Limit(fits)
	runtime.GOMAXPROCS(fits + 2)
	s := server.New(backend, server.Options{Version: version(), Tokens: tokens, SessionKey: key, Log: log, Lease: c.Lease, Prefix: c.Prefix, Limits: server.Limits{
		Fits: cmp.Or(c.MaxFits, max(1, fits/2)), Trials: c.MaxTrials, Parameters: c.MaxParameters, Bytes: c.MaxBytes, Wait: c.MaxWait,
	}})
	return errors.Join(c.listen(e, s, secure), s.Close())
}

// listen serves until the command is interrupted. It prints the address, for programs that start the
// service on a free port.
func (c *serveCmd) listen(e *env, s *server.Server, secure *tls.Config) error {
	l, err := (&net.ListenConfig{}).Listen(e.ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	scheme := "http"
	if secure != nil {
		scheme = "https"
	}
	if _, err := fmt.Fprintf(e.stdout, "serving %s on %s://%s\n", c.shown(), scheme, l.Addr()); err != nil {
		return err
	}
	return s.Serve(e.ctx, l, secure)
}

// tokens returns the tokens of clients, nil if there is no file.
func (c *serveCmd) tokens(log *slog.Logger) (*server.Tokens, error) {
	t, err := server.OpenTokens(cmp.Or(c.Tokens, defaultTokens), log)
	switch {
	case err != nil && c.Tokens == "" && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, usageError{fmt.Errorf("--tokens: %w", err)}
	}
	return t, nil
}

// sessionKey returns the key of the sessions of browsers, nil without a file.
func (c *serveCmd) sessionKey() ([]byte, error) {
	if c.SessionKey == "" {
		return nil, nil
	}
	const least = 32
	key, err := os.ReadFile(c.SessionKey)
	if err == nil && len(key) < least {
		err = fmt.Errorf("%s has %d bytes, want at least %d: head -c 32 /dev/urandom > %[1]s", c.SessionKey, len(key), least)
	}
	if err != nil {
		return nil, usageError{fmt.Errorf("--session-key: %w", err)}
	}
	return key, nil
}

// tls returns the configuration of TLS, nil without a certificate.
func (c *serveCmd) tls(log *slog.Logger) (*tls.Config, error) {
	switch {
	case c.TLSCert == "" && c.TLSKey == "":
		return nil, nil
	case c.TLSCert == "" || c.TLSKey == "":
		return nil, usagef("--tls-cert and --tls-key belong together")
	}
	pair, err := server.OpenCertificate(c.TLSCert, c.TLSKey, log)
	if err != nil {
		return nil, usageError{fmt.Errorf("--tls-cert: %w", err)}
	}
	return pair.Config(), nil
}

func (c *serveCmd) logger(e *env) *slog.Logger {
	o := &slog.HandlerOptions{}
	if c.Quiet {
		o.Level = slog.LevelWarn
	}
	if c.Log == "json" {
		return slog.New(slog.NewJSONHandler(e.stderr, o))
	}
	return slog.New(slog.NewTextHandler(e.stderr, o))
}

type tokenCmd struct {
	Add    tokenAddCmd    `cmd:"" help:"Make a token and print it."`
	List   tokenListCmd   `cmd:"" help:"List the names, roles, studies and ends of tokens."`
	Remove tokenRemoveCmd `cmd:"" help:"Remove a token."`
}

type tokenFile struct {
	Tokens string `default:"bo-tokens.json" placeholder:"FILE" help:"File of tokens. Default: ${default}."`
}

// read returns the tokens of the file, none if it does not exist.
func (f tokenFile) read() ([]server.Token, error) {
	list, err := server.ReadTokens(f.Tokens)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

// change replaces the tokens of the file by the result of do. Commands that run at once wait for each
// other, by the lock of a file beside it. Only its owner can read a new file.
func (f tokenFile) change(do func([]server.Token) ([]server.Token, error)) error {
	path := resolve(f.Tokens)
	guard, err := os.OpenFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer guard.Close()
	if err := filelock.Lock(guard); err != nil {
		return fmt.Errorf("%s: %w", guard.Name(), err)
	}
	list, err := f.read()
	if err != nil {
		return err
	}
	if list, err = do(list); err != nil {
		return err
	}
	return writeFileMode(path, 0o600, func(w io.Writer) error { return server.WriteTokens(w, list) })
}

// indexOf returns the index of the token of a name, -1 if there is none.
func indexOf(list []server.Token, name string) int {
	return slices.IndexFunc(list, func(t server.Token) bool { return t.Name == name })
}

type tokenAddCmd struct {
	tokenFile
	Name    string        `arg:"" help:"Name of the token, for the log of the service."`
	Role    string        `default:"work" enum:"read,work,admin" placeholder:"ROLE" help:"read: read studies; work: also suggest, ask and tell; admin: also create, edit and delete studies. Default: ${default}."`
	Studies string        `placeholder:"PREFIX" help:"Permit only studies whose names begin with PREFIX. Default: all studies."`
	Valid   time.Duration `placeholder:"TIME" help:"The token expires after TIME, such as 720h. Default: never."`
}

func (tokenAddCmd) Help() string {
	return `Prints the token once. The file has its hash alone, so that the file does not give access. A running service takes a new token of its file within a second. A service that began without the file stays without tokens until it starts again.

A token with --studies lists, reads and changes no other studies, here and in a browser. With the role admin it creates, edits and deletes studies with this prefix.

Examples:

    bo token add ci --role work > token
    bo token add anna --role admin --studies anna- --valid 720h
    bo worker --server https://bo.example.org --token-file token --study bread -- ./bake {x}`
}

func (c *tokenAddCmd) Run(e *env) error {
	text, t, err := server.NewToken(c.Name, server.Role(c.Role))
	if err != nil {
		return usageError{err}
	}
	if c.Studies != "" {
		if err := study.CheckName(c.Studies); err != nil {
			return usageError{fmt.Errorf("--studies: %w", err)}
		}
	}
	if t.Studies = c.Studies; c.Valid > 0 {
		t.Expires = t.Created.Add(c.Valid)
	}
	if err := c.change(func(list []server.Token) ([]server.Token, error) {
		if indexOf(list, c.Name) >= 0 {
			return nil, usagef("%s has a token %s: remove it first, or choose another name", c.Tokens, c.Name)
		}
		return append(list, t), nil
	}); err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.stdout, text)
	return err
}

type tokenListCmd struct {
	tokenFile
	JSON bool `group:"result" name:"json" help:"Print a JSON array."`
}

func (c *tokenListCmd) Run(e *env) error {
	list, err := c.read()
	if err != nil {
		return err
	}
	if c.JSON {
		type row struct {
			Name    string      `json:"name"`
			Role    server.Role `json:"role"`
			Created time.Time   `json:"created"`
			Studies string      `json:"studies,omitempty"`
			Expires time.Time   `json:"expires,omitzero"`
		}
		rows := []row{}
		for _, t := range list {
			rows = append(rows, row{t.Name, t.Role, t.Created, t.Studies, t.Expires})
		}
		return printJSON(e.stdout, rows)
	}
	if len(list) == 0 {
		fmt.Fprintf(e.stderr, "%s has no tokens\n", c.Tokens)
		return nil
	}
	rows := [][]string{{"TOKEN", "ROLE", "STUDIES", "CREATED", "EXPIRES"}}
	for _, t := range list {
		studies, expires := "all", "never"
		if t.Studies != "" {
			studies = t.Studies + "*"
		}
		if !t.Expires.IsZero() {
			expires = t.Expires.Local().Format(time.DateTime)
		}
		rows = append(rows, []string{t.Name, string(t.Role), studies, t.Created.Local().Format(time.DateTime), expires})
	}
	return printTable(e.stdout, rows)
}

type tokenRemoveCmd struct {
	tokenFile
	Name string `arg:"" help:"Name of the token."`
}

func (c *tokenRemoveCmd) Run(*env) error {
	return c.change(func(list []server.Token) ([]server.Token, error) {
		at := indexOf(list, c.Name)
		if at < 0 {
			return nil, usagef("%s has no token %q", c.Tokens, c.Name)
		}
		return slices.Delete(list, at, at+1), nil
	})
}
