package dashboard_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// pages are the pages that readers need a token for, and the status for a reader.
var pages = []struct {
	path   string
	status int
	stream bool
}{
	{"/", 200, false}, {"/?find=b&sort=-trials&page=7", 200, false}, {"/studies/bowl", 200, false}, {"/studies/bowl?state=failed&page=9", 200, false},
	{"/studies/bowl/pictures", 200, false}, {"/studies/bowl/trials/1", 200, false},
	{"/studies/bowl/history", 200, false}, {"/studies/bowl/records", 200, false},
	{"/events", 200, true}, {"/studies/bowl/events", 200, true}, {"/studies/bowl/models", 200, true}, {"/studies/bowl/trials/1/why", 200, true},
	{"/studies/none", 404, false}, {"/studies/none/pictures", 404, false}, {"/studies/none/events", 404, false}, {"/studies/none/models", 404, false},
	{"/studies/bowl/trials/3", 404, false}, {"/studies/bowl/trials/-1", 404, false}, {"/studies/bowl/trials/x", 404, false}, {"/studies/bowl/trials/99999999999999999999", 404, false},
	{"/studies/%3Cscript%3E", 404, false}, {"/studies/..", 404, false},
}

// status returns the status of a page, without reading a stream to its end.
func (r *running) status(t *testing.T, path string, header ...string) (int, http.Header) {
	q, err := http.NewRequest(http.MethodGet, r.URL+path, nil)
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, resp.Header
}

// signedIn returns the session of a token, "" if the server refuses it.
func (r *running) signedIn(t *testing.T, token string) string {
	status, header, text := r.send(t, http.MethodPost, "/login", url.Values{"token": {token}, "to": {"/studies/bowl"}}.Encode())
	if status != http.StatusSeeOther {
		require.Equal(t, http.StatusUnauthorized, status)
		require.Contains(t, text, `role="alert"`)
		require.NotContains(t, text, "bo_")
		return ""
	}
	require.Equal(t, "/studies/bowl", header.Get("Location"))
	cookie := header.Get("Set-Cookie")
	require.Contains(t, cookie, "; HttpOnly")
	require.Contains(t, cookie, "; SameSite=Strict")
	require.NotContains(t, cookie, token)
	cookie, _, _ = strings.Cut(cookie, ";")
	return cookie
}

// Each role reads each page, by its session or its token. Without one of them no page answers.
func TestRoles(t *testing.T) {
	s, tokens := protected(t, "127.0.0.1:0")
	add(t, s.create(t, bowl("bowl", 20)), 2, 1)
	forged, _, err := server.NewToken("t-read", server.Admin)
	require.NoError(t, err)
	for _, text := range []string{"", "x", forged, tokens[server.Admin] + "x", strings.Repeat("x", 1000)} {
		require.Empty(t, s.signedIn(t, text))
	}
	read := s.signedIn(t, tokens[server.Read])
	parts := strings.SplitN(strings.TrimPrefix(read, "bo_session="), ".", 3)
	later := fmt.Sprintf("bo_session=%d.%s.%s", time.Now().Add(time.Hour).Unix(), parts[1], parts[2])
	for _, page := range pages {
		for _, header := range [][]string{
			nil, {"Cookie", "bo_session="}, {"Cookie", "bo_session=" + tokens[server.Admin]}, {"Cookie", later}, {"Cookie", read + "x"},
			{"Cookie", strings.Replace(read, "t-read", "t-admin", 1)}, {"Authorization", "Bearer " + forged}, {"Authorization", tokens[server.Admin]},
		} {
			status, got := s.status(t, page.path, header...)
			if page.path == "/studies/.." {
				continue // the client shortens it
			}
			require.Equal(t, http.StatusUnauthorized, status, "%s %v", page.path, header)
			require.Empty(t, got.Get("Set-Cookie"))
		}
		for _, role := range server.Roles {
			for _, header := range [][]string{{"Cookie", s.signedIn(t, tokens[role])}, {"Authorization", "Bearer " + tokens[role]}} {
				status, _ := s.status(t, page.path, header...)
				if page.path != "/studies/.." {
					require.Equal(t, page.status, status, "%s by %s", page.path, role)
				}
			}
		}
	}
	// A session reads pages alone: methods need the token.
	status, _, _ := s.send(t, http.MethodPost, "/bo.v1.StudyService/ListStudies", "{}", "Content-Type", "application/json", "Cookie", s.signedIn(t, tokens[server.Admin]))
	require.Equal(t, http.StatusUnauthorized, status)
	// The log has no token and no session.
	for _, secret := range []string{tokens[server.Read], tokens[server.Admin], forged, strings.TrimPrefix(read, "bo_session=")} {
		require.NotContains(t, s.log.String(), secret)
	}
	require.Contains(t, s.log.String(), "method=Dashboard.study study=bowl status=200")
	require.Contains(t, s.log.String(), "token=t-read")
}

