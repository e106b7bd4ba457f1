package server

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// scoped serves with tokens of the role admin by name: all, a- for studies of one team, and one that has expired.
func scoped(t *testing.T) (r *running, tokens map[string]string) {
	path, tokens := filepath.Join(t.TempDir(), "tokens.json"), map[string]string{}
	var list []Token
	for name, change := range map[string]func(*Token){
		"all": func(e *Token) { e.Expires = time.Now().Add(time.Hour) }, "a": func(e *Token) { e.Studies = "a-" },
		"expired": func(e *Token) { e.Expires = time.Now() },
	} {
		text, entry, err := NewToken(name, Admin)
		require.NoError(t, err)
		change(&entry)
		list, tokens[name] = append(list, entry), text
	}
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, WriteTokens(f, list))
	require.NoError(t, f.Close())
	opened, err := OpenTokens(path, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return start(t, store.NewMemory(), Options{Tokens: opened}), tokens
}

// A token for studies with a prefix reaches them alone, by every method and page.
func TestTokensOfAPrefix(t *testing.T) {
	r, tokens := scoped(t)
	code := func(token, method, body string) (code, text string) {
		t.Helper()
		kind := "application/json"
		if method == "Watch" {
			body, kind = "\x00\x00\x00\x00"+string(rune(len(body)))+body, "application/connect+json"
		}
		status, text := r.post(t, method, body, "Authorization", "Bearer "+tokens[token], "Content-Type", kind)
		var answer struct {
			Code  string
			Error struct{ Code string }
		}
		if i := strings.LastIndex(text, `{"error"`); i > 0 {
			text = text[i:]
		}
		require.NoError(t, json.Unmarshal([]byte(text), &answer), "%d %s", status, text)
		return answer.Code + answer.Error.Code, text
	}
	for _, name := range []string{"a-1", "b-1"} {
		body := `{"definition": ` + strings.Replace(bread, "bread", name, 1) + `}`
		got, text := code("a", "CreateStudy", body)
		if name == "a-1" {
			require.Empty(t, got, text)
			continue
		}
		require.Equal(t, "permission_denied", got)
		require.Contains(t, text, `the token is for studies whose names begin with \"a-\"`)
		got, text = code("all", "CreateStudy", body)
		require.Empty(t, got, text)
	}
	for _, m := range methods() {
		name := string(m.Name())
		if m.Input().Fields().ByName("study") == nil || name == "Suggest" {
			continue // CreateStudy, ListStudies and Suggest name no stored study
		}
		for _, study := range []string{"b-1", "b-2"} {
			got, text := code("a", name, strings.Replace(valid[name], "bread", study, 1))
			require.Equal(t, "permission_denied", got, "%s: %s", name, text)
			require.Contains(t, text, `begin with \"a-\"`, name)
		}
		if name != "Watch" && name != "DeleteStudy" {
			got, _ := code("a", name, strings.Replace(valid[name], "bread", "a-1", 1))
			require.NotEqual(t, "permission_denied", got, name)
		}
	}
	_, text := code("a", "ListStudies", `{}`)
	require.Contains(t, text, "a-1")
	require.NotContains(t, text, "b-1")
	_, text = code("all", "ListStudies", `{}`)
	require.Contains(t, text, "b-1")
	got, text := code("expired", "ListStudies", `{}`)
	require.Equal(t, "unauthenticated", got)
	require.Contains(t, text, "the token has expired")

	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	read := func(answer *http.Response, err error) string {
		t.Helper()
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return string(text)
	}
	signIn, err := browser.PostForm(r.URL+"/login", url.Values{"token": {tokens["a"]}})
	require.NoError(t, err)
	require.Equal(t, http.StatusSeeOther, signIn.StatusCode)
	page := func(path string) (int, string) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL+path, nil)
		require.NoError(t, err)
		q.AddCookie(signIn.Cookies()[0])
		answer, err := browser.Do(q)
		text := read(answer, err)
		return answer.StatusCode, text
	}
	status, text := page("/")
	require.Equal(t, 200, status)
	require.Contains(t, text, "a-1")
	require.NotContains(t, text, "b-1")
	for _, path := range []string{"", "/pictures", "/trials/1", "/history", "/records", "/events", "/models", "/trials/1/why"} {
		status, text := page("/studies/b-1" + path)
		require.Equal(t, 404, status, "%s: %s", path, text)
	}
	status, _ = page("/studies/a-1")
	require.Equal(t, 200, status)
	require.Contains(t, read(browser.PostForm(r.URL+"/login", url.Values{"token": {tokens["expired"]}})), "The token has expired.")
}
