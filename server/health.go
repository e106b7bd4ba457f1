package server

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	"github.com/functionspace/bo/api/bo/v1/bov1connect"
	healthv1 "github.com/functionspace/bo/api/grpc/health/v1"
	"github.com/functionspace/bo/api/grpc/health/v1/healthv1connect"
)

// health implements grpc.health.v1.Health.
type health struct {
	*Server
	probes chan struct{} // streams of the state
}

// handleHealth serves the methods of grpc.health.v1.Health.
func handleHealth(mount mount, h *health, options []connect.HandlerOption) {
	handle(mount, healthv1connect.HealthCheckProcedure, h.Check, options)
	handleStream(mount, healthv1connect.HealthWatchProcedure, h.Watch, options)
}

// Check returns the state of the server, or of the service bo.v1.StudyService.
func (h *health) Check(ctx context.Context, r *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	status := h.status(ctx, r.Service)
	if status == healthv1.HealthCheckResponse_SERVICE_UNKNOWN {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("unknown service"))
	}
	return &healthv1.HealthCheckResponse{Status: status}, nil
}

func (h *health) status(ctx context.Context, service string) healthv1.HealthCheckResponse_ServingStatus {
	switch {
	case service != "" && service != bov1connect.StudyServiceName:
		return healthv1.HealthCheckResponse_SERVICE_UNKNOWN
	case h.ready(ctx) != nil:
		return healthv1.HealthCheckResponse_NOT_SERVING
	}
	return healthv1.HealthCheckResponse_SERVING
}

// maxProbes is the number of streams of the state at a time.
const maxProbes = 16

// Watch returns the state and its changes.
func (h *health) Watch(ctx context.Context, r *healthv1.HealthCheckRequest, send func(*healthv1.HealthCheckResponse) error) error {
	select { // these streams need no token, so they do not share the limit of others
	case h.probes <- struct{}{}:
		defer func() { <-h.probes }()
	default:
		return tooMany("more than %d streams of the state", maxProbes)
	}
	last := healthv1.HealthCheckResponse_UNKNOWN
	for {
		if status := h.status(ctx, r.Service); status != last {
			if err := send(&healthv1.HealthCheckResponse{Status: status}); err != nil {
				return err
			}
			last = status
		}
		if h.closing.Err() != nil {
			return errClosing
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.closing.Done():
		case <-time.After(5 * time.Second):
		}
	}
}
