// Package surrogatetest checks that a surrogate model fulfils the contract of package
// surrogate. One line in a test runs the suite on your own model:
//
//	surrogatetest.Run(t, mypackage.Model{})
//
// RunClassifier does the same for a classifier.
//
// Run fits the model about ten times to twelve points of a smooth function. It changes
// GOMAXPROCS while it runs, so it must not run in a parallel test. It should also run
// with -race, because one check predicts from several goroutines.
package surrogatetest
