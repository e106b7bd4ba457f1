package document

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormats(t *testing.T) {
	for want, x := range map[string]float64{"0": 0, "1.2e-05": 1.23e-5, "0.0012": 0.00123, "0.12": 0.123, "12": 12.3, "1234": 1234.4, "99": 99.4, "100": 99.6, "-100": -99.5, "-3.1": -3.14, "2.5e+06": 2.5e6} {
		require.Equal(t, want, Short(x))
	}
	for want, s := range map[string]float64{"0.0 µs": 0, "12 µs": 12.3e-6, "1.2 ms": 1.23e-3, "123 ms": 0.123, "1.2 s": 1.23, "123 s": 123.4} {
		require.Equal(t, want, Seconds(s))
	}
	require.Equal(t, "1 run", Count(1, "run"))
	require.Equal(t, "0 runs", Count(0, "run"))
}

func TestWriter(t *testing.T) {
	table := [][]string{{"method", "n"}, {"gp", "10"}, {"böse", "5"}}
	var text Writer
	text.Heading("Title")
	text.Table(table)
	text.Item("%d runs", 2)
	require.Equal(t, "Title\n\nmethod    n\ngp       10\nböse      5\n2 runs\n", text.String())
	markdown := Writer{Markdown: true}
	markdown.Table(table)
	bars := Writer{Markdown: true}
	bars.Table([][]string{{"error"}, {"|x| > 1"}})
	require.Equal(t, "| error     |\n|-----------|\n| \\|x\\| > 1 |\n", bars.String())
	markdown.Heading("Next")
	markdown.Item("%d runs", 2)
	require.Equal(t, "| method |  n |\n|--------|---:|\n| gp     | 10 |\n| böse   |  5 |\n\n### Next\n\n- 2 runs\n", markdown.String())
}
