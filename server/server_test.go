package server

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/api/bo/v1/bov1connect"
	healthv1 "github.com/functionspace/bo/api/grpc/health/v1"
	"github.com/functionspace/bo/api/grpc/health/v1/healthv1connect"
	"github.com/functionspace/bo/server/internal/servertest"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/study"
)

var full = flag.Bool("full", false, "200 clients for a minute, 200 000 malformed requests and 30 kills; otherwise a part")

// running is a server on a free port.
type running struct {
	*Server
	servertest.Running
	log *servertest.Log
}

func start(t testing.TB, b store.Backend, o Options) *running {
	t.Helper()
	r := &running{log: &servertest.Log{}}
	o.Log = r.log.Logger()
	r.Server = New(b, o)
	r.Running = servertest.Start(t, r.Server, servertest.AnyPort)
	return r
}

// grpcClient makes requests of HTTP/2 in clear text.
func grpcClient() *http.Client {
	transport := &http.Transport{Protocols: &http.Protocols{}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: transport}
}

func (r *running) client(o ...connect.ClientOption) bov1connect.StudyServiceClient {
	return bov1connect.NewStudyServiceClient(http.DefaultClient, r.URL, o...)
}

// post sends JSON, and returns the status and the body of the answer.
func (r *running) post(t testing.TB, method, body string, header ...string) (int, string) {
	t.Helper()
	q, err := http.NewRequest(http.MethodPost, r.URL+"/bo.v1.StudyService/"+method, strings.NewReader(body))
	require.NoError(t, err)
	q.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			q.Host = header[i+1]
		}
		q.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

func object(t testing.TB, text string) *structpb.Struct {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	s, err := structpb.NewStruct(m)
	require.NoError(t, err)
	return s
}

const bread = `{"name": "bread", "budget": 6, "parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}, {"name": "n", "type": "int", "min": 1, "max": 9}]}`

func create(t testing.TB, c bov1connect.StudyServiceClient, definition string) {
	t.Helper()
	_, err := c.CreateStudy(t.Context(), &bov1.CreateStudyRequest{Definition: object(t, definition)})
	require.NoError(t, err)
}

// A trial has the interval of its prediction after a fit to log transformed values.
func TestPredictionOfATrial(t *testing.T) {
	for _, c := range []struct {
		interval [2]float64
		want     []float64
	}{
		{[2]float64{}, nil},
		{[2]float64{-1, 2.5}, []float64{-1, 2.5}},
	} {
		prediction := &study.Prediction{Mean: new(1.0), SD: new(0.5), Interval: c.interval}
		m, err := trialMessage(&store.Trial{Number: 1, Params: []byte(`{}`), State: store.Complete, Prediction: prediction}, time.Time{})
		require.NoError(t, err)
		require.Equal(t, 1.0, m.Prediction.GetMean())
		require.Equal(t, c.want, m.Prediction.Interval)
	}
}