// Servers with the same key and tokens accept one another's sessions, others do not.
func TestSharedSessions(t *testing.T) {
	tokens, o := tokenOptions(t)
	open := func(key string) *running {
		if o.SessionKey = nil; key != "" {
			o.SessionKey = []byte(key)
		}
		s := start(t, store.NewMemory(), o)
		s.create(t, bowl("bowl", 20))
		return s
	}
	first, second, other, random := open("key"), open("key"), open("other key"), open("")
	session := first.signedIn(t, tokens[server.Read])
	for s, want := range map[*running]int{first: 200, second: 200, other: 401, random: 401} {
		status, _ := s.status(t, "/studies/bowl", "Cookie", session)
		require.Equal(t, want, status)
	}
}

// Every answer has a policy without inline code, and pages of other origins neither read nor change.
func TestHeaders(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	add(t, s.create(t, bowl("bowl", 20)), 2, 1)
	for _, page := range pages {
		status, header := s.status(t, page.path)
		if page.path != "/studies/.." {
			require.Equal(t, page.status, status, page.path)
		}
		policy := header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'; script-src 'self'; style-src 'self'")
		require.Contains(t, policy, "frame-ancestors 'none'")
		require.NotContains(t, policy, "unsafe")
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-store", header.Get("Cache-Control"))
		require.Equal(t, "same-origin", header.Get("Cross-Origin-Resource-Policy"))
		require.Empty(t, header.Get("Access-Control-Allow-Origin"))
	}
	for _, path := range []string{"/studies/bowl/models", "/studies/bowl/records", "/events", "/studies/bowl/trials/1/why"} {
		for _, site := range []string{"cross-site", "same-site"} {
			status, _ := s.status(t, path, "Sec-Fetch-Site", site)
			require.Equal(t, http.StatusForbidden, status, path)
		}
	}
	for _, path := range []string{"/login", "/logout"} {
		status, header, _ := s.send(t, http.MethodPost, path, "token=x", "Origin", "https://evil.example")
		require.Equal(t, http.StatusForbidden, status)
		require.Empty(t, header.Get("Set-Cookie"))
	}
	status, _, _ := s.get(t, "/", "Host", "evil.example")
	require.Equal(t, http.StatusMisdirectedRequest, status)
	for _, path := range []string{"/none", "/assets/none.js", "/assets/", "/studies/", "/studies/bowl/none"} {
		status, _, _ := s.get(t, path)
		require.Equal(t, http.StatusNotFound, status, path)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		status, _, _ := s.send(t, method, "/studies/bowl", "")
		require.Equal(t, http.StatusNotFound, status)
	}
	// The address after signing in is a page of this server.
	for to, want := range map[string]string{
		"/studies/bowl?page=2": "/studies/bowl?page=2", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", "/studies/\\x": "/", "": "/", "javascript:1": "/",
	} {
		status, header, _ := s.send(t, http.MethodPost, "/login", url.Values{"to": {to}}.Encode())
		require.Equal(t, http.StatusSeeOther, status)
		require.Equal(t, want, header.Get("Location"))
	}
}

// The files of the pages are there, are compressed, and stay in the cache of the browser.
func TestAssets(t *testing.T) {
	s, _ := protected(t, "127.0.0.1:0")
	_, _, text := s.get(t, "/")
	paths := regexp.MustCompile(`/assets/[a-z0-9.-]+`).FindAllString(text, -1)
	require.Len(t, paths, 4)
	for _, path := range paths {
		status, header, text := s.get(t, path, "Accept-Encoding", "gzip")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "gzip", header.Get("Content-Encoding"))
		require.Contains(t, header.Get("Cache-Control"), "immutable")
		require.Less(t, len(text), 500_000)
		_, _, plain := s.get(t, path, "Accept-Encoding", "identity")
		require.Greater(t, len(plain), len(text))
	}
}

