package katib_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	healthv1 "github.com/functionspace/bo/api/grpc/health/v1"
	"github.com/functionspace/bo/api/grpc/health/v1/healthv1connect"
	api "github.com/functionspace/bo/api/katib/v1beta1"
	"github.com/functionspace/bo/api/katib/v1beta1/katibv1beta1connect"
	"github.com/functionspace/bo/server/katib"
)

// client calls the service. The fault of a refused request is its code and message.
type client interface {
	suggest(*api.GetSuggestionsRequest) (reply *api.GetSuggestionsReply, code, message string)
	validate(*api.Experiment) (code, message string)
	check(service string) (status, code string)
}

// serve runs the service on a free port until the end of the test and returns its address.
func serve(t testing.TB, o katib.Options) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- katib.New(o).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
	})
	return l.Addr().String()
}

// connected is a client of package connect, over gRPC.
type connected struct {
	katibv1beta1connect.SuggestionClient
	healthv1connect.HealthClient
}

func connectTo(address string) client {
	transport := &http.Transport{Protocols: &http.Protocols{}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	h, url := &http.Client{Transport: transport}, "http://"+address
	return &connected{katibv1beta1connect.NewSuggestionClient(h, url, connect.WithGRPC()), healthv1connect.NewHealthClient(h, url, connect.WithGRPC())}
}

func fault(err error) (code, message string) {
	if e, ok := err.(*connect.Error); ok {
		return strings.ToUpper(e.Code().String()), e.Message()
	}
	return "", ""
}

func (c *connected) suggest(q *api.GetSuggestionsRequest) (*api.GetSuggestionsReply, string, string) {
	reply, err := c.GetSuggestions(context.Background(), q)
	code, message := fault(err)
	return reply, code, message
}

func (c *connected) validate(e *api.Experiment) (code, message string) {
	_, err := c.ValidateAlgorithmSettings(context.Background(), &api.ValidateAlgorithmSettingsRequest{Experiment: e})
	return fault(err)
}

func (c *connected) check(service string) (status, code string) {
	r, err := c.Check(context.Background(), &healthv1.HealthCheckRequest{Service: service})
	code, _ = fault(err)
	return r.GetStatus().String(), code
}

// stubs is a client of the package kubeflow-katib of Python, over testdata/client.py.
type stubs struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Reader
}

// stubsOf starts a client with the stubs. It skips the test if Python does not have them: BO_TEST_PYTHON names
// the interpreter, and .ci/test-python makes one. With CI=true they must be there.
func stubsOf(t testing.TB, address string) client {
	python := os.Getenv("BO_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.Command(python, "testdata/client.py").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" && !testing.Short() {
			t.Fatalf("no Python with kubeflow-katib: %s", out)
		}
		t.Skip("no Python with kubeflow-katib")
	}
	cmd := exec.Command(python, "testdata/client.py", address)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &stubs{t, in, bufio.NewReader(out)}
}

// call sends a request and reads its reply.
func (s *stubs) call(method string, q, reply proto.Message) (code, message string) {
	request, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(q)
	require.NoError(s.t, err)
	line, err := json.Marshal(map[string]any{"method": method, "request": json.RawMessage(request)})
	require.NoError(s.t, err)
	_, err = s.in.Write(append(line, '\n'))
	require.NoError(s.t, err)
	text, err := s.out.ReadBytes('\n')
	require.NoError(s.t, err)
	var answer struct {
		Code, Message string
		Reply         json.RawMessage
	}
	require.NoError(s.t, json.Unmarshal(text, &answer))
	if answer.Code == "" {
		require.NoError(s.t, protojson.Unmarshal(answer.Reply, reply))
	}
	return answer.Code, answer.Message
}

func (s *stubs) suggest(q *api.GetSuggestionsRequest) (*api.GetSuggestionsReply, string, string) {
	reply := &api.GetSuggestionsReply{}
	code, message := s.call("GetSuggestions", q, reply)
	return reply, code, message
}

func (s *stubs) validate(e *api.Experiment) (code, message string) {
	return s.call("ValidateAlgorithmSettings", &api.ValidateAlgorithmSettingsRequest{Experiment: e}, &api.ValidateAlgorithmSettingsReply{})
}

func (s *stubs) check(service string) (status, code string) {
	reply := &healthv1.HealthCheckResponse{}
	code, _ = s.call("Check", &healthv1.HealthCheckRequest{Service: service}, reply)
	return reply.Status.String(), code
}

// eachClient runs a test with both clients.
func eachClient(t *testing.T, o katib.Options, test func(*testing.T, client)) {
	address := serve(t, o)
	t.Run("connect", func(t *testing.T) { test(t, connectTo(address)) })
	t.Run("kubeflow-katib", func(t *testing.T) { test(t, stubsOf(t, address)) })
}