// All protocols reach all methods.
func TestProtocols(t *testing.T) {
	r := start(t, store.NewMemory(), Options{})
	clients := map[string]bov1connect.StudyServiceClient{
		"connect":  r.client(),
		"json":     r.client(connect.WithProtoJSON()),
		"grpc-web": r.client(connect.WithGRPCWeb()),
		"grpc":     bov1connect.NewStudyServiceClient(grpcClient(), r.URL, connect.WithGRPC()),
	}
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			create(t, c, strings.Replace(bread, "bread", name, 1))
			point, err := structpb.NewStruct(map[string]any{"x": 0.25, "n": 4})
			require.NoError(t, err)
			for range 2 {
				queued, err := c.Enqueue(ctx, &bov1.EnqueueRequest{Study: name, Points: []*structpb.Struct{point}, Key: "k"})
				require.NoError(t, err)
				require.Len(t, queued.Trials, 1)
				require.Equal(t, "pending", queued.Trials[0].State)
			}
			_, err = c.Enqueue(ctx, &bov1.EnqueueRequest{Study: name})
			require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))
			_, err = c.Enqueue(ctx, &bov1.EnqueueRequest{Study: name, Points: []*structpb.Struct{{}}})
			require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))
			asked, err := c.Ask(ctx, &bov1.AskRequest{Study: name, N: 2, Worker: "w"})
			require.NoError(t, err)
			require.Len(t, asked.Trials, 2)
			require.Equal(t, point.AsMap(), asked.Trials[0].Params.AsMap())
			first, second := asked.Trials[0], asked.Trials[1]
			require.Equal(t, store.DefaultLease/4, first.Heartbeat.AsDuration())
			beat, err := c.Heartbeat(ctx, &bov1.HeartbeatRequest{Study: name, Attempts: []*bov1.Attempt{{Trial: 1, Token: first.Token}, {Trial: 2, Token: "other"}}})
			require.NoError(t, err)
			require.Equal(t, []int32{2}, beat.Lost)
			steps, err := c.ReportSteps(ctx, &bov1.ReportStepsRequest{Study: name, Trial: 1, Token: first.Token, Steps: []*bov1.Step{{Step: 1, Value: 2}, {Step: 2, Value: math.NaN()}}})
			require.NoError(t, err)
			require.False(t, steps.Stop)
			_, err = c.ReportSteps(ctx, &bov1.ReportStepsRequest{Study: name, Trial: 2, Token: second.Token, Stop: "flat"})
			require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))
			require.ErrorContains(t, err, "trial 2 has no steps")
			value := 0.25
			told, err := c.Tell(ctx, &bov1.TellRequest{Study: name, Trial: 1, Token: first.Token, Value: &value, Numbers: map[string]float64{"a\x00b": 1, strings.Repeat("long", 65): 1}, Seconds: 3, Output: "step 1\n0.25\n", Message: "new flour"})
			require.NoError(t, err)
			require.Equal(t, "new flour", told.Trial.Message)
			require.Equal(t, map[string]float64{"value": 0.25}, told.Trial.Numbers)
			_, err = c.Release(ctx, &bov1.ReleaseRequest{Study: name, Attempts: []*bov1.Attempt{{Trial: 2, Token: second.Token}}})
			require.NoError(t, err)
			withdrawn, err := c.Ask(ctx, &bov1.AskRequest{Study: name, Key: "withdrawn"})
			require.NoError(t, err)
			for range 2 {
				_, err = c.Release(ctx, &bov1.ReleaseRequest{Study: name, Key: "withdrawn"})
				require.NoError(t, err)
			}
			beat, err = c.Heartbeat(ctx, &bov1.HeartbeatRequest{Study: name, Attempts: []*bov1.Attempt{{Trial: withdrawn.Trials[0].Trial, Token: withdrawn.Trials[0].Token}}})
			require.NoError(t, err)
			require.Len(t, beat.Lost, 1)
			_, err = c.Ask(ctx, &bov1.AskRequest{Study: name, Key: "withdrawn"})
			require.Equal(t, connect.CodeAlreadyExists, connect.CodeOf(err))
			failed, err := c.Fail(ctx, &bov1.FailRequest{Study: name, Trial: 2, Message: "burnt"})
			require.NoError(t, err)
			require.Equal(t, "failed", failed.Trial.State)
			failed, err = c.Fail(ctx, &bov1.FailRequest{Study: name, Trial: 2, Failure: "lost", Message: "power cut", Correct: true})
			require.NoError(t, err)
			require.Equal(t, []string{"lost", "power cut"}, []string{failed.Trial.Failure, failed.Trial.Message})
			at, err := structpb.NewStruct(map[string]any{"x": 0.5, "n": 3})
			require.NoError(t, err)
			told, err = c.Tell(ctx, &bov1.TellRequest{Study: name, Trial: 1, Numbers: map[string]float64{"grams": 7}, At: at, Correct: true})
			require.NoError(t, err)
			require.Equal(t, at.AsMap(), told.Trial.Params.AsMap())
			require.Equal(t, map[string]float64{"value": 0.25, "grams": 7}, told.Trial.Numbers)
			got, err := c.GetStudy(ctx, &bov1.GetStudyRequest{Study: name})
			require.NoError(t, err)
			require.EqualValues(t, 1, got.Best[0].Trial)
			require.EqualValues(t, 1, got.Failed)
			one, err := c.GetTrial(ctx, &bov1.GetTrialRequest{Study: name, Trial: 1})
			require.NoError(t, err)
			require.Equal(t, 2.0, one.Steps[0].Value)
			require.True(t, math.IsNaN(one.Steps[1].Value))
			require.EqualValues(t, 3, one.Trial.Seconds)
			require.Equal(t, "step 1\n0.25", one.Output)
			list, err := c.ListTrials(ctx, &bov1.ListTrialsRequest{Study: name, PageSize: 1})
			require.NoError(t, err)
			require.Len(t, list.Trials, 1)
			list, err = c.ListTrials(ctx, &bov1.ListTrialsRequest{Study: name, PageToken: list.NextPageToken, States: []string{"failed"}})
			require.NoError(t, err)
			require.Len(t, list.Trials, 1)
			require.Empty(t, list.NextPageToken)
			document, err := c.Export(ctx, &bov1.ExportRequest{Study: name})
			require.NoError(t, err)
			require.Contains(t, document.Document, `"format":"bo-export"`)
			_, err = c.Suggest(ctx, &bov1.SuggestRequest{Study: object(t, bread)})
			require.NoError(t, err)
			watchAll(t, c, name, 9)
		})
	}
	list, err := r.client().ListStudies(t.Context(), &bov1.ListStudiesRequest{PageSize: 3})
	require.NoError(t, err)
	require.Len(t, list.Studies, 3)
	list, err = r.client().ListStudies(t.Context(), &bov1.ListStudiesRequest{PageSize: 3, PageToken: list.NextPageToken})
	require.NoError(t, err)
	require.Len(t, list.Studies, 1)
	h := healthv1connect.NewHealthClient(grpcClient(), r.URL, connect.WithGRPC())
	health, err := h.Check(t.Context(), &healthv1.HealthCheckRequest{Service: bov1connect.StudyServiceName})
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, health.Status)
	_, err = h.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "other"})
	require.Equal(t, connect.CodeNotFound, connect.CodeOf(err))
	require.NotContains(t, r.log.String(), "level=ERROR")
}

