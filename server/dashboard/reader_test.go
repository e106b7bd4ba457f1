package dashboard_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/server/dashboard"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/study"
)

// lateSessions has a token that is valid from its second check, as if it came to the file of tokens between the two.
type lateSessions struct{ checks int }

func (*lateSessions) Begin(string) (string, error)           { return "", nil }
func (*lateSessions) Reader(string) (dashboard.Reader, bool) { return dashboard.Reader{}, false }

func (s *lateSessions) Bearer(http.Header) (dashboard.Reader, bool) {
	if s.checks++; s.checks == 1 {
		return dashboard.Reader{}, false
	}
	return dashboard.Reader{Name: "a", Studies: "a-"}, true
}

// A token that becomes valid during a request does not reach studies that it does not permit.
func TestTokenThatBecomesValid(t *testing.T) {
	s := store.New(store.NewMemory(), store.Options{})
	d, err := study.Parse([]byte(`{"name": "b-1", "parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}]}`))
	require.NoError(t, err)
	_, err = s.Create(t.Context(), d)
	require.NoError(t, err)
	get := func(path string) *httptest.ResponseRecorder {
		page := dashboard.New(dashboard.Options{
			Store: s, Log: slog.New(slog.DiscardHandler), Closing: t.Context(), Sessions: &lateSessions{},
			Study: func(ctx context.Context, name string) (*store.Study, <-chan struct{}, error) {
				u, err := s.Study(ctx, name)
				return u, nil, err
			},
			Status:  func(context.Context, error) (int, string) { return http.StatusNotFound, "" },
			Observe: func(context.Context, string, string, string, string, int, float64) {},
		})
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	require.Equal(t, http.StatusNotFound, get("/studies/b-1").Code)
	require.NotContains(t, get("/").Body.String(), "b-1")
}
