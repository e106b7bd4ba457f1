package table

import (
	"encoding/csv"
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
		"\ufeffx;y\r\n1,0;2\r\n3;4,00\r\n;\r\n",
		"x,y,,\r\n1,2,,\r\n3,4\r\n",
		"sep=;\r\nx;y\r\n1;2\r\n3;4\r\n",
		"\"x\";\"y\"\n\"1,0\";2e0\n3;4",
		"x\ty\n1\t2\n3\t4\n",
		"\nx;y\n1.0;2.0\n3.0;4\n",
		"x;y;T, °C\n1,0;2;3,5\n3;4;1\n",
		"x;y;T, °C\n1,0;2,0;3,5\n3,0;4,0;1,5\n",
		"T, °C;x;y\n2,5;1;2\n3,5;3;4\n",
		"a, b;x;y\n2,5;1,0;2\n3,5;3,0;4\n",
		"x, y\tx\ty\n2,5\t1\t2\n3,5\t3\t4\n",
		"x,y,a; b\n1,2,u; v\n3,4,v; w\n",
		"x,y,a; b\n1,2,3\n3,4,5\n",
		"x,y,a; b\n1,2,\"; \"\n3,4,\";\n\"\n",
	} {
		tb, err := Read("a.csv", strings.NewReader(text))
		require.NoError(t, err, "%q", text)
		x, err := tb.Numbers("y", "x")
		require.NoError(t, err, "%q", text)
		require.Equal(t, []float64{2, 1, 4, 3}, x.RawMatrix().Data, "%q", text)
	}
	tb, err := Read("a.csv", strings.NewReader("T, °C;y\n20,5;7\n21,5;8\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"T, °C", "y"}, tb.Header)
	for _, text := range []string{ // rows without their last cells
		"T, °C;y;message\n20,5;7\n21,5;8;late\n",
		"T, °C;y;message\n20;7\n21;8\n",
		"T, °C;y;message;front\n20,5;7,5\n21,5;8,5;;true\n",
		"T; °C,y,message\n20,7\n21,8\n",
	} {
		tb, err := Read("a.csv", strings.NewReader(text), "message", "front")
		require.NoError(t, err, "%q", text)
		require.Contains(t, tb.Header, "y", "%q", text)
		require.Contains(t, tb.Header, "message", "%q", text)
	}
	tb, err = Read("a.csv", strings.NewReader("y\n1\n2\n\n"))
	require.NoError(t, err)
	y, err := tb.Numbers("y")
	require.NoError(t, err)
	require.Equal(t, []float64{1, 2}, y.RawMatrix().Data)
}

func TestReadTableErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "a.csv: the file is empty",
		"\n\n":                   "a.csv: the file is empty",
		"x,y\n":                  "a.csv: no rows below the header",
		"x,y\n,\n":               "a.csv: no rows below the header",
		"x;y\n1,5;1.234\n":       `a.csv: row 1 (line 2), column "y": 1.234 has a point, and other numbers have a decimal comma: write 1,234 or 1234`,
		"x;y\n1,5;1.234,5\n":     `a.csv: row 1 (line 2), column "y": "1.234,5" is not a number`,
		"x,y\r1,2\r":             "a.csv: the lines end in CR alone, want LF or CR LF: save the file as CSV UTF-8",
		"x,x\n1,2\n":             `a.csv: two columns are named "x"`,
		",y\n1,2\n":              "a.csv: column 1 has no name",
		"x,y\n1,2\n3\n":          "a.csv: row 2 (line 3): 1 cells, the header has 2",
		"x,y\n1,\"2\n":           `a.csv: line 2, character 6: extraneous or missing " in quoted-field`,
		"x,y\n1,2\n\n1,abc\n":    `a.csv: row 2 (line 4), column "y": "abc" is not a number`,
		"x,y\n1,NaN\n":           `a.csv: row 1 (line 2), column "y": NaN is not a finite number`,
		"x,y\n1,-inf\n":          `a.csv: row 1 (line 2), column "y": -inf is not a finite number`,
		"x,y\n1,1e999\n":         `a.csv: row 1 (line 2), column "y": 1e999 is not a finite number`,
		"x,y\n1,\n":              `a.csv: row 1 (line 2), column "y": the cell is empty`,
		"x,y\n1,-2e300\n":        `a.csv: row 1 (line 2), column "y": the magnitude of -2e300 exceeds 1e+300`,
		"\xff\xfex\x00,\x00":     "a.csv: the file is encoded in UTF-16, want UTF-8: save the file as CSV UTF-8",
		"\xfe\xff\x00x\x00,":     "a.csv: the file is encoded in UTF-16, want UTF-8: save the file as CSV UTF-8",
		"x\x00,\x00y\x00":        "a.csv: the file is encoded in UTF-16, want UTF-8: save the file as CSV UTF-8",
		"PK\x03\x04\x14\x00":     "a.csv: the file is a workbook of a spreadsheet program, want a table as text: save the file as CSV UTF-8",
		"\xd0\xcf\x11\xe0\xa1":   "a.csv: the file is a workbook of a spreadsheet program, want a table as text: save the file as CSV UTF-8",
		"x,y (\xb0C)\n1,2\n":     `a.csv: line 1: "y (\xb0C)" is not in UTF-8: save the file as CSV UTF-8`,
		"x,y,z\n1,2,\xfc\n":      `a.csv: line 2: "\xfc" is not in UTF-8: save the file as CSV UTF-8`,
		"\"x,y,z\"\n\"1,2,3\"\n": `a.csv: every line is one cell in quotes, with separators inside: a spreadsheet opened the table with another separator; bo trials and bo study export write semicolons with --format csv-semicolons`,
		"\"x,y\"\n1\n":           `a.csv: no column "x"; want one of x,y`,
		"x,Y\n1,2\n":             `a.csv: no column "y": did you mean Y?`,
	} {
		tb, err := Read("a.csv", strings.NewReader(text))
		if err == nil {
			tb.Limit = 1e300
			_, err = tb.Numbers("x", "y")
		}
		require.EqualError(t, err, want, "%q", text)
	}
}

