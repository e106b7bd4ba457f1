// Package katib is a suggestion service of Katib, the hyperparameter tuning of Kubeflow: the service
// api.v1.beta1.Suggestion, and grpc.health.v1.Health for probes.
//
//	err := katib.New(katib.Options{}).Serve(ctx, listener) // until ctx ends
//
// The service is stateless: an answer depends on the request alone. Its suggestions are the
// suggestions of study.Suggest for a document that has the experiment and its trials.
package katib