// Names and messages end no element, on any page and in any data.
func TestNamesAreEscaped(t *testing.T) {
	const evil = `x"'</script><script>alert(1)</script><img src=x onerror=alert(1)>`
	s := start(t, store.NewMemory(), server.Options{})
	u := s.create(t, &study.Definition{
		Version: 1, Name: "evil", Parameters: []space.Parameter{space.Float(evil, 0, 1), space.Categorical("c", evil, "b")},
		Objectives: []study.Objective{{Name: evil}},
	})
	_, err := u.Add(t.Context(), "",
		store.Evaluated{Params: map[string]any{evil: 0.5, "c": evil}, Numbers: map[string]float64{evil: 1, "<b>": 2}},
		store.Evaluated{Params: map[string]any{evil: 0.7, "c": "b"}, Failure: store.FailedByProgram, Message: evil})
	require.NoError(t, err)
	require.NoError(t, u.AddSteps(t.Context(), store.Step{Trial: 1, Step: 1, Name: evil, Value: 3}))
	asked, err := u.Ask(t.Context(), 1)
	require.NoError(t, err)
	_, err = u.Tell(t.Context(), store.Report{Trial: 3, Token: asked[0].Token, Failure: store.FailedByProgram, Message: evil, Output: evil})
	require.NoError(t, err)
	query := url.Values{"state": {evil}, "sort": {evil}, "top": {evil}, "min.n." + evil: {evil}, "page": {evil}, "find": {evil}}.Encode()
	for _, path := range []string{"/", "/?" + query, "/studies/evil", "/studies/evil?" + query, "/studies/evil/pictures", "/studies/evil/trials/1", "/studies/evil/trials/2", "/studies/evil/trials/3", "/studies/evil/history", "/studies/evil/records", "/studies/" + url.PathEscape(evil)} {
		_, _, text := s.get(t, path)
		require.NotContains(t, text, "<script>alert", path)
		require.NotContains(t, text, "<img", path)
		require.NotContains(t, text, "<b>", path)
	}
	_, _, text := s.get(t, "/studies/evil?"+query)
	require.Contains(t, text, "want a number")
	require.Contains(t, text, "want a whole number")
}

// numbersOf returns the numbers of the trials in the rows of a page.
func numbersOf(text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`<th scope="row"><a href="/studies/[^"]*/trials/\d+">(\d+)</a>`).FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// The server filters, sorts and pages the table.
func TestTable(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	d := bowl("bowl", 300)
	d.Objectives[0].Goal = study.Maximize
	u := s.create(t, d)
	values := make([]float64, 130)
	for i := range values {
		values[i] = float64(i * 37 % 130)
	}
	add(t, u, values...)
	_, err := u.Add(t.Context(), "", store.Evaluated{Params: map[string]any{"x": 0.5, "kind": "a"}, Failure: store.FailedByProgram, Message: "out of memory"})
	require.NoError(t, err)
	rows := func(query string) []string {
		_, _, text := s.get(t, "/studies/bowl?"+query)
		return numbersOf(text)
	}
	require.Len(t, rows(""), 50)
	require.Equal(t, "51", rows("page=2")[0])
	require.Len(t, rows("page=3"), 31)
	require.Equal(t, rows("page=3"), rows("page=99"), "the last page")
	require.Equal(t, rows(""), rows("page=-4"))
	require.Len(t, rows("size=200"), 131)
	require.Len(t, rows("size=100000"), 50)
	require.Equal(t, []string{"131"}, rows("state=failed"))
	require.Equal(t, "131", rows("sort=-trial")[0])
	worst, best := rows("sort=n.loss&size=200"), rows("sort=-n.loss&size=200")
	require.Equal(t, "1", worst[0])
	require.Equal(t, worst[129], best[0])
	require.Equal(t, "131", worst[130], "empty cells are last")
	require.Equal(t, "131", best[130])
	require.Equal(t, best[:3], rows("top=3"))
	require.Len(t, rows("top=3&sort=trial"), 3)
	require.Len(t, rows("min.n.loss=10&max.n.loss=19"), 10)
	require.Len(t, rows("min.p.x=0.5&size=200"), 66)
	require.Len(t, rows("is.p.kind=b&size=200"), 65)
	require.Empty(t, rows("min.n.loss=3&max.n.loss=2"))
	require.Len(t, rows("top=0"), 50, "a fault filters nothing")

	// No trial, and one trial.
	empty := s.create(t, bowl("empty", 3))
	_, _, text := s.get(t, "/studies/empty?state=failed&sort=n.loss&top=3")
	require.Contains(t, text, "There are no trials yet.")
	add(t, empty, 1)
	_, _, text = s.get(t, "/studies/empty")
	require.Equal(t, []string{"1"}, numbersOf(text))
}

