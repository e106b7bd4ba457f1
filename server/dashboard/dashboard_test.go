package dashboard_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/server/internal/servertest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// running is a server on a free port.
type running struct {
	*server.Server
	servertest.Running
	log *servertest.Log
}

func start(t testing.TB, b store.Backend, o server.Options) *running {
	return startAt(t, b, o, servertest.AnyPort)
}

func startAt(t testing.TB, b store.Backend, o server.Options, address string) *running {
	t.Helper()
	r := &running{log: &servertest.Log{}}
	o.Log = r.log.Logger()
	r.Server = server.New(b, o)
	r.Running = servertest.Start(t, r.Server, address)
	return r
}

// tokenOptions returns a token of each role, and options with them.
func tokenOptions(t testing.TB) (map[server.Role]string, server.Options) {
	path, tokens := filepath.Join(t.TempDir(), "tokens.json"), map[server.Role]string{}
	var list []server.Token
	for _, role := range server.Roles {
		text, entry, err := server.NewToken("t-"+string(role), role)
		require.NoError(t, err)
		list, tokens[role] = append(list, entry), text
	}
	var b bytes.Buffer
	require.NoError(t, server.WriteTokens(&b, list))
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	opened, err := server.OpenTokens(path, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return tokens, server.Options{Tokens: opened}
}

func protected(t testing.TB, address string) (*running, map[server.Role]string) {
	tokens, o := tokenOptions(t)
	return startAt(t, store.NewMemory(), o, address), tokens
}

func bowl(name string, budget int) *study.Definition {
	return &study.Definition{
		Version: 1, Name: name, Budget: budget, Initial: min(5, budget), Objectives: []study.Objective{{Name: "loss"}},
		Parameters: []space.Parameter{space.Float("x", 0, 1), space.Categorical("kind", "a", "b")},
	}
}

func (r *running) create(t testing.TB, d *study.Definition) *store.Study {
	u, err := r.Store().Create(t.Context(), d)
	require.NoError(t, err)
	return u
}

// add adds evaluations with the given values.
func add(t testing.TB, u *store.Study, values ...float64) {
	trials := make([]store.Evaluated, len(values))
	for i, v := range values {
		trials[i] = store.Evaluated{Params: map[string]any{"x": float64(i) / float64(len(values)), "kind": []string{"a", "b"}[i%2]}, Numbers: map[string]float64{"loss": v}}
	}
	_, err := u.Add(t.Context(), "", trials...)
	require.NoError(t, err)
}

// get returns the status, the header and the text of a page.
func (r *running) get(t testing.TB, path string, header ...string) (int, http.Header, string) {
	return r.send(t, http.MethodGet, path, "", header...)
}

func (r *running) send(t testing.TB, method, path, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	q, err := http.NewRequest(method, r.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			q.Host = header[i+1]
		}
		q.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(q)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, string(text)
}
