// Package api holds the protobuf definitions of the service of bo serve. The generated messages are
// in api/bo/v1, and clients and handlers are in api/bo/v1/bov1connect. The API of Katib for suggestions is
// in api/katib/v1beta1.
package api

//go:generate go tool -modfile=../.ci/tools/go.mod buf generate