// watchAll reads the events of a study until the last one.
func watchAll(t *testing.T, c bov1connect.StudyServiceClient, name string, last uint32) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream, err := c.Watch(ctx, &bov1.WatchRequest{Study: name, Since: 2})
	require.NoError(t, err)
	next := uint32(3)
	for next <= last && stream.Receive() {
		if e := stream.Msg().Event; e != nil {
			require.Equal(t, next, e.Revision)
			next++
		}
	}
	require.Equal(t, last+1, next, "%v", stream.Err())
}

// A stream ends when its study is deleted, also if another study of the same name exists at the next read.
func TestWatchOfADeletedStudy(t *testing.T) {
	for _, again := range []bool{false, true} {
		backend := store.NewMemory()
		r := start(t, backend, Options{})
		create(t, r.client(), bread)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		stream, err := r.client().Watch(ctx, &bov1.WatchRequest{Study: "bread"})
		require.NoError(t, err)
		for first := false; !first; first = stream.Msg().Event != nil {
			require.True(t, stream.Receive())
		}
		other := store.New(backend, store.Options{}) // not closed: the backend belongs to the server
		require.NoError(t, other.Delete(ctx, "bread"))
		if again {
			d, err := study.Parse([]byte(bread))
			require.NoError(t, err)
			u, err := other.Create(ctx, d)
			require.NoError(t, err)
			_, err = u.Ask(ctx, 3)
			require.NoError(t, err)
		}
		for stream.Receive() {
			require.Nil(t, stream.Msg().Event)
		}
		require.Equal(t, connect.CodeNotFound, connect.CodeOf(stream.Err()))
	}
}

// views counts the reads of a backend.
type views struct {
	store.Backend
	n atomic.Int64
}

func (v *views) View(ctx context.Context, f func(store.Tx) error) error {
	v.n.Add(1)
	return v.Backend.View(ctx, f)
}

// The streams of a study share the reads for changes by other processes, and end with their clients.
func TestWatchersShareReads(t *testing.T) {
	const streams = 40
	backend := &views{Backend: store.NewMemory()}
	r := start(t, backend, Options{})
	create(t, r.client(), bread)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, added := make(chan bool, streams), make(chan bool, streams)
	for range streams {
		stream, err := r.client().Watch(ctx, &bov1.WatchRequest{Study: "bread"})
		require.NoError(t, err)
		go func() {
			for stream.Receive() {
				switch e := stream.Msg().Event; {
				case e == nil:
				case e.Revision == 1:
					read <- true
				default:
					added <- true
					return
				}
			}
		}()
	}
	for range streams {
		<-read
	}
	before, polls := backend.n.Load(), time.Now()
	time.Sleep(3 * watchPoll)
	require.LessOrEqual(t, backend.n.Load()-before, int64(streams)+2+int64(time.Since(polls)/watchPoll), "a first look by each, and one reader")
	other := store.New(backend.Backend, store.Options{}) // not closed: the backend belongs to the server
	u, err := other.Study(t.Context(), "bread")
	require.NoError(t, err)
	_, err = u.Ask(t.Context(), 1)
	require.NoError(t, err)
	for range streams {
		<-added
	}
	cancel()
	open := r.opened(u)
	require.Eventually(t, func() bool {
		open.mu.Lock()
		defer open.mu.Unlock()
		return open.followers == 0
	}, 10*time.Second, 10*time.Millisecond)
}

