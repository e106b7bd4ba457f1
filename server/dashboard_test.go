package server

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/store"
)

// Pictures wait for a slot of the suggestions, and results are stored meanwhile.
func TestPicturesWait(t *testing.T) {
	r := start(t, store.NewMemory(), Options{Limits: Limits{Fits: 1}})
	create(t, r.client(), bread)
	for range 3 {
		status, text := r.post(t, "Ask", `{"study": "bread"}`)
		require.Equal(t, http.StatusOK, status, text)
	}
	tell := func(trial, value string) {
		status, text := r.post(t, "Tell", `{"study": "bread", "trial": `+trial+`, "value": `+value+`}`)
		require.Equal(t, http.StatusOK, status, text)
	}
	tell("1", "3")
	leave, err := r.gate.enter(t.Context())
	require.NoError(t, err)
	resp, err := http.Get(r.URL + "/studies/bread/models")
	require.NoError(t, err)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 10<<20)
	next := func(part string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), part) {
				return
			}
		}
		require.Fail(t, "the stream has no "+part)
	}
	next("waits until other computations")
	tell("2", "2")
	leave()
	next("event: result")
	next(`"models":[{`)
	status, _ := r.post(t, "GetStudy", `{"study": "bread"}`)
	require.Equal(t, http.StatusOK, status)
}
