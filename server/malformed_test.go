package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/server/internal/wire"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/study"
)

// valid are requests by method, which the tests damage.
var valid = map[string]string{
	"Suggest":     `{"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "seed": "3", "surrogate": {"name": "gp"}}, "trials": [{"params": {"x": 0.5}, "value": 1}], "queue": [{"x": 0.25}], "n": 2, "action": "suggest", "report": {"trial": 1, "steps": []}, "warm": [1, 2]}`,
	"CreateStudy": `{"definition": {"name": "new", "budget": 3, "parameters": [{"name": "x", "type": "float", "min": 0, "max": 1, "log": false}, {"name": "k", "type": "categorical", "values": ["a", "b"], "when": "x > 0.5"}], "constraints": ["x <= 0.9"], "objectives": [{"name": "a", "goal": "minimize"}]}, "key": "k"}`,
	"EditStudy":   `{"study": "bread", "changes": {"budget": 9, "constraints": ["x <= 0.9"], "require": null}}`,
	"DeleteStudy": `{"study": "bread"}`,
	"GetStudy":    `{"study": "bread"}`, "ListStudies": `{"page_size": 3, "page_token": "after:a"}`, "Export": `{"study": "bread"}`,
	"Watch": `{"study": "bread", "since": 3}`, "GetTrial": `{"study": "bread", "trial": 1}`,
	"ListTrials":  `{"study": "bread", "page_size": 2, "page_token": "after:1", "states": ["pending"], "since": 1}`,
	"Ask":         `{"study": "bread", "n": 1, "worker": "w", "lease": "30s", "key": "k"}`,
	"Heartbeat":   `{"study": "bread", "attempts": [{"trial": 1, "token": "t"}]}`,
	"Enqueue":     `{"study": "bread", "points": [{"x": 0.5, "n": 2}], "key": "k"}`,
	"Release":     `{"study": "bread", "attempts": [{"trial": 1, "token": "t"}]}`,
	"ReportSteps": `{"study": "bread", "trial": 1, "token": "t", "steps": [{"step": 1, "value": 0.5}, {"step": 2, "value": "NaN"}]}`,
	"Tell":        `{"study": "bread", "trial": 1, "token": "t", "value": 0.5, "numbers": {"a": 1}, "seconds": 2, "key": "k"}`,
	"Fail":        `{"study": "bread", "trial": 1, "failure": "timeout", "message": "m", "numbers": {"a": 1}, "seconds": 2, "key": "k"}`,
}

