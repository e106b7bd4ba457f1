package server

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// expositionType is the content type of the text format of Prometheus.
const expositionType = "text/plain; version=0.0.4; charset=utf-8"

// writeFamily writes a family of metrics in the text format of Prometheus, version 0.0.4. Package expfmt
// writes the same, and adds 0.1 MB to the binary.
func writeFamily(b *bytes.Buffer, f *dto.MetricFamily) {
	name := f.GetName()
	if f.Help != nil {
		fmt.Fprintf(b, "# HELP %s %s\n", name, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(*f.Help))
	}
	fmt.Fprintf(b, "# TYPE %s %s\n", name, strings.ToLower(f.GetType().String()))
	for _, m := range f.GetMetric() {
		line := func(suffix string, v float64, extra ...string) { writeSample(b, name+suffix, m, v, extra...) }
		switch {
		case m.Counter != nil:
			line("", m.Counter.GetValue())
		case m.Gauge != nil:
			line("", m.Gauge.GetValue())
		case m.Untyped != nil:
			line("", m.Untyped.GetValue())
		case m.Summary != nil:
			for _, q := range m.Summary.GetQuantile() {
				line("", q.GetValue(), "quantile", sampleText(q.GetQuantile()))
			}
			line("_sum", m.Summary.GetSampleSum())
			line("_count", float64(m.Summary.GetSampleCount()))
		case m.Histogram != nil:
			count := float64(m.Histogram.GetSampleCount())
			for _, c := range m.Histogram.GetBucket() {
				if !math.IsInf(c.GetUpperBound(), 1) {
					line("_bucket", float64(c.GetCumulativeCount()), "le", sampleText(c.GetUpperBound()))
				}
			}
			line("_bucket", count, "le", "+Inf")
			line("_sum", m.Histogram.GetSampleSum())
			line("_count", count)
		}
	}
}

// writeSample writes a line: a name, the labels of m and an extra one, and a value.
func writeSample(b *bytes.Buffer, name string, m *dto.Metric, value float64, extra ...string) {
	b.WriteString(name)
	separator := byte('{')
	label := func(name, value string) {
		b.WriteByte(separator)
		separator = ','
		b.WriteString(name + `="` + strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(value) + `"`)
	}
	for _, l := range m.GetLabel() {
		label(l.GetName(), l.GetValue())
	}
	if len(extra) > 0 {
		label(extra[0], extra[1])
	}
	if separator == ',' {
		b.WriteByte('}')
	}
	b.WriteString(" " + sampleText(value) + "\n")
}

// sampleText writes a number of a sample.
func sampleText(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "+Inf"
	case math.IsInf(x, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
