// Package report writes a report of a study: one HTML file with pictures and tables of its trials and of
// its surrogate model. The file loads nothing else, and its content security policy forbids it.
//
// Build computes the data of a report, and Report.WriteHTML writes the file. The pictures are
// functions from the data to options of Apache ECharts (https://echarts.apache.org), in the file charts.js.
package report