// Suggestions and errors equal the answers of bo suggest to the same document.
func TestSuggestIsBoSuggest(t *testing.T) {
	const parameters = `"parameters": [{"name": "lr", "type": "float", "min": 1e-5, "max": 0.1, "log": true}, {"name": "n", "type": "int", "min": 1, "max": 8},
		{"name": "opt", "type": "categorical", "values": ["adam", "sgd"]}, {"name": "m", "type": "float", "min": 0, "max": 0.99, "when": "opt == 'sgd'"}]`
	told := `[{"params": {"lr": 0.001, "n": 2, "opt": "adam"}, "value": 1.5}, {"params": {"lr": 0.01, "n": 3, "opt": "sgd", "m": 0.5}, "value": 1.25},
		{"params": {"lr": 0.05, "n": 7, "opt": "adam"}, "state": "failed"}, {"params": {"lr": 0.02, "n": 5, "opt": "sgd", "m": 0.1}, "value": 0.75}, {"params": {"lr": 0.03, "n": 5, "opt": "adam"}, "state": "pending"}]`
	r := start(t, store.NewMemory(), Options{})
	for _, document := range []string{
		`{"study": {` + parameters + `, "seed": 7}, "n": 3}`,
		`{"study": {` + parameters + `, "initial": 2}, "trials": ` + told + `, "n": 2, "given": {"m": 0.25, "n": 4}}`,
		`{"study": {` + parameters + `}, "given": {"m": 2}}`,
		`{"study": {` + parameters + `, "initial": 2}, "trials": ` + told + `, "n": 2}`,
		`{"version": 1, "study": {` + parameters + `, "initial": 2, "constraints": ["n <= 6"], "surrogate": {"name": "rff"}}, "trials": ` + told + `}`,
		`{"study": {` + parameters + `, "initial": 2, "require": ["ms <= 20"]}, "trials": [{"params": {"lr": 0.001, "n": 2, "opt": "adam"}, "numbers": {"value": 1, "ms": 30}}, {"params": {"lr": 0.01, "n": 2, "opt": "adam"}, "numbers": {"value": 2, "ms": 10}}]}`,
		`{"study": {` + parameters + `, "objectives": [{"name": "a"}, {"name": "b", "goal": "maximize"}]}, "action": "pareto", "trials": [{"params": {"lr": 0.001, "n": 2, "opt": "adam"}, "numbers": {"a": 1, "b": 30}}, {"params": {"lr": 0.01, "n": 2, "opt": "adam"}, "numbers": {"a": 2, "b": 10}}]}`,
		`{"study": {` + parameters + `, "initial": 2}, "trials": ` + told + `, "action": "recommend"}`,
		`{"study": {` + parameters + `, "require": ["ms <= 20"], "end": {"cost": "value <= 5"}}, "action": "check"}`,
		`{"study": {` + parameters + `, "stop": {"rule": "median"}}, "trials": [{"params": {"lr": 0.001, "n": 2, "opt": "adam"}}], "action": "report", "report": {"trial": 1, "steps": [{"step": 1, "value": 0.5}]}}`,
		`{"study": {` + parameters + `}, "queue": [{"lr": 0.002, "n": 1, "opt": "adam"}], "n": 2}`,
		`{"study": {"parameters": [{"name": "c", "type": "categorical", "values": ["a", "b"]}]}, "n": 5}`,
		`{"study": {` + parameters + `}, "n": 2, "warm": [0.5, 0.25]}`,
		`{"study": {"parameters": [{"name": "c", "type": "categorical", "values": ["a", "b"]}]}, "trials": [{"params": {"c": "a"}, "value": 1}, {"params": {"c": "b"}, "value": 2}]}`,
		`{"study": {"parametes": []}}`, `{}`, `{"study": {` + parameters + `}, "action": "dance"}`, `{"study": {` + parameters + `}, "trials": [{"params": {"lr": 7}}]}`,
		`{"study": {` + parameters + `}, "trials": [{"parms": {"lr": 7}}]}`, `{"study": {` + parameters + `}, "n": -1}`,
	} {
		var line bytes.Buffer
		require.NoError(t, study.ServeSuggest(t.Context(), strings.NewReader(document), &line))
		status, text := r.post(t, "Suggest", document)
		var want, got map[string]any
		require.NoError(t, json.Unmarshal(line.Bytes(), &want))
		require.NoError(t, json.Unmarshal([]byte(text), &got))
		if want["error"] != nil {
			require.Equal(t, http.StatusBadRequest, status, document)
			require.Equal(t, want["error"], strings.ReplaceAll(got["message"].(string), "loop: ", ""), document)
			continue
		}
		require.Equal(t, http.StatusOK, status, text)
		for key, value := range map[string]any{"exhausted": false, "initial": 0.0, "points": []any{}, "warm": []any{}, "require": []any{}} {
			if want[key] == nil {
				require.Equal(t, value, got[key])
				delete(got, key)
			}
			if list, ok := want[key].([]any); ok && len(list) == 0 {
				delete(want, key)
				delete(got, key)
			}
		}
		require.Equal(t, want, got, document)
	}
}