func TestWriteMarksOtherCharactersThanASCII(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"T in C", "T in C,y\n1.5,2\n"},
		{"T in °C", "\ufeffT in °C,y\n1.5,2\n"},
	} {
		var b strings.Builder
		require.NoError(t, Write(&b, Commas, func(w *csv.Writer) error { return w.WriteAll([][]string{{c.name, "y"}, {"1.5", "2"}}) }))
		require.Equal(t, c.want, b.String())
		tb, err := Read("a.csv", strings.NewReader(b.String()))
		require.NoError(t, err)
		require.Equal(t, []string{c.name, "y"}, tb.Header)
	}
}

func TestNumbersOfADialect(t *testing.T) {
	for x, want := range map[float64]string{
		1.5: "1,5", -12: "-12", 1.5e-7: "0,00000015", 2e6: "2000000", 1.25e-300: "1,25e-300", 3e22: "3e+22", 0: "0",
	} {
		require.Equal(t, want, Semicolons.Number(x))
	}
	require.Equal(t, "1.5e-07", Commas.Number(1.5e-7))
}

// A text such as 1,5 is no number, also in a table with decimal commas.
func TestTextsOfATableWithDecimalCommas(t *testing.T) {
	tb, err := Read("a.csv", strings.NewReader("x;ratio;note\n0,5;1,5;\"2,5\"\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"0,5", "1,5", "2,5"}, tb.Rows[0])
	require.Equal(t, "1.5", tb.Decimal(0, 1))
}

// A table of one column has no separator in its header.
func TestOneColumnWithDecimalCommas(t *testing.T) {
	for text, want := range map[string]Dialect{
		"T (°C)\n20\n0,25\n\n1,5e-3\n": Semicolons,
		"x\r\n\"0,25\"\r\n1\r\n":       Semicolons,
		"x\n0.25\n1\n":                 Commas,
		"x\n1\n2\n":                    Commas,
	} {
		tb, err := Read("a.csv", strings.NewReader(text))
		require.NoError(t, err, text)
		require.Equal(t, want, tb.Dialect, text)
		_, err = tb.Numbers(tb.Header[0])
		require.NoError(t, err, text)
	}
	_, err := Read("a.csv", strings.NewReader("x\n0,25\na,b\n"))
	require.EqualError(t, err, "a.csv: row 1 (line 2): 2 cells, the header has 1")
}

// Excel leaves out the separators of last columns that are empty in 16 rows.
func TestOptionalColumns(t *testing.T) {
	const text = "trial;y;state;failure;message\n1;5;complete\n2;;failed;lost\n3;7;complete;;a note\n"
	tb, err := Read("a.csv", strings.NewReader(text), "failure", "message")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"1", "5", "complete", "", ""}, {"2", "", "failed", "lost", ""}, {"3", "7", "complete", "", "a note"}}, tb.Rows)
	_, err = Read("a.csv", strings.NewReader("trial;y;state;failure;message\n1;5\n"), "failure", "message")
	require.EqualError(t, err, "a.csv: row 1 (line 2): 2 cells, the header has 5")
	_, err = Read("a.csv", strings.NewReader("message;y\nnote\n"), "message")
	require.EqualError(t, err, "a.csv: row 1 (line 2): 1 cells, the header has 2")
}
