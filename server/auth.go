package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"connectrpc.com/connect"

	"github.com/functionspace/bo/api/bo/v1/bov1connect"
	"github.com/functionspace/bo/api/grpc/health/v1/healthv1connect"
)

// roles are the roles that methods need. A method without an entry needs Admin; "" needs no token.
var roles = map[string]Role{
	bov1connect.StudyServiceGetStudyProcedure:    Read,
	bov1connect.StudyServiceListStudiesProcedure: Read,
	bov1connect.StudyServiceGetTrialProcedure:    Read,
	bov1connect.StudyServiceListTrialsProcedure:  Read,
	bov1connect.StudyServiceWatchProcedure:       Read,
	bov1connect.StudyServiceExportProcedure:      Read,

	bov1connect.StudyServiceSuggestProcedure:     Work,
	bov1connect.StudyServiceEnqueueProcedure:     Work,
	bov1connect.StudyServiceAskProcedure:         Work,
	bov1connect.StudyServiceHeartbeatProcedure:   Work,
	bov1connect.StudyServiceReleaseProcedure:     Work,
	bov1connect.StudyServiceReportStepsProcedure: Work,
	bov1connect.StudyServiceTellProcedure:        Work,
	bov1connect.StudyServiceFailProcedure:        Work,

	bov1connect.StudyServiceCreateStudyProcedure: Admin,
	bov1connect.StudyServiceEditStudyProcedure:   Admin,
	bov1connect.StudyServiceDeleteStudyProcedure: Admin,

	healthv1connect.HealthCheckProcedure: "",
	healthv1connect.HealthWatchProcedure: "",
}

// needed returns the role that a method needs.
func needed(procedure string) Role {
	if role, ok := roles[procedure]; ok {
		return role
	}
	return Admin
}

// authorize is the gate of all methods.
func (s *Server) authorize(ctx context.Context, spec connect.Spec, peer connect.Peer, header http.Header) (context.Context, error) {
	token, err := s.check(header, needed(spec.Procedure))
	request, name := observedOf(ctx), token.Name
	request.token, request.studies = name, token.Studies
	request.check = func() error {
		_, err := s.check(header, needed(spec.Procedure))
		return err
	}
	if err != nil {
		request.logged = true
		code := connect.CodeOf(err)
		s.metrics.requests.with(code.String(), methodOf(spec.Procedure)).Add(1)
		s.opts.Log.WarnContext(ctx, "refused", "method", methodOf(spec.Procedure), "code", code.String(), "token", name, "peer", hostOf(peer.Addr))
		return nil, err
	}
	return ctx, nil
}

// check returns the token of a request, or the reason to refuse it. Without tokens it is the zero Token.
func (s *Server) check(header http.Header, role Role) (token Token, err error) {
	if s.opts.Tokens == nil || role == "" {
		return Token{}, nil
	}
	scheme, text, ok := strings.Cut(header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return Token{}, connect.NewError(connect.CodeUnauthenticated, errors.New("a token is missing: send the header Authorization: Bearer TOKEN"))
	}
	token, ok = s.opts.Tokens.find(strings.TrimSpace(text))
	switch {
	case !ok:
		return Token{}, connect.NewError(connect.CodeUnauthenticated, errors.New("the token is not valid"))
	case token.expired():
		return token, connect.NewError(connect.CodeUnauthenticated, errors.New("the token has expired"))
	case !token.Role.permits(role):
		return token, connect.NewError(connect.CodePermissionDenied, errors.New("the token has the role "+string(token.Role)+", the method needs "+string(role)))
	}
	return token, nil
}

// permit returns an error for a study that the token of a request does not permit. The dashboard checks its readers
// itself.
func permit(ctx context.Context, study string) error {
	if studies := studiesOf(ctx); !strings.HasPrefix(study, studies) {
		return connect.NewError(connect.CodePermissionDenied, fmt.Errorf("the token is for studies whose names begin with %q", studies))
	}
	return nil
}

// protected is check for a plain handler.
func (s *Server) protected(role Role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := s.check(r.Header, role); err != nil {
			status := http.StatusUnauthorized
			if connect.CodeOf(err) == connect.CodePermissionDenied {
				status = http.StatusForbidden
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.refuse(w, r, status, err.Error())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Loopback reports whether an address host:port is reached from this machine alone.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	return loopbackHost(host)
}

func loopbackHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
