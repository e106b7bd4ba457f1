// Package examples holds programs to copy from, a folder each. They use the
// public packages alone; its tests run them.
package examples
