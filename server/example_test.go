package server_test

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"google.golang.org/protobuf/types/known/structpb"

	bov1 "github.com/functionspace/bo/api/bo/v1"
	"github.com/functionspace/bo/api/bo/v1/bov1connect"
	"github.com/functionspace/bo/server"
	"github.com/functionspace/bo/server/worker"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
)

// A service in memory, a study, and a worker that evaluates it.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	s := server.New(store.NewMemory(), server.Options{})
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		panic(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(ctx, l, nil) }()

	client := bov1connect.NewStudyServiceClient(http.DefaultClient, "http://"+l.Addr().String())
	definition, err := structpb.NewStruct(map[string]any{
		"name": "bread", "budget": 8,
		"parameters": []any{map[string]any{"name": "x", "type": "float", "min": 0, "max": 1}},
	})
	if err != nil {
		panic(err)
	}
	if _, err := client.CreateStudy(ctx, &bov1.CreateStudyRequest{Definition: definition, Key: "create bread"}); err != nil {
		panic(err)
	}
	evaluate := func(_ context.Context, _ store.Trial, p space.Point) (store.Report, error) {
		x := p.Float("x")
		return store.Report{Numbers: map[string]float64{"value": (x - 0.3) * (x - 0.3)}}, nil
	}
	done, err := worker.Run(ctx, client, evaluate, worker.Options{Study: "bread"})
	fmt.Println(done.Evaluated, done.Reason, err)

	stop()
	fmt.Println(<-served, s.Close())
	// Output:
	// 8 the budget is used up: 8 trials count against the budget of 8 (bo study edit bread --budget N raises the budget) <nil>
	// <nil> <nil>
}
