// Package plot draws the data of package insight as SVG and PNG, for screens and for print.
//
//	steps := insight.History(view.Trials, view.Options)
//	err := plot.History(steps, plot.Options{Title: "resnet", Objective: "loss"}).SVG(file)
//
// Axes have the units of the user. They are logarithmic for a logarithmic parameter, and name the
// values of a categorical one. All pictures use the colours of one palette by role, which differ for
// colour-blind readers. Each state of a trial has a mark of its own. Legends are outside the data. HistoryText
// and ImportanceText write to a terminal.
//
// Drawing costs O(n) for n trials. The size of a picture is bounded: above about 2,000 marks of
// one kind they are drawn as one path without outlines, and lines are left out as stated.
package plot