// A seed above 2^53 is a string, and not rounded as a number.
func TestSeeds(t *testing.T) {
	r := start(t, store.NewMemory(), Options{})
	suggest := func(seed string) (int, string) {
		return r.post(t, "Suggest", `{"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "seed": `+seed+`}}`)
	}
	status, text := suggest(`"18446744073709551615"`)
	require.Equal(t, 200, status)
	var line bytes.Buffer
	require.NoError(t, study.ServeSuggest(t.Context(), strings.NewReader(`{"study": {"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "seed": 18446744073709551615}}`), &line))
	var want, got struct{ Points []any }
	require.NoError(t, json.Unmarshal(line.Bytes(), &want))
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	require.Equal(t, want, got)
	status, text = suggest(`18446744073709551615`)
	require.Equal(t, 400, status)
	require.Contains(t, text, "write it as a string")
	status, _ = suggest(`"-1"`)
	require.Equal(t, 400, status)
}

// Repeated requests have the first answer, also after a restart.
func TestKeysSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bo.db")
	var create, ask, tell string
	for i := range 2 {
		b, err := sqlite.Open(t.Context(), path, true)
		require.NoError(t, err)
		r := start(t, b, Options{})
		status, text := r.post(t, "CreateStudy", `{"key": "c", "definition": `+bread+`}`)
		require.Equal(t, 200, status, text)
		status, asked := r.post(t, "Ask", `{"study": "bread", "key": "a"}`)
		require.Equal(t, 200, status, asked)
		status, told := r.post(t, "Tell", `{"study": "bread", "trial": 1, "key": "t", "value": `+[]string{"1", "2"}[i]+`}`)
		require.Equal(t, 200, status, told)
		if i == 0 {
			create, ask, tell = text, asked, told
		}
		require.Equal(t, []string{create, ask, tell}, []string{text, asked, told})
		status, _ = r.post(t, "Tell", `{"study": "bread", "trial": 1, "value": 3}`)
		require.Equal(t, http.StatusConflict, status)
		require.NoError(t, r.Stop())
	}
}

// Limits bound requests, and errors name them.
func TestLimits(t *testing.T) {
	r := start(t, store.NewMemory(), Options{Limits: Limits{Trials: 10, Parameters: 2, Points: 3, Bytes: 4096, Watchers: 1}})
	c := r.client()
	create(t, c, bread)
	code := func(err error) string { return connect.CodeOf(err).String() }
	ctx := t.Context()
	many := &bov1.SuggestRequest{Study: object(t, bread)}
	for range 11 {
		many.Trials = append(many.Trials, object(t, `{"params": {"x": 0.5, "n": 1}, "value": 1}`))
	}
	_, err := c.Suggest(ctx, many)
	require.Equal(t, "resource_exhausted", code(err))
	_, err = c.Suggest(ctx, &bov1.SuggestRequest{Study: object(t, bread), N: 4})
	require.Equal(t, "resource_exhausted", code(err))
	for _, definition := range []string{
		strings.Replace(bread, `"budget": 6`, `"budget": 11`, 1), strings.Replace(bread, "6", "0", 1),
		strings.Replace(bread, `"parameters": [`, `"parameters": [{"name": "y", "type": "float", "min": 0, "max": 1}, `, 1),
	} {
		_, err = c.CreateStudy(ctx, &bov1.CreateStudyRequest{Definition: object(t, strings.Replace(definition, `"bread"`, `"b"`, 1))})
		require.Contains(t, []string{"resource_exhausted", "invalid_argument"}, code(err))
	}
	_, err = c.Ask(ctx, &bov1.AskRequest{Study: "bread", N: 4})
	require.Equal(t, "invalid_argument", code(err))
	_, err = c.Tell(ctx, &bov1.TellRequest{Study: "bread", Trial: 1, Key: strings.Repeat("k", 5000)})
	require.Equal(t, "resource_exhausted", code(err))
	_, err = c.Tell(ctx, &bov1.TellRequest{Study: "bread", Trial: 1, Key: strings.Repeat("k", 300)})
	require.Equal(t, "invalid_argument", code(err))
	_, err = c.ListTrials(ctx, &bov1.ListTrialsRequest{Study: "bread", PageSize: 1001})
	require.Equal(t, "invalid_argument", code(err))
	first, err := c.Watch(ctx, &bov1.WatchRequest{Study: "bread"})
	require.NoError(t, err)
	require.True(t, first.Receive())
	second, err := c.Watch(ctx, &bov1.WatchRequest{Study: "bread"})
	require.NoError(t, err)
	require.False(t, second.Receive())
	require.Equal(t, "resource_exhausted", code(second.Err()))

	// Streams of the state need no token, and have a limit of their own.
	h := healthv1connect.NewHealthClient(grpcClient(), r.URL, connect.WithGRPC())
	for i := range maxProbes + 1 {
		probe, err := h.Watch(ctx, &healthv1.HealthCheckRequest{})
		require.NoError(t, err)
		require.Equal(t, i < maxProbes, probe.Receive())
		if i == maxProbes {
			require.Equal(t, "resource_exhausted", code(probe.Err()))
		}
	}
}

