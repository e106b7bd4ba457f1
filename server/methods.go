package server

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/functionspace/bo/api/bo/v1/bov1connect"
)

// anyMessage is a request or a response of any method. All unary methods share the handler code of
// connect for this type. The generated handlers instantiate it for each method, which adds 0.3 MB.
type anyMessage struct{ proto.Message }

// handle serves a unary method at its path.
func handle[Q, A proto.Message](mux *http.ServeMux, procedure string, method func(context.Context, Q) (A, error), options []connect.HandlerOption) {
	var request Q
	create := request.ProtoReflect().New
	mux.Handle(procedure, connect.NewUnaryHandlerSimple(procedure, func(ctx context.Context, r *anyMessage) (*anyMessage, error) {
		answer, err := method(ctx, r.Message.(Q))
		if err != nil {
			return nil, err
		}
		return &anyMessage{answer}, nil
	}, connect.WithRequestInitializer(func(_ connect.Spec, m any) error {
		m.(*anyMessage).Message = create().Interface()
		return nil
	}), connect.WithHandlerOptions(options...)))
}

// handleStudies serves the methods of bo.v1.StudyService.
func handleStudies(mux *http.ServeMux, s *service, options []connect.HandlerOption) {
	handle(mux, bov1connect.StudyServiceSuggestProcedure, s.Suggest, options)
	handle(mux, bov1connect.StudyServiceCreateStudyProcedure, s.CreateStudy, options)
	handle(mux, bov1connect.StudyServiceGetStudyProcedure, s.GetStudy, options)
	handle(mux, bov1connect.StudyServiceListStudiesProcedure, s.ListStudies, options)
	handle(mux, bov1connect.StudyServiceExportProcedure, s.Export, options)
	handle(mux, bov1connect.StudyServiceGetTrialProcedure, s.GetTrial, options)
	handle(mux, bov1connect.StudyServiceListTrialsProcedure, s.ListTrials, options)
	handle(mux, bov1connect.StudyServiceAskProcedure, s.Ask, options)
	handle(mux, bov1connect.StudyServiceHeartbeatProcedure, s.Heartbeat, options)
	handle(mux, bov1connect.StudyServiceReleaseProcedure, s.Release, options)
	handle(mux, bov1connect.StudyServiceReportStepsProcedure, s.ReportSteps, options)
	handle(mux, bov1connect.StudyServiceTellProcedure, s.Tell, options)
	handle(mux, bov1connect.StudyServiceFailProcedure, s.Fail, options)
	mux.Handle(bov1connect.StudyServiceWatchProcedure,
		connect.NewServerStreamHandlerSimple(bov1connect.StudyServiceWatchProcedure, s.Watch, options...))
}