// The list has pages, and the states of the studies.
func TestList(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	_, _, text := s.get(t, "/")
	require.Contains(t, text, "There are no studies yet.")
	for i := range 60 {
		s.create(t, bowl(fmt.Sprintf("s%02d", i), 3))
	}
	u, err := s.Store().Study(t.Context(), "s07")
	require.NoError(t, err)
	trials, err := u.Ask(t.Context(), 3)
	require.NoError(t, err)
	time.Sleep(300 * time.Millisecond) // readers share a read of the list
	names := func(path string) []string {
		_, _, text := s.get(t, path)
		var out []string
		for _, m := range regexp.MustCompile(`<th scope="row"><a href="/studies/(\w+)"`).FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		return out
	}
	require.Len(t, names("/?sort=name"), 50)
	require.Equal(t, "s50", names("/?sort=name&page=2")[0])
	require.Equal(t, "s59", names("/?sort=-name")[0])
	require.Equal(t, []string{"s07"}, names("/?find=S07"))
	require.Equal(t, "s07", names("/?sort=-trials")[0])
	_, _, text = s.get(t, "/?find=s07")
	require.Contains(t, text, "3 running")
	for _, trial := range trials {
		_, err := u.Tell(t.Context(), store.Report{Trial: trial.Number, Token: trial.Token, Numbers: map[string]float64{"loss": float64(trial.Number)}})
		require.NoError(t, err)
	}
	time.Sleep(300 * time.Millisecond)
	_, _, text = s.get(t, "/?find=s07")
	require.Contains(t, text, "budget used up")
	require.Contains(t, text, `<a href="/studies/s07/trials/1">1</a>`)
	_, _, text = s.get(t, "/?find=none")
	require.Contains(t, text, "No name of the 60 studies contains")
}

// event reads a stream of events up to one of a kind, and returns its data.
func event(t *testing.T, text, kind string) string {
	for _, part := range strings.Split(text, "\n\n") {
		if data, ok := strings.CutPrefix(part, "event: "+kind+"\ndata: "); ok {
			return data
		}
	}
	require.Fail(t, "no event "+kind, text)
	return ""
}

// Fits run in the slots of the server, share their results, and give their errors in words.
func TestFits(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	u := s.create(t, bowl("bowl", 20))
	add(t, u, 5, 3, 1, 2, 4)
	_, _, text := s.get(t, "/studies/bowl/models")
	var out struct{ Models []struct{ Maps []any } }
	require.NoError(t, json.Unmarshal([]byte(event(t, text, "result")), &out))
	require.Len(t, out.Models, 1)
	_, _, page := s.get(t, "/studies/bowl/pictures")
	require.Contains(t, page, `data-ready="true"`)
	_, _, again := s.get(t, "/studies/bowl/models")
	require.Equal(t, event(t, text, "result"), event(t, again, "result"))
	_, _, text = s.get(t, "/studies/bowl/models?map=none&map=x")
	require.Contains(t, event(t, text, "failed"), `there is no parameter`)

	trials, err := u.Ask(t.Context(), 1)
	require.NoError(t, err)
	_, _, text = s.get(t, fmt.Sprintf("/studies/bowl/trials/%d/why", trials[0].Number))
	var reasons []string
	require.NoError(t, json.Unmarshal([]byte(event(t, text, "result")), &reasons))
	require.Contains(t, strings.Join(reasons, " "), "5 complete trials")
	_, _, text = s.get(t, "/studies/bowl/trials/1/why")
	require.Contains(t, event(t, text, "result"), "evaluated elsewhere")

	slow := start(t, store.NewMemory(), server.Options{Limits: server.Limits{Wait: time.Nanosecond}})
	add(t, slow.create(t, bowl("bowl", 20)), 1, 2)
	_, _, text = slow.get(t, "/studies/bowl/models")
	require.Contains(t, event(t, text, "failed"), "takes longer than 1ns")
}

