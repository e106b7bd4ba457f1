// Package surrogatetest checks that a surrogate keeps the contract of package
// surrogate. One line in a test runs it on a model of your own:
//
//	surrogatetest.Run(t, mypackage.Model{})
//
// RunClassifier does the same for a classifier.
//
// Run fits the model some ten times to a dozen points of a smooth function. While
// it runs it changes GOMAXPROCS, so it does not belong in a parallel test. Run it
// with -race too: one of the checks predicts from several goroutines.
package surrogatetest
