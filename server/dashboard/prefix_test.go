package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/browsertest"
	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/store"
)

// address is an attribute of a page with an address of this server.
var address = regexp.MustCompile(`(?:href|src|action|data-[a-z]+)="(/[^"]*)"`)

// Behind a proxy all addresses of all pages begin with the prefix, and answer, whether the proxy removes the prefix
// or not. The cookie of a session is for these addresses.
func TestPrefix(t *testing.T) {
	tokens, o := tokenOptions(t)
	o.Prefix = "/tools/bo"
	s := start(t, store.NewMemory(), o)
	add(t, s.create(t, bowl("bowl", 20)), 2, 1, 3)
	s.create(t, bowl("rye", 20))
	bearer := []string{"Authorization", "Bearer " + tokens[server.Read]}

	queue, seen := []string{"/tools/bo/", "/tools/bo/studies/bowl/pictures", "/tools/bo/none"}, map[string]bool{}
	for len(queue) > 0 {
		path := strings.ReplaceAll(queue[0], "&amp;", "&")
		queue = queue[1:]
		if seen[path] || strings.HasSuffix(path, "/events") {
			continue
		}
		seen[path] = true
		for _, at := range []string{path, strings.TrimPrefix(path, "/tools/bo")} {
			status, _, text := s.get(t, at, bearer...)
			switch {
			case strings.HasSuffix(path, "/none"):
				require.Equal(t, http.StatusNotFound, status)
			case !strings.HasSuffix(path, "/login") && !strings.HasSuffix(path, "/logout"):
				require.Equal(t, http.StatusOK, status, at)
			}
			if !strings.HasPrefix(path, "/tools/bo/assets/") {
				for _, found := range address.FindAllStringSubmatch(text, -1) {
					require.True(t, strings.HasPrefix(found[1], "/tools/bo/"), "%s: %s", at, found[0])
					queue = append(queue, found[1])
				}
			}
		}
	}
	for _, path := range []string{"/tools/bo/studies/bowl/trials/3", "/tools/bo/studies/rye", "/tools/bo/logout"} {
		require.Contains(t, seen, path)
	}

	status, header, _ := s.get(t, "/tools/bo")
	require.Equal(t, []any{http.StatusPermanentRedirect, "/tools/bo/"}, []any{status, header.Get("Location")})
	status, _, _ = s.get(t, "/tools/boat")
	require.Equal(t, http.StatusNotFound, status)
	form := url.Values{"token": {tokens[server.Read]}, "to": {"/studies/bowl"}}.Encode()
	status, header, _ = s.send(t, http.MethodPost, "/tools/bo/login", form)
	require.Equal(t, []any{http.StatusSeeOther, "/tools/bo/studies/bowl"}, []any{status, header.Get("Location")})
	require.Contains(t, header.Get("Set-Cookie"), "; Path=/tools/bo/;")
	status, _, _ = s.send(t, http.MethodPost, "/tools/bo/bo.v1.StudyService/ListStudies", "{}", append(bearer, "Content-Type", "application/json")...)
	require.Equal(t, http.StatusOK, status)
}

// A page behind a proxy follows a run.
func TestPrefixInABrowser(t *testing.T) {
	s := start(t, store.NewMemory(), server.Options{Prefix: "/bo"})
	u := s.create(t, bowl("bowl", 20))
	p := browsertest.Open(t, browsertest.Shared(t), s.URL+"/bo/studies/bowl", 1280, 900, false)
	add(t, u, 4, 3, 2)
	p.Until(`document.querySelectorAll("#trial-table tbody tr").length === 3`)
	p.Until(drawn)
}

func TestCheckPrefix(t *testing.T) {
	for _, prefix := range []string{"", "/bo", "/tools/bo-1.x_~"} {
		require.NoError(t, server.CheckPrefix(prefix), prefix)
	}
	for _, prefix := range []string{"bo", "/", "/bo/", "//bo", "/b o", "/../bo", "/bo?x", "/%2e", `/"`, "/é"} {
		require.Error(t, server.CheckPrefix(prefix), prefix)
	}
}