// pieces are spliced into requests.
var pieces = []string{
	"null", "true", "{}", "[]", `""`, "-1", "0", "1e999", "1e308", "NaN", `"NaN"`, `"Infinity"`, "9007199254740993", "-9223372036854775809", `"\u0000"`, `"\ud800"`, "\x00", "\xff\xfe",
	strings.Repeat("[", 5000), strings.Repeat(`{"a":`, 3000), strings.Repeat("9", 400), `"` + strings.Repeat("x", 20_000) + `"`, ",", ":", `"study"`, `"trials"`, "{", "}", `\`,
}

// damage changes a few places of a text.
func damage(r *rand.Rand, text []byte) []byte {
	out := bytes.Clone(text)
	for range 1 + r.IntN(4) {
		at, end := r.IntN(len(out)+1), 0
		end = min(len(out), at+r.IntN(12))
		switch r.IntN(6) {
		case 0:
			out = append(out[:at:at], out[end:]...)
		case 1:
			out = append(out[:at:at], append([]byte(pieces[r.IntN(len(pieces))]), out[end:]...)...)
		case 2:
			out = append(out[:at:at], append([]byte(pieces[r.IntN(len(pieces))]), out[at:]...)...)
		case 3:
			if at < len(out) {
				out[at] ^= 1 << r.IntN(8)
			}
		case 4:
			out = out[:at]
		case 5:
			out = append(out[:at:at], append(bytes.Clone(out[at:end]), out[at:]...)...)
		}
	}
	return out
}

// message returns an empty request of a method.
func message(m protoreflect.MethodDescriptor) proto.Message {
	t, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
	if err != nil {
		panic(err)
	}
	return t.New().Interface()
}

// writes reports whether a request may change the store: it is a valid form of its message, and
// names the study or defines one.
func writes(m protoreflect.MethodDescriptor, text []byte, binary bool) bool {
	q := message(m)
	if binary && proto.Unmarshal(text, q) != nil || !binary && (strictJSON)("").Unmarshal(text, q) != nil {
		return false
	}
	if m.Name() == "CreateStudy" {
		definition, err := wire.Definition(q.(*bov1.CreateStudyRequest).Definition)
		if err != nil {
			return false
		}
		_, err = study.Parse(definition)
		return err == nil
	}
	field := m.Input().Fields().ByName("study")
	return field != nil && field.Kind() == protoreflect.StringKind && q.ProtoReflect().Get(field).String() == "bread"
}

// malformedRequest returns a damaged request that changes nothing, whatever the server makes of it.
func malformedRequest(r *rand.Rand, url string, tokens []string) *http.Request {
	all := methods()
	m := all[r.IntN(len(all))]
	text, kind, binary := []byte(valid[string(m.Name())]), "application/json", r.IntN(2) == 0
	if binary {
		q := message(m)
		if err := protojson.Unmarshal(text, q); err != nil {
			panic(err)
		}
		text, _ = proto.MarshalOptions{Deterministic: true}.Marshal(q)
		kind = "application/proto"
	}
	path, token := "/bo.v1.StudyService/"+string(m.Name()), tokens[0]
	how := r.IntN(10)
	switch {
	case how == 0: // a path that does not exist
		path += "/" + fmt.Sprintf("%%%02x..%%2f", r.IntN(256))
	case how == 1:
		path = strings.Map(func(c rune) rune {
			if r.IntN(8) == 0 {
				return '!' + rune(r.IntN(90))
			}
			return c
		}, path)
		path = strings.NewReplacer("?", "%3f", "#", "%23", "%", "%25", `\`, "%5c").Replace(path)
		if path == "/bo.v1.StudyService/"+string(m.Name()) {
			path += "x"
		}
	case how == 2: // a token that is not valid
		token = tokens[1+r.IntN(len(tokens)-1)]
	default:
		for {
			if changed := damage(r, text); !writes(m, changed, binary) {
				text = changed
				break
			}
		}
	}
	if r.IntN(50) == 0 {
		kind = []string{"", "text/plain", "application/grpc", "application/grpc-web+json", "application/connect+proto", "application/json; charset=utf-16", "application/x"}[r.IntN(7)]
	}
	if m.IsStreamingServer() {
		kind = strings.Replace(kind, "application/", "application/connect+", 1)
		n := len(text)
		if r.IntN(4) == 0 {
			n = r.IntN(1 << 31)
		}
		text = append([]byte{byte(r.IntN(2) * r.IntN(256)), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, text...)
	}
	q, err := http.NewRequest(http.MethodPost, url+path, bytes.NewReader(text))
	if err != nil {
		return nil // not a request that the client sends
	}
	q.Header.Set("Content-Type", kind)
	q.Header.Set("Authorization", token)
	switch r.IntN(40) {
	case 0:
		q.Header.Set("Content-Encoding", []string{"gzip", "br", "zstd", "x"}[r.IntN(4)])
	case 1:
		q.Header.Set("Connect-Timeout-Ms", []string{"x", "-1", "99999999999", "1e3"}[r.IntN(4)])
	case 2:
		q.Header.Set("Connect-Protocol-Version", "7")
	case 3:
		q.Method = []string{"GET", "PUT", "DELETE", "OPTIONS", "PATCH"}[r.IntN(5)]
	}
	return q
}

// Malformed requests are answered by 4xx and change nothing; valid ones among those that cannot
// change anything may be answered.
func TestMalformedRequests(t *testing.T) {
	total := 4000
	if *full {
		total = 200_000
	}
	path, roles := tokenFile(t)
	opened, err := OpenTokens(path, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	b, err := sqlite.Open(t.Context(), t.TempDir()+"/bo.db", true)
	require.NoError(t, err)
	r := start(t, b, Options{Tokens: opened})
	d, err := study.Parse([]byte(bread))
	require.NoError(t, err)
	u, err := r.Store().Create(t.Context(), d)
	require.NoError(t, err)
	_, err = u.Ask(t.Context(), 2)
	require.NoError(t, err)
	before := exported(t, r.Store(), u)

	forged, _, _ := NewToken("f", Admin)
	admin := roles[Admin]
	tokens := []string{"Bearer " + admin, "Bearer " + forged, "Bearer " + admin[:20], "Bearer " + admin + "\t x", "Bearer", "", admin, "Basic " + admin, "Bearer " + strings.ToUpper(admin), "Bearer \xff", "Bearer " + strings.Repeat("a", 9000)}
	var all sync.WaitGroup
	var sent atomic.Int64
	statuses := make([]map[int]int, 4)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: len(statuses)}}
	for i := range statuses {
		statuses[i] = map[int]int{}
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 2))
			for sent.Add(1) <= int64(total) {
				q := malformedRequest(random, r.URL, tokens)
				if q == nil {
					sent.Add(-1)
					continue
				}
				ctx, cancel := context.WithCancel(t.Context())
				resp, err := client.Do(q.WithContext(ctx))
				if err != nil {
					cancel()
					sent.Add(-1) // a header that the client refuses
					continue
				}
				_, _ = io.CopyN(io.Discard, resp.Body, 4096) // a stream does not end
				cancel()
				resp.Body.Close()
				statuses[i][resp.StatusCode]++
				if resp.StatusCode >= 500 {
					t.Errorf("%s %s: %d", q.Method, q.URL, resp.StatusCode)
				}
			}
		})
	}
	all.Wait()
	sum := map[int]int{}
	for _, s := range statuses {
		for status, n := range s {
			sum[status] += n
		}
	}
	t.Logf("%d requests: %v", total, sum)
	require.Equal(t, before, exported(t, r.Store(), u))
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "panic") {
			t.Fatal(line)
		}
	}
}

// exported returns the contents of a store of one study.
func exported(t *testing.T, s *store.Store, u *store.Study) string {
	list, err := s.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	snapshot, err := u.Snapshot(t.Context())
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, exchange.Write(&text, snapshot))
	return text.String()
}

func FuzzRequest(f *testing.F) {
	r := start(f, store.NewMemory(), Options{})
	create(f, r.client(), bread)
	all := methods()
	for i, m := range all {
		f.Add(uint8(i), []byte(valid[string(m.Name())]), false)
	}
	f.Fuzz(func(t *testing.T, i uint8, text []byte, binary bool) {
		m := all[int(i)%len(all)]
		kind := "application/json"
		if binary {
			kind = "application/proto"
		}
		if m.IsStreamingServer() || m.Name() == "Ask" || m.Name() == "Suggest" { // these may wait
			return
		}
		q, err := http.NewRequest(http.MethodPost, r.URL+"/bo.v1.StudyService/"+string(m.Name()), bytes.NewReader(text))
		require.NoError(t, err)
		q.Header.Set("Content-Type", kind)
		resp, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		require.Less(t, resp.StatusCode, 500, "%s: %s", m.Name(), body)
	})
}
