package server

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// expositionType is the content type of the text format of Prometheus.
const expositionType = "text/plain; version=0.0.4; charset=utf-8"

// exposition is a text in the format of Prometheus, version 0.0.4.
type exposition struct{ bytes.Buffer }

var (
	escapedHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapedLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// head begins a metric.
func (b *exposition) head(name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, escapedHelp.Replace(help), kind)
}

// sample writes a value under labels such as code="ok".
func (b *exposition) sample(name, labels string, value float64) {
	b.WriteString(name)
	if labels != "" {
		b.WriteString("{" + labels + "}")
	}
	b.WriteString(" " + sampleText(value) + "\n")
}

// gauge writes a metric with one value that rises and falls.
func (b *exposition) gauge(name, help string, value float64) {
	b.head(name, "gauge", help)
	b.sample(name, "", value)
}

// counter writes a metric with one value that rises.
func (b *exposition) counter(name, help string, value float64) {
	b.head(name, "counter", help)
	b.sample(name, "", value)
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