// The page of a trial has the end of the output of its program, and its events have none of it.
func TestOutput(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	u := s.create(t, bowl("bowl", 20))
	trials, err := u.Ask(t.Context(), 2)
	require.NoError(t, err)
	_, err = u.Tell(t.Context(), store.Report{Trial: 1, Token: trials[0].Token, Failure: store.FailedByProgram, Message: "exit status 1", Output: "epoch 1\nTraceback\nMemoryError\n"})
	require.NoError(t, err)
	_, err = u.Tell(t.Context(), store.Report{Trial: 2, Token: trials[1].Token, Numbers: map[string]float64{"loss": 1}})
	require.NoError(t, err)
	_, _, text := s.get(t, "/studies/bowl/trials/1")
	require.Contains(t, text, ">epoch 1\nTraceback\nMemoryError</pre>")
	require.Equal(t, 1, strings.Count(text, "MemoryError"))
	_, _, text = s.get(t, "/studies/bowl/trials/2")
	require.NotContains(t, text, "output")
}

// A study that cannot be read does not hide the others.
func TestUnreadableStudy(t *testing.T) {
	backend := store.NewMemory()
	s := start(t, backend, server.Options{})
	s.create(t, bowl("good", 3))
	s.create(t, bowl("newer", 3))
	require.NoError(t, backend.Update(t.Context(), func(tx store.Tx) error {
		row, err := tx.Study("newer")
		if err != nil {
			return err
		}
		row.Definition = json.RawMessage(`{"version": 2}`)
		return tx.PutStudy(row)
	}))
	_, _, text := s.get(t, "/")
	require.Contains(t, text, `<a href="/studies/good">`)
	require.Contains(t, text, "the definition cannot be read: version is 2: this program reads up to 1")
	status, _, text := s.get(t, "/studies/newer")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, text, "this program reads up to 1")
	status, _, text = s.send(t, http.MethodPost, "/bo.v1.StudyService/ListStudies", "{}", "Content-Type", "application/json")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, `"fault":"the definition cannot be read`)
	status, _, text = s.send(t, http.MethodPost, "/bo.v1.StudyService/Ask", `{"study": "newer"}`, "Content-Type", "application/json")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, `"code":"failed_precondition"`)
	require.NotContains(t, s.log.String(), "level=ERROR")
}

// The page of a suggestion states the 95 % interval of its prediction.
func TestPredictionOfATrial(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	u := s.create(t, bowl("bowl", 30))
	var values []float64
	for i := range 14 {
		values = append(values, math.Exp(float64(i)))
	}
	add(t, u, values...)
	trials, err := u.Ask(t.Context(), 1)
	require.NoError(t, err)
	p := trials[0].Prediction
	require.NotZero(t, p.Interval)
	_, _, text := s.get(t, "/studies/bowl/trials/15")
	require.Contains(t, text, fmt.Sprintf("(95 %% interval %.6g to %.6g)", p.Interval[0], p.Interval[1]))
}

// A step without a usable value is a gap in the picture of the steps.
func TestUnusableStepInThePicture(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{})
	u := s.create(t, bowl("bowl", 30))
	add(t, u, 1)
	name := bowl("bowl", 30).Objective().Name
	require.NoError(t, u.AddSteps(t.Context(),
		store.Step{Trial: 1, Step: 1, Name: name, Value: 3}, store.Step{Trial: 1, Step: 2, Name: name, Value: loop.MaxValue}))
	_, _, text := s.get(t, "/studies/bowl/trials/1")
	require.Contains(t, text, `"steps":[[1,3],[2,null]]`)
}
