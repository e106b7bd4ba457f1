package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/api/bo/v1/bov1connect"
)

// Client makes the requests of a worker. Errors have the codes of connect. Clients of package
// bov1connect, for gRPC among others, have these methods too.
type Client interface {
	GetStudy(context.Context, *bov1.GetStudyRequest) (*bov1.GetStudyResponse, error)
	Ask(context.Context, *bov1.AskRequest) (*bov1.AskResponse, error)
	Heartbeat(context.Context, *bov1.HeartbeatRequest) (*bov1.HeartbeatResponse, error)
	Release(context.Context, *bov1.ReleaseRequest) (*bov1.ReleaseResponse, error)
	ReportSteps(context.Context, *bov1.ReportStepsRequest) (*bov1.ReportStepsResponse, error)
	Tell(context.Context, *bov1.TellRequest) (*bov1.TellResponse, error)
	Fail(context.Context, *bov1.FailRequest) (*bov1.FailResponse, error)
}

var _ Client = bov1connect.StudyServiceClient(nil)

// HTTP is a Client of the Connect protocol. It adds 0.2 MB to a program, and the generated client
// 1.6 MB.
type HTTP struct {
	URL    string       // address of the service, such as http://localhost:7040
	Token  string       // "" sends none
	Client *http.Client // nil is http.DefaultClient
}

var _ Client = (*HTTP)(nil)

// GetStudy implements Client.
func (c *HTTP) GetStudy(ctx context.Context, q *bov1.GetStudyRequest) (*bov1.GetStudyResponse, error) {
	return post(ctx, c, bov1connect.StudyServiceGetStudyProcedure, q, &bov1.GetStudyResponse{})
}

// Ask implements Client.
func (c *HTTP) Ask(ctx context.Context, q *bov1.AskRequest) (*bov1.AskResponse, error) {
	return post(ctx, c, bov1connect.StudyServiceAskProcedure, q, &bov1.AskResponse{})
}

// Heartbeat implements Client.
func (c *HTTP) Heartbeat(ctx context.Context, q *bov1.HeartbeatRequest) (*bov1.HeartbeatResponse, error) {
	return post(ctx, c, bov1connect.StudyServiceHeartbeatProcedure, q, &bov1.HeartbeatResponse{})
}

// Release implements Client.
func (c *HTTP) Release(ctx context.Context, q *bov1.ReleaseRequest) (*bov1.ReleaseResponse, error) {
	return post(ctx, c, bov1connect.StudyServiceReleaseProcedure, q, &bov1.ReleaseResponse{})
}

// ReportSteps implements Client.
func (c *HTTP) ReportSteps(ctx context.Context, q *bov1.ReportStepsRequest) (*bov1.ReportStepsResponse, error) {
	return post(ctx, c, bov1connect.StudyServiceReportStepsProcedure, q, &bov1.ReportStepsResponse{})
}

// Tell implements Client.
func (c *HTTP) Tell(ctx context.Context, q *bov1.TellRequest) (*bov1.TellResponse, error) {
	return post(ctx, c, bov1connect.StudyServiceTellProcedure, q, &bov1.TellResponse{})
}

// Fail implements Client.
func (c *HTTP) Fail(ctx context.Context, q *bov1.FailRequest) (*bov1.FailResponse, error) {
	return post(ctx, c, bov1connect.StudyServiceFailProcedure, q, &bov1.FailResponse{})
}

const maxAnswer = 256 << 20 // bytes of an answer

// post sends a request and reads its answer into a.
func post[A proto.Message](ctx context.Context, c *HTTP, procedure string, q proto.Message, a A) (A, error) {
	return a, c.send(ctx, procedure, q, a)
}

// send is post for any type of answer.
func (c *HTTP) send(ctx context.Context, procedure string, q, a proto.Message) error {
	body, err := proto.Marshal(q)
	if err != nil {
		return connect.NewError(connect.CodeInvalidArgument, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+procedure, bytes.NewReader(body))
	if err != nil {
		return connect.NewError(connect.CodeInvalidArgument, err)
	}
	r.Header.Set("Content-Type", "application/proto")
	r.Header.Set("Connect-Protocol-Version", "1")
	if end, ok := ctx.Deadline(); ok {
		r.Header.Set("Connect-Timeout-Ms", strconv.FormatInt(max(1, time.Until(end).Milliseconds()), 10))
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := cmp.Or(c.Client, http.DefaultClient).Do(r)
	if err != nil {
		return unreached(ctx, err)
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case err != nil:
		return unreached(ctx, err)
	case response.StatusCode != http.StatusOK:
		return refused(response, body)
	case response.Header.Get("Content-Type") != "application/proto":
		return connect.NewError(connect.CodeUnknown, errors.New("the answer is not an answer of bo serve"))
	}
	return proto.Unmarshal(body, a)
}

// unreached returns the error of a request without a complete answer.
func unreached(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	case ctx.Err() != nil:
		return connect.NewError(connect.CodeCanceled, err)
	}
	return connect.NewError(connect.CodeUnavailable, err)
}

// refused returns the error of an answer. Answers without an error of the service are the answers of
// a proxy, or of another program.
func refused(response *http.Response, body []byte) error {
	var e struct {
		Code    connect.Code
		Message string
	}
	if json.Unmarshal(body, &e) == nil && e.Code != 0 {
		return connect.NewError(e.Code, errors.New(cmp.Or(e.Message, e.Code.String())))
	}
	code := connect.CodeUnknown
	switch response.StatusCode {
	case http.StatusUnauthorized:
		code = connect.CodeUnauthenticated
	case http.StatusForbidden:
		code = connect.CodePermissionDenied
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		code = connect.CodeUnimplemented
	case http.StatusMisdirectedRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		code = connect.CodeFailedPrecondition
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		code = connect.CodeUnavailable
	}
	text := []rune(strings.ToValidUTF8(strings.TrimSpace(string(body)), "\ufffd"))
	return connect.NewError(code, fmt.Errorf("%s: %s", response.Status, string(text[:min(len(text), 200)])))
}
