package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/api/bo/v1/bov1connect"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// tokenFile writes a token of each role and returns the path and the tokens.
func tokenFile(t testing.TB) (path string, tokens map[Role]string) {
	path, tokens = filepath.Join(t.TempDir(), "tokens.json"), map[Role]string{}
	var list []Token
	for _, role := range Roles {
		text, entry, err := NewToken("t-"+string(role), role)
		require.NoError(t, err)
		list, tokens[role] = append(list, entry), text
	}
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, WriteTokens(f, list))
	require.NoError(t, f.Close())
	return path, tokens
}

func protected(t testing.TB) (r *running, tokens map[Role]string, path string) {
	path, tokens = tokenFile(t)
	opened, err := OpenTokens(path, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return start(t, store.NewMemory(), Options{Tokens: opened}), tokens, path
}

// methods returns all methods of the service.
func methods() (all []protoreflect.MethodDescriptor) {
	list := bov1.File_bo_v1_study_proto.Services().Get(0).Methods()
	for i := range list.Len() {
		all = append(all, list.Get(i))
	}
	return all
}

// codeOf sends an empty message and returns the code of the answer.
func codeOf(t *testing.T, r *running, m protoreflect.MethodDescriptor, header ...string) string {
	body := "{}"
	if m.IsStreamingServer() {
		body = "\x00\x00\x00\x00\x02{}"
		header = append(header, "Content-Type", "application/connect+json")
	}
	status, text := r.post(t, string(m.Name()), body, header...)
	if i := strings.Index(text, "{"); i > 0 {
		text = text[i:]
	}
	var answer struct {
		Code  string
		Error struct{ Code string }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &answer), "%s: %d %q", m.Name(), status, text)
	switch {
	case answer.Code != "":
		return answer.Code
	case answer.Error.Code != "":
		return answer.Error.Code
	}
	return "ok"
}

