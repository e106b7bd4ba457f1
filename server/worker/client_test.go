package worker

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	bov1 "github.com/functionspace/bo/api/bo/v1"
)

// answers serves one answer after another. The last one is repeated.
func answers(t *testing.T, list ...func(http.ResponseWriter)) *HTTP {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/bo.v1.StudyService/GetStudy", r.URL.Path)
		require.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		n++
		list[min(n, len(list))-1](w)
	}))
	t.Cleanup(s.Close)
	return &HTTP{URL: s.URL + "/", Token: "secret"}
}

func status(code int, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { http.Error(w, text, code) }
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		status int
		text   string
		code   connect.Code
		want   string
	}{
		{400, `{"code": "invalid_argument", "message": "n is -1"}`, connect.CodeInvalidArgument, "n is -1"},
		{404, `{"code": "not_found"}`, connect.CodeNotFound, "not_found"},
		{404, "<html>", connect.CodeUnimplemented, "404 Not Found: <html>"},
		{403, "", connect.CodePermissionDenied, "403 Forbidden: "},
		{421, "other name", connect.CodeFailedPrecondition, "421 Misdirected Request: other name"},
		{502, "upstream", connect.CodeUnavailable, "502 Bad Gateway: upstream"},
		{500, "\xff", connect.CodeUnknown, "500 Internal Server Error: \ufffd"},
		{200, "hello", connect.CodeUnknown, "the answer is not an answer of bo serve"},
	} {
		_, err := answers(t, status(c.status, c.text)).GetStudy(t.Context(), &bov1.GetStudyRequest{Study: "bread"})
		require.Equal(t, c.code, connect.CodeOf(err), c.text)
		require.Equal(t, c.want, message(err))
	}
	_, err := (&HTTP{URL: "http://127.0.0.1:1"}).GetStudy(t.Context(), &bov1.GetStudyRequest{})
	require.Equal(t, connect.CodeUnavailable, connect.CodeOf(err))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = (&HTTP{URL: "http://127.0.0.1:1"}).GetStudy(ended, &bov1.GetStudyRequest{})
	require.Equal(t, connect.CodeCanceled, connect.CodeOf(err))
}

// A request that cannot be sent at all is an error of the request, which is not repeated.
func TestRequestsThatCannotBeSent(t *testing.T) {
	for _, c := range []struct{ url, study, want string }{
		{"http://127.0.0.1:1", "\xff", "invalid UTF-8"},
		{"http://[::1", "bread", "missing ']' in host"},
	} {
		_, err := (&HTTP{URL: c.url}).GetStudy(t.Context(), &bov1.GetStudyRequest{Study: c.study})
		require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, c.want)
	}
}

// The first request is repeated while the server starts, and not after an error of the request.
func TestServerThatStarts(t *testing.T) {
	definition, err := structpb.NewStruct(map[string]any{"name": "bread", "parameters": []any{map[string]any{"name": "x", "type": "float", "min": 0, "max": 1}}})
	require.NoError(t, err)
	body, err := proto.Marshal(&bov1.GetStudyResponse{Definition: definition})
	require.NoError(t, err)
	broken := func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }
	started := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/proto")
		_, _ = w.Write(body)
	}
	retries := 0
	o := Options{Study: "bread", OnRetry: func(error, time.Duration) { retries++ }}
	d, err := Definition(t.Context(), answers(t, broken, status(503, "starting"), started), o)
	require.NoError(t, err)
	require.Equal(t, "bread", d.Name)
	require.Equal(t, 2, retries)
	_, err = Definition(t.Context(), answers(t, status(401, `{"code": "unauthenticated", "message": "a token is missing"}`)), o)
	require.Equal(t, "a token is missing", message(err))
	require.Equal(t, 2, retries)
	ended, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	o.OnRetry = func(error, time.Duration) { cancel(interrupted) }
	_, err = Definition(ended, answers(t, broken), o)
	require.ErrorIs(t, err, interrupted)
}
