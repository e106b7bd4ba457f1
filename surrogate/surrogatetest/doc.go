// Package surrogatetest checks that a surrogate model fulfils the contract of package
// surrogate. One line in a test runs the suite on your own model:
//
//	surrogatetest.Run(t, mypackage.Model{})
//
// RunClassifier does the same for a classifier.
//
// Run fits the model about ten times to at most fourteen points of a smooth function of one, two or five
// inputs. A model of a fixed number of inputs, such as gp.Model with a kernel in Custom, is an
// error: test a Model whose Fit makes the kernel for the inputs of the dataset. Run changes
// GOMAXPROCS while it runs, so it must not run in a parallel test. It should also run
// with -race, because one check predicts from several goroutines.
package surrogatetest
