// Package optimize minimises smooth functions in a box.
package optimize
