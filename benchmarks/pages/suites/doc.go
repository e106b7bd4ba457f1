// Package suites writes the page of benchmarks, its tables and its plots from
// summaries of the suites.
package suites
