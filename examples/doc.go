// Package examples has example programs, a folder each. They import only public packages,
// and the tests of this package run them.
package examples
