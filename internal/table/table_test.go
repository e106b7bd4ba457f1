package table

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadTable(t *testing.T) {
	for _, text := range []string{
		"x,y\n1,2\n3,4\n",
		"x,y\r\n1,2\r\n3,4\r\n\r\n\r\n",
		"\ufeffsep=,\r\nx,y\r\n1,2\r\n3,4\r\n",
		"\ufeffx,y\n1,2\n\n3,4\n,\n",
		"\"x\",\"y\"\n\"1\",\" 2 \"\n3,4",
	} {
		tb, err := Read("a.csv", strings.NewReader(text))
		require.NoError(t, err, "%q", text)
		x, err := tb.Numbers("y", "x")
		require.NoError(t, err, "%q", text)
		require.Equal(t, []float64{2, 1, 4, 3}, x.RawMatrix().Data, "%q", text)
	}
	tb, err := Read("a.csv", strings.NewReader("y\n1\n2\n\n"))
	require.NoError(t, err)
	y, err := tb.Numbers("y")
	require.NoError(t, err)
	require.Equal(t, []float64{1, 2}, y.RawMatrix().Data)
}

func TestReadTableErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "a.csv: the file is empty",
		"\n\n":                "a.csv: the file is empty",
		"x,y\n":               "a.csv: no rows below the header",
		"x,y\n,\n":            "a.csv: no rows below the header",
		"sep=;\nx;y\n1;2\n":   "a.csv: line 1: the cells are separated by semicolons, want commas (and decimal points in numbers)",
		"x,y\r1,2\r":          "a.csv: the lines end in CR alone, want LF or CR LF: save the file as CSV UTF-8",
		"x,x\n1,2\n":          `a.csv: two columns are named "x"`,
		",y\n1,2\n":           "a.csv: column 1 has no name",
		"x,y\n1,2\n3\n":       "a.csv: row 2 (line 3): 1 cells, the header has 2",
		"x,y\n1,\"2\n":        `a.csv: line 2, character 6: extraneous or missing " in quoted-field`,
		"x,y\n1,2\n\n1,abc\n": `a.csv: row 2 (line 4), column "y": "abc" is not a number`,
		"x,y\n1,NaN\n":        `a.csv: row 1 (line 2), column "y": NaN is not a finite number`,
		"x,y\n1,-inf\n":       `a.csv: row 1 (line 2), column "y": -inf is not a finite number`,
		"x,y\n1,1e999\n":      `a.csv: row 1 (line 2), column "y": 1e999 is not a finite number`,
		"x,y\n1,\n":           `a.csv: row 1 (line 2), column "y": the cell is empty`,
		"x,y\n1,-2e300\n":     `a.csv: row 1 (line 2), column "y": the magnitude of -2e300 exceeds 1e+300`,
		"x;y\n1,5;2\n":        "a.csv: the cells are separated by semicolons, want commas (and decimal points in numbers)",
		"x\ty\n1\t2\n":        "a.csv: the cells are separated by tabs, want commas (and decimal points in numbers)",
		"\xff\xfex\x00,\x00":  "a.csv: the file is encoded in UTF-16, want UTF-8",
		"\xfe\xff\x00x\x00,":  "a.csv: the file is encoded in UTF-16, want UTF-8",
		"x\x00,\x00y\x00":     "a.csv: the file is encoded in UTF-16, want UTF-8",
		"x,Y\n1,2\n":          `a.csv: no column "y": did you mean Y?`,
	} {
		tb, err := Read("a.csv", strings.NewReader(text))
		if err == nil {
			tb.Limit = 1e300
			_, err = tb.Numbers("x", "y")
		}
		require.EqualError(t, err, want, "%q", text)
	}
}