// A store that a newer program has upgraded is reported with a code that clients repeat.
func TestNewerStore(t *testing.T) {
	r := start(t, store.NewMemory(), Options{})
	err := r.coded(t.Context(), fmt.Errorf("study bread: %w", store.ErrNewer))
	require.Equal(t, connect.CodeUnavailable, connect.CodeOf(err))
	require.ErrorContains(t, err, "newer version")
}

// An outage of the database and a role without a privilege have a code that clients repeat. The answer does not give
// away the address; the log has the reason.
func TestUnavailableStore(t *testing.T) {
	for fault, want := range map[error]string{store.ErrUnavailable: "the store is unavailable", store.ErrDenied: "lacks a privilege"} {
		r := start(t, store.NewMemory(), Options{})
		err := r.coded(t.Context(), fmt.Errorf("study bread: %w: dial tcp 10.1.2.3", fault))
		require.Equal(t, connect.CodeUnavailable, connect.CodeOf(err))
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "10.1.2.3")
		require.Contains(t, r.log.String(), "10.1.2.3")
	}
}

// silent is a backend whose reads have no answer while it is down.
type silent struct {
	store.Backend
	down atomic.Bool
}

func (b *silent) View(ctx context.Context, f func(store.Tx) error) error {
	if b.down.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return b.Backend.View(ctx, f)
}

