package server

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/functionspace/bo/api/bo/v1/bov1connect"
)

// anyMessage is a request or a response of any method. All methods share the handler code of connect
// for this type. The generated handlers instantiate it for each method, which adds 0.3 MB.
type anyMessage struct{ proto.Message }

// mount serves a method at its path.
type mount func(procedure string, h http.Handler)

// handle serves a unary method at its path.
func handle[Q, A proto.Message](mount mount, procedure string, method func(context.Context, Q) (A, error), options []connect.HandlerOption) {
	mount(procedure, connect.NewUnaryHandlerSimple(procedure, func(ctx context.Context, r *anyMessage) (*anyMessage, error) {
		answer, err := method(ctx, r.Message.(Q))
		if err != nil {
			return nil, err
		}
		return &anyMessage{answer}, nil
	}, requestOf[Q](), connect.WithHandlerOptions(options...)))
}

// handleStream serves a method with a stream of answers at its path.
func handleStream[Q, A proto.Message](mount mount, procedure string, method func(ctx context.Context, r Q, send func(A) error) error, options []connect.HandlerOption) {
	mount(procedure, connect.NewServerStreamHandlerSimple(procedure, func(ctx context.Context, r *anyMessage, stream *connect.ServerStream[anyMessage]) error {
		return method(ctx, r.Message.(Q), func(answer A) error { return stream.Send(&anyMessage{answer}) })
	}, requestOf[Q](), connect.WithHandlerOptions(options...)))
}

// requestOf gives requests the type Q.
func requestOf[Q proto.Message]() connect.HandlerOption {
	var request Q
	create := request.ProtoReflect().New
	return connect.WithRequestInitializer(func(_ connect.Spec, m any) error {
		m.(*anyMessage).Message = create().Interface()
		return nil
	})
}

// handleStudies serves the methods of bo.v1.StudyService.
func handleStudies(mount mount, s *service, options []connect.HandlerOption) {
	handle(mount, bov1connect.StudyServiceSuggestProcedure, s.Suggest, options)
	handle(mount, bov1connect.StudyServiceCreateStudyProcedure, s.CreateStudy, options)
	handle(mount, bov1connect.StudyServiceEditStudyProcedure, s.EditStudy, options)
	handle(mount, bov1connect.StudyServiceDeleteStudyProcedure, s.DeleteStudy, options)
	handle(mount, bov1connect.StudyServiceGetStudyProcedure, s.GetStudy, options)
	handle(mount, bov1connect.StudyServiceListStudiesProcedure, s.ListStudies, options)
	handle(mount, bov1connect.StudyServiceExportProcedure, s.Export, options)
	handle(mount, bov1connect.StudyServiceGetTrialProcedure, s.GetTrial, options)
	handle(mount, bov1connect.StudyServiceListTrialsProcedure, s.ListTrials, options)
	handle(mount, bov1connect.StudyServiceEnqueueProcedure, s.Enqueue, options)
	handle(mount, bov1connect.StudyServiceAskProcedure, s.Ask, options)
	handle(mount, bov1connect.StudyServiceHeartbeatProcedure, s.Heartbeat, options)
	handle(mount, bov1connect.StudyServiceReleaseProcedure, s.Release, options)
	handle(mount, bov1connect.StudyServiceReportStepsProcedure, s.ReportSteps, options)
	handle(mount, bov1connect.StudyServiceTellProcedure, s.Tell, options)
	handle(mount, bov1connect.StudyServiceFailProcedure, s.Fail, options)
	handleStream(mount, bov1connect.StudyServiceWatchProcedure, s.Watch, options)
}