// Each method takes the roles of this table, and no others.
func TestRoles(t *testing.T) {
	table := map[string]Role{
		"GetStudy": Read, "ListStudies": Read, "GetTrial": Read, "ListTrials": Read, "Watch": Read, "Export": Read,
		"Suggest": Work, "Enqueue": Work, "Ask": Work, "Heartbeat": Work, "Release": Work, "ReportSteps": Work, "Tell": Work, "Fail": Work,
		"CreateStudy": Admin, "EditStudy": Admin, "DeleteStudy": Admin,
	}
	r, tokens, _ := protected(t)
	require.Len(t, methods(), len(table))
	forged, _, err := NewToken("forged", Admin)
	require.NoError(t, err)
	for _, m := range methods() {
		name := string(m.Name())
		need, ok := table[name]
		require.True(t, ok, name)
		for _, header := range [][]string{
			nil, {"Authorization", "Bearer " + forged}, {"Authorization", "Bearer "}, {"Authorization", tokens[Admin]},
			{"Authorization", "Basic " + tokens[Admin]}, {"Authorization", "Bearer " + tokens[Admin] + "x"}, {"Cookie", "token=" + tokens[Admin]},
		} {
			require.Equal(t, "unauthenticated", codeOf(t, r, m, header...), name)
		}
		for i, role := range Roles {
			code := codeOf(t, r, m, "Authorization", "Bearer "+tokens[role])
			permitted := i >= map[Role]int{Read: 0, Work: 1, Admin: 2}[need]
			if permitted {
				require.NotContains(t, []string{"unauthenticated", "permission_denied", "internal"}, code, "%s by %s", name, role)
			} else {
				require.Equal(t, "permission_denied", code, "%s by %s", name, role)
			}
		}
	}
	get := func(path, token string) int {
		q, err := http.NewRequest(http.MethodGet, r.URL+path, nil)
		require.NoError(t, err)
		q.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	require.Equal(t, 200, get("/healthz", ""))
	require.Equal(t, 401, get("/metrics", forged))
	require.Equal(t, 200, get("/metrics", tokens[Read]))
	require.Equal(t, 404, get("/bo.v1.StudyService/Delete", tokens[Admin]))
	require.Equal(t, Admin, needed("/bo.v1.StudyService/Later"))
}

// bearer sends its token with each request.
type bearer string

func (b bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(q)
}

// A change of the file takes effect in a running server, also on streams.
func TestTokensChange(t *testing.T) {
	r, tokens, path := protected(t)
	d, err := study.Parse([]byte(bread))
	require.NoError(t, err)
	u, err := r.Store().Create(t.Context(), d)
	require.NoError(t, err)
	c := bov1connect.NewStudyServiceClient(&http.Client{Transport: bearer(tokens[Read])}, r.URL)
	stream, err := c.Watch(t.Context(), &bov1.WatchRequest{Study: "bread"})
	require.NoError(t, err)
	require.True(t, stream.Receive())
	status := func() int {
		s, _ := r.post(t, "ListStudies", "{}", "Authorization", "Bearer "+tokens[Read])
		return s
	}
	require.Equal(t, 200, status())
	require.NoError(t, os.WriteFile(path, []byte("[]"), 0o600))
	require.Eventually(t, func() bool { return status() == 401 }, 5*time.Second, 50*time.Millisecond)
	_, err = u.Enqueue(t.Context(), "", map[string]any{"x": 0.5, "n": 2})
	require.NoError(t, err)
	for stream.Receive() {
		require.NotEqual(t, string(store.TrialCreated), stream.Msg().Event.GetKind(), "an event after the end of the token")
	}
	require.Equal(t, connect.CodeUnauthenticated, connect.CodeOf(stream.Err()), "%v", stream.Err())
	require.NoError(t, os.Remove(path))
	time.Sleep(time.Second)
	require.Equal(t, 401, status())
}

// Tokens stay valid while their file cannot be read, and end with the file.
func TestTokensFault(t *testing.T) {
	path, tokens := tokenFile(t)
	var log bytes.Buffer
	opened, err := OpenTokens(path, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, step := range []struct {
		change string
		do     func() error
		valid  bool
		warned int
	}{
		{"emptied", func() error { return os.WriteFile(path, nil, 0o600) }, true, 1},
		{"cut", func() error { return os.WriteFile(path, whole[:len(whole)/2], 0o600) }, true, 2},
		{"whole", func() error { return os.WriteFile(path, whole, 0o600) }, true, 2},
		{"a folder", func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, true, 3},
		{"removed", func() error { return os.Remove(path) }, false, 4},
		{"emptied again", func() error { return os.WriteFile(path, nil, 0o600) }, false, 5},
		{"whole again", func() error { return os.WriteFile(path, whole, 0o600) }, true, 5},
		{"without tokens", func() error { return os.WriteFile(path, []byte("[]"), 0o600) }, false, 5},
	} {
		require.NoError(t, step.do(), step.change)
		for range 2 {
			opened.checked = time.Time{}
			_, ok := opened.find(tokens[Work])
			require.Equal(t, step.valid, ok, step.change)
			opened.checked = time.Time{}
			require.Equal(t, step.valid, len(opened.named("t-work")) == 1, step.change)
		}
		require.Equal(t, step.warned, strings.Count(log.String(), "level=WARN"), "%s: %s", step.change, log.String())
	}
}

// Neither logs nor the file contain a token.
func TestTokensStaySecret(t *testing.T) {
	r, tokens, path := protected(t)
	forged, _, err := NewToken("forged", Admin)
	require.NoError(t, err)
	for _, m := range methods() {
		for _, token := range []string{tokens[Read], tokens[Work], tokens[Admin], forged} {
			codeOf(t, r, m, "Authorization", "Bearer "+token)
			r.post(t, string(m.Name()), "{", "Authorization", "Bearer "+token)
			r.post(t, string(m.Name())+"?token="+token, "{}", "Authorization", token)
			r.post(t, token, "{}", "Authorization", token)
		}
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	log := r.log.String()
	require.Contains(t, log, "token=t-work")
	require.Contains(t, log, "refused")
	for _, token := range []string{tokens[Read], tokens[Work], tokens[Admin], forged} {
		require.NotContains(t, log, token)
		require.NotContains(t, log, strings.TrimPrefix(token, tokenPrefix))
		require.NotContains(t, string(text), strings.TrimPrefix(token, tokenPrefix))
		require.NotContains(t, log, hashOf(token))
	}
}

// A page of another origin changes nothing, with or without a token.
func TestOtherOrigins(t *testing.T) {
	open := start(t, store.NewMemory(), Options{})
	create(t, open.client(), bread)
	closed, tokens, _ := protected(t)
	for _, r := range []*running{open, closed} {
		for _, m := range methods() {
			for _, header := range [][]string{
				{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
				{"Origin", "http://localhost:1"}, {"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"},
			} {
				status, _ := r.post(t, string(m.Name()), `{"study": "bread"}`, append(header, "Authorization", "Bearer "+tokens[Admin])...)
				require.Equal(t, http.StatusForbidden, status, "%s %v", m.Name(), header)
			}
		}
	}
	// Forms and images have no content type of the service, and GET reaches no method.
	for _, m := range methods() {
		status, _ := open.post(t, string(m.Name()), `{"study": "bread"}`, "Content-Type", "text/plain")
		require.Equal(t, http.StatusUnsupportedMediaType, status)
		resp, err := http.Get(open.URL + "/bo.v1.StudyService/" + string(m.Name()) + `?encoding=json&message={"study":"bread"}`)
		require.NoError(t, err)
		resp.Body.Close()
		require.Contains(t, []int{http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType}, resp.StatusCode)
	}
	// A name that an attacker points to this machine is refused without tokens.
	status, _ := open.post(t, "Ask", `{"study": "bread"}`, "Host", "evil.example")
	require.Equal(t, http.StatusMisdirectedRequest, status)
	require.Regexp(t, `level=WARN msg=refused status=421 reason=".*" host=evil\.example origin="" peer=127\.0\.0\.1\n`, open.log.String())
	require.Regexp(t, `msg=refused status=403 reason="the request comes from a page of another origin" host=\S+ origin=https://evil\.example `, open.log.String())
	var metrics exposition
	open.metrics.write(&metrics)
	require.Contains(t, metrics.String(), `bo_requests_total{code="421",method="refused"} 1`)
	for _, host := range []string{"localhost:7040", "127.0.0.1", "[::1]:7040"} {
		status, _ := open.post(t, "GetStudy", `{"study": "bread"}`, "Host", host)
		require.Equal(t, http.StatusOK, status, host)
	}
	status, text := open.post(t, "GetStudy", `{"study": "bread"}`, "Origin", open.URL)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, `"trials":0`)
}

func TestReadTokens(t *testing.T) {
	for _, text := range []string{"", "{}", "[{}]", `[{"name": "a", "role": "read", "sha256": "00"}]`, `[{"name": "a", "role": "boss", "sha256": "` + hashOf("") + `"}]`, "[] []", `[{"token": "x"}]`} {
		_, err := parseTokens([]byte(text))
		require.Error(t, err, text)
	}
	_, _, err := NewToken("a b", Read)
	require.Error(t, err)
	_, _, err = NewToken("a", "boss")
	require.Error(t, err)
	for address, want := range map[string]bool{"localhost:1": true, "127.0.0.2:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true, ":1": false, "0.0.0.0:1": false, "[::]:1": false, "example.org:1": false, "localhost.example:1": false, "": false} {
		require.Equal(t, want, Loopback(address), address)
	}
}
