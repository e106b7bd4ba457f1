// Package server serves the studies of a store over HTTP: the service bo.v1.StudyService of package
// api as gRPC, gRPC-Web and JSON.
//
//	backend, err := sqlite.Open(ctx, "bo.db", true)
//	s := server.New(backend, server.Options{})
//	defer s.Close()
//	err = s.Serve(ctx, listener, nil) // until ctx ends
//
// The server runs no programs: workers evaluate trials, and package server/worker is one. It
// fits surrogate models in a bounded number of goroutines, so that results are stored without
// delay.
package server
