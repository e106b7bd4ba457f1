// Package performance measures how fast the library is, and writes the page of the numbers.
package performance
