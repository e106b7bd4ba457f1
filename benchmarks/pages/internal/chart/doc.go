// Package chart draws curves with bands of quartiles, side by side with one legend,
// and writes them as PNG or SVG. All pictures of the documents share its palette.
package chart
