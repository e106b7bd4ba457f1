package server

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// The requests that wait for suggestions have bounded bytes together. Small requests are not refused, and the bytes
// of a request that ends are free again.
func TestMemoryOfRequests(t *testing.T) {
	gzipped := func(text string) io.Reader {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := io.WriteString(w, text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return &b
	}
	const limit = 1 << 20
	large := `{"study": ` + bread + `, "report": {"a": "` + strings.Repeat("x", limit*9/10) + `"}}`
	for name, c := range map[string]struct {
		body     func() io.Reader
		encoding string
	}{
		"plain":      {func() io.Reader { return strings.NewReader(large) }, ""},
		"compressed": {func() io.Reader { return gzipped(large) }, "gzip"}, // a thousandth of the bytes
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, store.NewMemory(), Options{Limits: Limits{Fits: 1, Bytes: limit}})
			create(t, r.client(), bread)
			leave, err := r.gate.enter(t.Context())
			require.NoError(t, err)
			const n = 12
			statuses := make(chan int, n)
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					q, err := http.NewRequest(http.MethodPost, r.URL+"/bo.v1.StudyService/Suggest", c.body())
					if err != nil {
						t.Error(err)
						return
					}
					q.Header.Set("Content-Type", "application/json")
					if c.encoding != "" {
						q.Header.Set("Content-Encoding", c.encoding)
					}
					resp, err := http.DefaultClient.Do(q)
					if err != nil {
						t.Error(err)
						return
					}
					defer resp.Body.Close()
					statuses <- resp.StatusCode
				})
			}
			for range n - 4 {
				require.Equal(t, http.StatusTooManyRequests, <-statuses)
			}
			status, text := r.post(t, "Enqueue", `{"study": "bread", "points": [{"x": 0.5, "n": 1}]}`)
			require.Equal(t, http.StatusOK, status, text)
			leave()
			for range 4 {
				require.NotEqual(t, http.StatusTooManyRequests, <-statuses)
			}
			all.Wait()
			require.Zero(t, r.memory.used.Load())
			require.Contains(t, r.log.String(), "code=resource_exhausted")
		})
	}
}

// A request counts once, with its largest form, and its size has no bound while it is alone.
func TestShare(t *testing.T) {
	m := &memory{most: 4 << 20}
	a, b, small := share{of: m}, share{of: m}, share{of: m}
	for _, step := range []struct {
		of      *share
		n, used int64
		refused bool
	}{
		{&small, uncounted, 0, false}, {&a, 1 << 20, 1 << 20, false}, {&a, 1 << 10, 1 << 20, false}, {&a, 9 << 20, 9 << 20, false},
		{&b, 1 << 20, 9 << 20, true}, {&b, uncounted, 9 << 20, false}, {&b, uncounted + 1, 9 << 20, true},
	} {
		require.Equal(t, step.refused, step.of.grow(step.n) != nil, fmt.Sprint(step.n))
		require.Equal(t, step.used, m.used.Load())
	}
	a.end()
	b.end()
	require.NoError(t, b.grow(1<<20))
	require.EqualValues(t, 1<<20, m.used.Load())
}