// Without an answer of the database, methods and pages answer 503 with the time of the next attempt. The service is
// alive and not ready. It answers again when the database does.
func TestSilentStore(t *testing.T) {
	b := &silent{Backend: store.NewMemory()}
	r := start(t, b, Options{Limits: Limits{Read: 50 * time.Millisecond}})
	create(t, r.client(), bread)
	send := func(method, path, body string) (status int, retry, text string) {
		q, err := http.NewRequestWithContext(t.Context(), method, r.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		q.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		defer answer.Body.Close()
		all, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, answer.Header.Get("Retry-After"), string(all)
	}
	requests := [][3]string{
		{"POST", "/bo.v1.StudyService/GetStudy", `{"study": "bread"}`}, {"POST", "/bo.v1.StudyService/ListStudies", `{}`},
		{"POST", "/bo.v1.StudyService/ListTrials", `{"study": "bread"}`}, {"POST", "/bo.v1.StudyService/Export", `{"study": "bread"}`},
		{"POST", "/bo.v1.StudyService/Ask", `{"study": "bread"}`}, {"GET", "/", ""}, {"GET", "/studies/bread", ""},
	}
	b.down.Store(true)
	for _, q := range requests {
		status, retry, text := send(q[0], q[1], q[2])
		require.Equal(t, 503, status, q[1])
		require.Equal(t, "5", retry, q[1])
		require.Contains(t, text, "the store is unavailable: repeat the request", q[1])
	}
	b.down.Store(false)
	for _, q := range requests {
		status, retry, text := send(q[0], q[1], q[2])
		require.Equal(t, 200, status, "%s: %s", q[1], text)
		require.Empty(t, retry)
	}
}

// Pages of the dashboard do not keep studies in memory.
func TestStudiesInMemory(t *testing.T) {
	r := start(t, store.NewMemory(), Options{})
	c := r.client()
	for i := range maxOpen + 50 {
		create(t, c, strings.Replace(bread, `"bread"`, fmt.Sprintf(`"bread-%d"`, i), 1))
	}
	for page := range (maxOpen+50)/50 + 1 {
		resp, err := http.Get(fmt.Sprintf("%s/?page=%d", r.URL, page+1))
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	require.LessOrEqual(t, len(r.studies), maxOpen)
}

// Trials have the values that a request gives, and a repeated request with others is an error.
func TestAskGiven(t *testing.T) {
	r := start(t, store.NewMemory(), Options{})
	create(t, r.client(), bread)
	status, text := r.post(t, "Ask", `{"study": "bread", "n": 2, "given": {"n": 3}, "key": "k"}`)
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, 2, strings.Count(text, `"n":3`), text)
	status, again := r.post(t, "Ask", `{"study": "bread", "n": 2, "given": {"n": 3}, "key": "k"}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, text, again)
	status, text = r.post(t, "Ask", `{"study": "bread", "n": 2, "given": {"n": 4}, "key": "k"}`)
	require.Equal(t, http.StatusConflict, status, text)
	require.Contains(t, text, `has the given values {\"n\":3}`)
	status, text = r.post(t, "Ask", `{"study": "bread", "given": {"n": 400}}`)
	require.Equal(t, http.StatusBadRequest, status, text)
	require.Contains(t, text, `parameter \"n\": 400 is outside`)
}

// Studies with many trials take no more memory than many studies.
func TestTrialsInMemory(t *testing.T) {
	r := start(t, store.NewMemory(), Options{})
	r.maxHeld = 50
	c := r.client()
	var earlier []string
	for n := range 12 {
		earlier = append(earlier, fmt.Sprintf(`{"params": {"x": %g, "n": 1}, "value": 1}`, float64(n)/12))
	}
	for i := range 20 {
		name := fmt.Sprintf("bread-%d", i)
		create(t, c, strings.Replace(strings.Replace(bread, `"budget": 6`, `"budget": 60, "initial": 50`, 1), `"bread"`, fmt.Sprintf(`%q, "earlier": [%s]`, name, strings.Join(earlier, ", ")), 1))
		_, err := c.GetStudy(t.Context(), &bov1.GetStudyRequest{Study: name})
		require.NoError(t, err)
		r.mu.Lock()
		held := 0
		for _, u := range r.studies {
			held += u.study.Held()
		}
		r.mu.Unlock()
		require.LessOrEqual(t, held, 50+12)
		require.Positive(t, held)
	}

	// Studies that grow while they are open are bounded too. The ones in use stay.
	for range 12 {
		for i := range 4 {
			_, err := c.Ask(t.Context(), &bov1.AskRequest{Study: fmt.Sprintf("bread-%d", i)})
			require.NoError(t, err)
		}
	}
	_, err := c.GetStudy(t.Context(), &bov1.GetStudyRequest{Study: "bread-3"})
	require.NoError(t, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	held := 0
	for _, u := range r.studies {
		held += u.study.Held()
	}
	require.LessOrEqual(t, held, 50+24)
	require.Contains(t, r.studies, "bread-3")
}

// A study ends at its target: further asks are out of range, and repeated ones have their answer.
func TestEnd(t *testing.T) {
	r := start(t, store.NewMemory(), Options{})
	c := r.client()
	create(t, c, strings.Replace(bread, `"budget": 6`, `"budget": 6, "end": {"target": 0.5}`, 1))
	a, err := c.Ask(t.Context(), &bov1.AskRequest{Study: "bread", Key: "k"})
	require.NoError(t, err)
	value := 0.1
	_, err = c.Tell(t.Context(), &bov1.TellRequest{Study: "bread", Trial: 1, Value: &value})
	require.NoError(t, err)
	_, err = c.Ask(t.Context(), &bov1.AskRequest{Study: "bread", Key: "other"})
	require.Equal(t, connect.CodeOutOfRange, connect.CodeOf(err))
	again, err := c.Ask(t.Context(), &bov1.AskRequest{Study: "bread", Key: "k"})
	require.NoError(t, err)
	require.Equal(t, a.Trials[0].Token, again.Trials[0].Token)
	_, err = c.Ask(t.Context(), &bov1.AskRequest{Study: "bread", Key: "k", N: 2})
	require.Equal(t, connect.CodeAlreadyExists, connect.CodeOf(err))
	require.ErrorContains(t, err, `the key belongs to another request: "k" has n = 1`)
	got, err := c.GetStudy(t.Context(), &bov1.GetStudyRequest{Study: "bread"})
	require.NoError(t, err)
	require.Contains(t, got.Ended, "the target is reached")
	require.NoError(t, r.Store().Delete(t.Context(), "bread"))
	_, err = c.Ask(t.Context(), &bov1.AskRequest{Study: "bread"})
	require.Equal(t, connect.CodeNotFound, connect.CodeOf(err))
	create(t, c, bread)
	_, err = c.Ask(t.Context(), &bov1.AskRequest{Study: "bread", Key: "k"})
	require.NoError(t, err)
}

// The end of Serve ends streams and asks that wait, and completes results.
func TestShutdown(t *testing.T) {
	r := start(t, store.NewMemory(), Options{})
	c := r.client()
	create(t, c, strings.Replace(bread, `"budget": 6`, `"budget": 6, "initial": 1, "batch": 1`, 1))
	_, err := c.Ask(t.Context(), &bov1.AskRequest{Study: "bread"})
	require.NoError(t, err)
	waits := make(chan error, 2)
	go func() { // until the first trial of the round ends
		_, err := c.Ask(context.Background(), &bov1.AskRequest{Study: "bread"})
		waits <- err
	}()
	stream, err := c.Watch(t.Context(), &bov1.WatchRequest{Study: "bread"})
	require.NoError(t, err)
	require.True(t, stream.Receive())
	go func() {
		for stream.Receive() {
		}
		waits <- stream.Err()
	}()
	time.Sleep(200 * time.Millisecond)
	begun := time.Now()
	require.NoError(t, r.Stop())
	require.Less(t, time.Since(begun), 10*time.Second)
	for range 2 {
		require.Equal(t, connect.CodeUnavailable, connect.CodeOf(<-waits))
	}
}

// A request that computes for too long is stopped.
func TestWait(t *testing.T) {
	r := start(t, store.NewMemory(), Options{Limits: Limits{Wait: 50 * time.Millisecond}})
	c := r.client()
	create(t, c, strings.Replace(bread, `"budget": 6`, `"budget": 6, "initial": 1, "batch": 1`, 1))
	_, err := c.Ask(t.Context(), &bov1.AskRequest{Study: "bread"})
	require.NoError(t, err)
	_, err = c.Ask(t.Context(), &bov1.AskRequest{Study: "bread"})
	require.Equal(t, connect.CodeResourceExhausted, connect.CodeOf(err), "%v", err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = c.Ask(ctx, &bov1.AskRequest{Study: "bread"})
	require.Equal(t, connect.CodeDeadlineExceeded, connect.CodeOf(err))
}

func TestMetricsAndHealth(t *testing.T) {
	r := start(t, store.NewMemory(), Options{})
	create(t, r.client(), bread)
	for path, want := range map[string]string{"/metrics": `bo_requests_total{code="ok",method="CreateStudy"} 1`, "/healthz": "ok"} {
		resp, err := http.Get(r.URL + path)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 200, resp.StatusCode)
		require.Contains(t, string(text), want)
	}
}

// Requests that no method can read have a line of the log and a place in the metrics, like others.
func TestUnreadableRequestsAreObserved(t *testing.T) {
	refused := func(message string) func(*testing.T, *running) {
		return func(t *testing.T, r *running) {
			status, _ := r.post(t, "Ask", message)
			require.GreaterOrEqual(t, status, 400)
		}
	}
	large := strings.Repeat("secret", 200)
	call := func(o ...connect.ClientOption) func(*testing.T, *running) {
		return func(t *testing.T, r *running) {
			h := grpcClient()
			defer h.CloseIdleConnections()
			_, err := bov1connect.NewStudyServiceClient(h, r.URL, o...).Ask(t.Context(), &bov1.AskRequest{Study: large})
			require.Equal(t, connect.CodeResourceExhausted, connect.CodeOf(err))
		}
	}
	for name, c := range map[string]struct {
		send func(*testing.T, *running)
		code string
	}{
		"an unknown field":          {refused(`{"x": "secret"}`), "invalid_argument"},
		"no JSON":                   {refused(`{"study": secret`), "invalid_argument"},
		"too large":                 {refused(`{"study": "` + large + `"}`), "resource_exhausted"},
		"too large, gRPC":           {call(connect.WithGRPC()), "resource_exhausted"},
		"too large, gRPC-Web":       {call(connect.WithGRPCWeb()), "resource_exhausted"},
		"an unknown type of bodies": {func(t *testing.T, r *running) { r.post(t, "Ask", "secret", "Content-Type", "text/plain") }, "415"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, store.NewMemory(), Options{Limits: Limits{Bytes: 1000}})
			c.send(t, r)
			require.NoError(t, r.Stop()) // the line is written after the answer
			var metrics exposition
			r.metrics.write(&metrics)
			require.Contains(t, metrics.String(), fmt.Sprintf(`bo_requests_total{code=%q,method="Ask"} 1`, c.code))
			require.Contains(t, metrics.String(), `bo_request_seconds_count{method="Ask"} 1`)
			require.Regexp(t, `level=INFO msg=request method=Ask study="" code=`+c.code+` seconds=\S+ token="" peer=127.0.0.1\n`, r.log.String())
			require.NotContains(t, r.log.String(), "secret")
		})
	}
}

// The request has a half of its body, and needs no token.
func TestSlowBodyIsAnswered(t *testing.T) {
	for _, path := range []string{healthv1connect.HealthCheckProcedure, bov1connect.StudyServiceGetStudyProcedure, "/none"} {
		t.Run(path, func(t *testing.T) {
			s := New(store.NewMemory(), Options{})
			s.bodyTime = 50 * time.Millisecond
			r := servertest.Start(t, s, servertest.AnyPort)
			c, err := net.Dial("tcp", r.Address)
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.SetReadDeadline(time.Now().Add(20*time.Second)))
			_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"service\"", path)
			require.NoError(t, err)
			answer, err := io.ReadAll(c)
			require.NoError(t, err, "the connection stays open")
			require.Regexp(t, `^HTTP/1.1 [45]\d\d `, string(answer))
			require.NotContains(t, string(answer), r.Address)
			if path != "/none" {
				require.Contains(t, string(answer), "the request did not arrive in 50ms")
			}
		})
	}
}
