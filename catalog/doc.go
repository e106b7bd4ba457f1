// Package catalog names the surrogates and acquisition functions that the command
// offers, and sets them as a user writes it.
package catalog
