package exchange_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

func TestCSVComesBack(t *testing.T) {
	for i, s := range ten(t) {
		if i == 1 { // edited: its trials do not fit the new space
			continue
		}
		var b bytes.Buffer
		require.NoError(t, exchange.WriteCSV(&b, s.Definition, s.Trials))
		evaluated, _, err := exchange.ReadCSV("t.csv", &b, s.Definition)
		if i == 5 { // the text "1" and the number 1 are one text
			require.NoError(t, err)
			continue
		}
		require.NoError(t, err)
		d := *s.Definition
		d.Name = "copy"
		u, err := memory(t).Create(ctx, &d)
		require.NoError(t, err)
		added, err := u.Add(ctx, "", evaluated...)
		require.NoError(t, err)
		want := s.Trials
		for _, got := range added {
			for want[0].State == store.Pending {
				want = want[1:]
			}
			require.Equal(t, string(want[0].Params), string(got.Params))
			if want[0].State == store.Complete {
				require.Equal(t, want[0].Numbers, got.Numbers)
			}
			require.Equal(t, want[0].State == store.Complete, got.State == store.Complete)
			if want[0].State != store.Stopped {
				require.Equal(t, want[0].Failure, got.Failure)
				require.Equal(t, want[0].Message, got.Message)
			}
			want = want[1:]
		}
	}
}

// A spreadsheet takes no message for a formula.
func TestMessagesAreNoFormulas(t *testing.T) {
	d := &study.Definition{Version: 1, Name: "s", Parameters: []space.Parameter{space.Float("x", 0, 1)}}
	for message, want := range map[string]string{
		"=1+1": "'=1+1", "-5 °C": "'-5 °C", "+": "'+", "@A1": "'@A1", "'=1": "''=1", "'quoted'": "'quoted'", "a=1": "a=1",
	} {
		trials := []store.Trial{{Number: 1, Params: []byte(`{"x": 0.5}`), State: store.Complete, Numbers: map[string]float64{"value": 2}, Message: message}}
		var b bytes.Buffer
		require.NoError(t, exchange.WriteCSV(&b, d, trials))
		require.Contains(t, b.String(), ","+want+"\n")
		evaluated, _, err := exchange.ReadCSV("s.csv", &b, d)
		require.NoError(t, err)
		require.Equal(t, message, evaluated[0].Message)
	}
}

// The column of the first one of several objectives had the name value, and is still read.
func TestWriteCSVNamesSeveralObjectives(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "s", Objectives: []study.Objective{{Name: "rise"}, {Name: "seconds"}},
		Parameters: []space.Parameter{space.Float("rise", 0, 1)},
	}
	trials := []store.Trial{{Number: 1, Params: []byte(`{"rise":0.5}`), State: store.Complete, Numbers: map[string]float64{"rise": 2, "seconds": 3}}}
	for _, c := range [][]string{
		{"rise", "seconds", "trial,params.rise,rise,numbers.seconds,state,seconds,failure,message,front\n"},
		{"value", "rise", "trial,params.rise,numbers.value,rise,state,seconds,failure,message,front\n"},
	} {
		d.Objectives[0].Name, d.Objectives[1].Name = c[0], c[1]
		trials[0].Numbers = map[string]float64{c[0]: 2, c[1]: 3}
		var b bytes.Buffer
		require.NoError(t, exchange.WriteCSV(&b, d, trials))
		require.Equal(t, c[2]+"1,0.5,2,3,complete,0,,,true\n", b.String())
		former := strings.Replace(b.String(), "params.rise,"+c[0]+",", "params.rise,value,", 1)
		for _, sheet := range []string{b.String(), former} {
			results, notes, err := exchange.ReadResults("s.csv", strings.NewReader(sheet), d)
			require.NoError(t, err)
			require.Empty(t, notes)
			require.Equal(t, trials[0].Numbers, results[0].Report.Numbers)
			require.Equal(t, map[string]any{"rise": 0.5}, results[0].Params)
		}
	}
}

func TestWriteCSVNamesColumns(t *testing.T) {
	s := ten(t)[9]
	var b bytes.Buffer
	require.NoError(t, exchange.WriteCSV(&b, s.Definition, s.Trials))
	header, rest, _ := strings.Cut(b.String(), "\n")
	require.Equal(t, "\ufefftrial,size,k,params.trial,value,latency,state,seconds,failure,message", header)
	require.Contains(t, rest, `,"line 1`+"\nü \"\"quoted\"\" \x1b\"\n")
}

func TestReadCSV(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "s", Objectives: []study.Objective{{Name: "loss"}}, Defaults: map[string]any{"new": 1.0},
		Parameters: []space.Parameter{space.Float("x", 0, 1), space.Categorical("c", "a", true, 3), space.Fixed("f", 1), space.Float("new", 0, 2)},
	}
	evaluated, notes, err := exchange.ReadCSV("t.csv", strings.NewReader(
		"loss,c,x,latency,host,state\n1,a,0.5,7,h1,\n,True,1e-3,,h2,failed\n2,3,1,,,stopped\n,3,1,,,pending\n"), d)
	require.NoError(t, err)
	require.Equal(t, []string{"columns that are neither parameters nor numbers are left out: host", "pending rows are left out: 1"}, notes)
	require.Equal(t, []store.Evaluated{
		{Params: map[string]any{"x": 0.5, "c": "a", "new": 1.0}, Numbers: map[string]float64{"loss": 1, "latency": 7}},
		{Params: map[string]any{"x": 1e-3, "c": true, "new": 1.0}, Numbers: map[string]float64{}, Failure: store.FailedByProgram},
		{Params: map[string]any{"x": 1.0, "c": 3.0, "new": 1.0}, Numbers: map[string]float64{"loss": 2}, Failure: store.Lost, Message: "stopped early"},
	}, evaluated)

	// The table of another study: a parameter that was removed, and the objective as value.
	evaluated, notes, err = exchange.ReadCSV("t.csv", strings.NewReader("x,c,params.old,value,seconds\n1,a,3,4,0.5\n"), d)
	require.NoError(t, err)
	require.Equal(t, []string{"columns that are neither parameters nor numbers are left out: params.old"}, notes)
	require.Equal(t, []store.Evaluated{{Params: map[string]any{"x": 1.0, "c": "a", "new": 1.0}, Numbers: map[string]float64{"loss": 4}}}, evaluated)

	for text, want := range map[string]string{
		"":                           "t.csv: the file is empty",
		"x,loss\n1,1\n":              `t.csv: no column "c"`,
		"X,c,loss\n1,a,1\n":          `t.csv: no column "x": did you mean X?`,
		"x,c,lost\n1,a,1\n":          `t.csv: no column "loss" or "value", the objective: did you mean lost?`,
		"x,c,loss\n1,a,\n":           `t.csv: row 1 (line 2), column "loss": the cell is empty`,
		"x,c,loss\n2,a,1\n":          `t.csv: row 1 (line 2), column "x": 2 is outside [0, 1]`,
		"x,c,loss\n1,b,1\n":          `t.csv: row 1 (line 2), column "c": "b" is not one of`,
		"x,c,loss\nq,a,1\n":          `t.csv: row 1 (line 2), column "x": "q" is not a finite number`,
		"x,c,loss\n1,a,NaN\n":        `column "loss": NaN is not a finite number`,
		"x,c,loss\n1,a,1e301\n":      `the magnitude of 1e301 exceeds 1e+300`,
		"x,c,loss,state\n1,a,1,ok\n": `column "state": "ok" is not one of complete, failed, stopped and pending`,
		"x,c,f,loss\n1,a,2,1\n":      `column "f": 2 is not one of`,
		"x;c;loss\n0.5;a;1,5\n":      `t.csv: row 1 (line 2), column "x": 0.5 has a point, and other numbers have a decimal comma: write 0,5`,
	} {
		_, _, err := exchange.ReadCSV("t.csv", strings.NewReader(text), d)
		require.ErrorIs(t, err, exchange.ErrFormat, text)
		require.ErrorContains(t, err, want, text)
	}
	for text, want := range map[string]string{
		"X,d,loss\n1,a,1\n": `t.csv: no column "x": did you mean X?; t.csv: no column "c"; t.csv: columns with other names: X, d`,
		"x,C,Loss\n1,a,1\n": `t.csv: no column "c": did you mean C?; t.csv: no column "loss" or "value", the objective: did you mean Loss?; t.csv: columns with other names: C, Loss`,
	} {
		_, _, err := exchange.ReadCSV("t.csv", strings.NewReader(text), d)
		require.EqualError(t, err, exchange.ErrFormat.Error()+": "+want)
		_, ok := errors.AsType[space.Faults](err)
		require.True(t, ok)
	}
	d.Parameters[0].Name = "loss"
	_, _, err = exchange.ReadCSV("t.csv", strings.NewReader("loss,c\n1,a\n"), d)
	require.ErrorContains(t, err, `column "loss" is a parameter and the objective: name the parameter's params.loss`)
}

// Cells as spreadsheets write them: states in other case, and messages about the form of a value.
func TestReadCSVOfSpreadsheets(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "s", Objectives: []study.Objective{{Name: "loss"}},
		Parameters: []space.Parameter{space.Float("x", -9, 999), space.Categorical("solvent", "DMF", "water"), space.Int("n", 1, 3)}, Defaults: map[string]any{"n": 2.0},
	}
	evaluated, _, err := exchange.ReadCSV("t.csv", strings.NewReader("x,solvent,n,loss,state\n1,DMF,,,Failed\n1,DMF,3,5,COMPLETE\n"), d)
	require.NoError(t, err)
	semicolons, _, err := exchange.ReadCSV("t.csv", strings.NewReader("\ufeffx;solvent;n;loss;state;remark\r\n1,0;DMF;;;Failed;\r\n1;DMF;3;5,0;COMPLETE;2.1\r\n"), d)
	require.NoError(t, err)
	require.Equal(t, evaluated[1].Params, semicolons[1].Params)
	require.Equal(t, []store.Evaluated{
		{Params: map[string]any{"x": 1.0, "solvent": "DMF", "n": 2.0}, Numbers: map[string]float64{}, Failure: store.FailedByProgram},
		{Params: map[string]any{"x": 1.0, "solvent": "DMF", "n": 3.0}, Numbers: map[string]float64{"loss": 5}},
	}, evaluated)
	const form = "want digits with a decimal point, without unit and blanks, such as 95 or 1.5e-3"
	for row, want := range map[string]string{
		"1,dmf,2,3":         `column "solvent": "dmf" is not one of "DMF", "water": did you mean DMF?`,
		"1,DMF,2,95%":       `column "loss": "95%" is not a number: ` + form,
		"1,DMF,2,1 234":     `column "loss": "1 234" is not a number: ` + form,
		"1,DMF,2,\u22121.5": `is not a number: write the minus sign as -, as in -1.5`,
		"1,DMF,2,NA":        `"NA" is not a number: write failed into the column "state" of a row without a result`,
		"95 C,DMF,2,1":      `column "x": "95 C" is not a finite number: ` + form,
		",DMF,2,1":          `column "x": the cell is empty`,
	} {
		_, _, err := exchange.ReadCSV("t.csv", strings.NewReader("x,solvent,n,loss\n"+row+"\n"), d)
		require.ErrorContains(t, err, want, row)
	}
	for _, row := range []string{"95 C;DMF;2;1,5", "1,5;DMF;2;1,5 %", "1,5;DMF;2;ca. 9"} {
		_, _, err := exchange.ReadCSV("t.csv", strings.NewReader("x;solvent;n;loss\n"+row+"\n"), d)
		require.ErrorContains(t, err, "want digits with a decimal comma, without unit and blanks, such as 95 or 1,5e-3", row)
	}
	_, _, err = exchange.ReadCSV("t.csv", strings.NewReader("x;solvent;n;loss\n1;DMF;2,5;1,5\n"), d)
	require.ErrorContains(t, err, `column "n": 2.5 is not an integer`)
	require.NotContains(t, err.Error(), "want digits")
}

// One cell without a number was enough to leave out the standard errors of all rows.
func TestReadCSVOfStandardErrors(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "s", Objectives: []study.Objective{{Name: "loss", StandardError: "se"}}, Parameters: []space.Parameter{space.Float("x", 0, 9)},
	}
	read := func(text string) (evaluated []store.Evaluated, notes []string, err, ofResults error) {
		evaluated, notes, err = exchange.ReadCSV("t.csv", strings.NewReader(text), d)
		_, _, ofResults = exchange.ReadResults("t.csv", strings.NewReader(text), d)
		return evaluated, notes, err, ofResults
	}
	evaluated, notes, err, _ := read("trial,x,loss,se\n1,1,3,0.2\n2,2,4,\n")
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Equal(t, map[string]float64{"loss": 3, "se": 0.2}, evaluated[0].Numbers)
	require.Equal(t, map[string]float64{"loss": 4}, evaluated[1].Numbers)
	for cell, want := range map[string]string{
		"n.a.":  `"n.a." is not a number: leave the cell empty if it has no number`,
		"0.2 K": `"0.2 K" is not a number: want digits with a decimal point, without unit and blanks, such as 95 or 1.5e-3`,
	} {
		_, _, err, ofResults := read("trial,x,loss,se\n1,1,3,0.2\n2,2,4," + cell + "\n")
		for _, err := range []error{err, ofResults} {
			require.ErrorIs(t, err, exchange.ErrFormat)
			require.ErrorContains(t, err, `t.csv: row 2 (line 3), column "se": `+want)
		}
	}
	_, notes, err, _ = read("trial,x,loss,s.e.\n1,1,3,0.2\n")
	require.NoError(t, err)
	require.Equal(t, []string{`there is no column "se": the values are read without standard errors`}, notes)
}

// An error lists the first ten wrong rows and counts the others.
func TestReadCSVListsWrongRows(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "s", Objectives: []study.Objective{{Name: "loss"}},
		Parameters: []space.Parameter{space.Float("x", 0, 1), space.Int("n", 1, 3)},
	}
	_, _, err := exchange.ReadCSV("t.csv", strings.NewReader("x,n,loss\n2,1,1\n0.5,1,1\n3,9,1\n0.5,1,NaN\n"), d)
	require.ErrorIs(t, err, exchange.ErrFormat)
	list, ok := errors.AsType[space.Faults](err)
	require.True(t, ok)
	require.Len(t, list, 3)
	for i, want := range []string{`row 1 (line 2), column "x": 2 is`, `row 3 (line 4), column "x": 3 is`, `row 4 (line 5), column "loss": NaN is`} {
		require.ErrorContains(t, list[i], "t.csv: "+want)
	}

	_, _, err = exchange.ReadCSV("t.csv", strings.NewReader("x,n,loss\n"+strings.Repeat("2,1,1\n", 13)), d)
	list, _ = errors.AsType[space.Faults](err)
	require.Len(t, list, 11)
	require.EqualError(t, list[10], "more rows with faults: 3")

	d.Require = []string{"latency <= 20"} // a column that is missing is one fault
	_, _, err = exchange.ReadCSV("t.csv", strings.NewReader("x,n,loss\n0,1,1\n2,1,1\n"), d)
	require.EqualError(t, err, exchange.ErrFormat.Error()+`: t.csv: no column "latency"; want one of x, n, loss`)

	d.Require = []string{"seconds <= 20"} // the name of a bookkeeping column
	for header, want := range map[string]string{
		"x,n,loss,seconds": `t.csv: column "seconds" is not read as a number: name it numbers.seconds`,
		"x,c,loss,seconds": `t.csv: no column "n"; t.csv: column "seconds" is not read as a number: name it numbers.seconds; t.csv: columns with other names: c`,
	} {
		_, _, err = exchange.ReadCSV("t.csv", strings.NewReader(header+"\n0,1,1,9\n"), d)
		require.EqualError(t, err, exchange.ErrFormat.Error()+": "+want)
	}
	evaluated, _, err := exchange.ReadCSV("t.csv", strings.NewReader("x,n,loss,numbers.seconds\n0,1,1,9\n"), d)
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"loss": 1, "seconds": 9}, evaluated[0].Numbers)
}

func FuzzReadCSV(f *testing.F) {
	d := tenDefinitions()[1]
	f.Add("lr,layers,opt,score,state\n0.1,3,adam,1,failed\n")
	f.Fuzz(func(t *testing.T, text string) {
		evaluated, _, err := exchange.ReadCSV("t.csv", strings.NewReader(text), d)
		if err == nil {
			u, err := memory(t).Create(ctx, d)
			require.NoError(t, err)
			_, err = u.Add(ctx, "", evaluated...)
			require.NoError(t, err)
		}
	})
}

// Earlier evaluations have no lost and no stopped trials: neither says that its point fails.
func TestReadEarlier(t *testing.T) {
	d := &study.Definition{Version: 1, Name: "s", Objectives: []study.Objective{{Name: "loss"}}, Parameters: []space.Parameter{space.Float("x", 0, 1)}}
	earlier, notes, err := exchange.ReadEarlier("t.csv", strings.NewReader(
		"x,loss,state,failure\n0.5,7,complete,\n0.25,,failed,program\n0.75,,failed,lost\n0.125,9,stopped,\n2,8,,\n"), d)
	require.NoError(t, err)
	require.Equal(t, []string{"rows of lost or stopped trials are left out: 2"}, notes)
	require.Equal(t, []study.Told{
		{Params: map[string]any{"x": 0.5}, Numbers: map[string]float64{"loss": 7}},
		{Params: map[string]any{"x": 0.25}, Numbers: map[string]float64{}, State: "failed"},
		{Params: map[string]any{"x": 2.0}, Numbers: map[string]float64{"loss": 8}},
	}, earlier)
	for _, text := range []string{"nan", "-inf"} {
		_, _, err = exchange.ReadEarlier("t.csv", strings.NewReader("x,loss\n0.5,7\n"+text+",8\n"), d)
		require.ErrorContains(t, err, `t.csv: row 2 (line 3), column "x": `)
		require.ErrorContains(t, err, " is not a finite number")
	}
}

// In a table with decimal commas a text of digits and a point is no number.
func TestTextWithAPoint(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "s", Objectives: []study.Objective{{Name: "loss"}},
		Parameters: []space.Parameter{space.Float("x", 0, 1), space.Categorical("version", "3.10", "3.11"), space.Ordinal("grade", "0.5", "1.5"), space.Ordinal("dose", 0.5, 1.5)},
	}
	const rows = "trial;x;version;grade;dose;loss\n1;0,5;3.10;1.5;0,5;7\n"
	evaluated, _, err := exchange.ReadCSV("t.csv", strings.NewReader(rows), d)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"x": 0.5, "version": "3.10", "grade": "1.5", "dose": 0.5}, evaluated[0].Params)
	results, _, err := exchange.ReadResults("t.csv", strings.NewReader(rows), d)
	require.NoError(t, err)
	require.Equal(t, evaluated[0].Params, results[0].Params)
	_, _, err = exchange.ReadCSV("t.csv", strings.NewReader("x;version;grade;dose;loss\n0,5;3.10;1.5;1.5;7\n"), d)
	require.ErrorContains(t, err, `column "dose": 1.5 has a point`)
}

// A text with a comma is no number either, and notes are texts.
func TestTextWithAComma(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "s", Objectives: []study.Objective{{Name: "loss"}},
		Parameters: []space.Parameter{space.Categorical("ratio", "1,5", "2"), space.Categorical("share", 0.5, "all"), space.Ordinal("dose", 0.1, 0.2)},
	}
	const rows = "trial;ratio;share;dose;loss;message\n1;1,5;0,5;0,1;7,5;2,5\n"
	evaluated, _, err := exchange.ReadCSV("t.csv", strings.NewReader(rows), d)
	require.NoError(t, err)
	require.Equal(t, store.Evaluated{Params: map[string]any{"ratio": "1,5", "share": 0.5, "dose": 0.1}, Numbers: map[string]float64{"loss": 7.5}, Message: "2,5"}, evaluated[0])
	results, _, err := exchange.ReadResults("t.csv", strings.NewReader(rows), d)
	require.NoError(t, err)
	require.Equal(t, evaluated[0].Params, results[0].Params)
	require.Equal(t, "2,5", results[0].Report.Message)
}

// A spreadsheet that reads UTF-8 in another encoding changes the name of a column. It is then no parameter.
func TestColumnNearAParameter(t *testing.T) {
	d := &study.Definition{
		Version: 1, Name: "s", Objectives: []study.Objective{{Name: "loss"}},
		Parameters: []space.Parameter{space.Float("heat (°C)", 0, 100), space.Float("load", 0, 1)},
	}
	results, notes, err := exchange.ReadResults("t.csv", strings.NewReader("trial,heat (Â°C),humid,loss\n1,50,3,7\n"), d)
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"heat (Â°C)": 50, "humid": 3, "loss": 7}, results[0].Report.Numbers)
	require.Equal(t, []string{`column "heat (Â°C)" is read as a number of the trial: did you mean the parameter heat (°C)?`}, notes)
	_, notes, err = exchange.ReadResults("t.csv", strings.NewReader("trial,heat (°C),load,load 2,loss\n1,50,1,3,7\n"), d)
	require.NoError(t, err)
	require.Empty(t, notes)
}

// A sheet that a spreadsheet has saved has the values and texts of the study, in both dialects.
func FuzzEditedSheets(f *testing.F) {
	f.Add("T, °C", "1,5", "a; \"b\", c\nd", 1.5e-7, -2.5, uint8(0))
	f.Add("a;b\t", "x;\ty", "0,5", 2e6, 1e-300, uint8(5))
	f.Add("Dicke (µm)", "3.10", "=1+1;", 123456.789, 7.0, uint8(15))
	f.Add("value", "true", "", 0.0, 1.0, uint8(26))
	f.Add("Zeit (min)", "a", "", 0.5, 1.0, uint8(37))
	f.Add("x", "-a", "'=1+1", 0.5, 1.0, uint8(0))
	f.Add("x", "a", "-5 °C", 0.5, 1.0, uint8(5))
	f.Add(",", "0", "0", 2e6, 1.1428571428571428e-300, uint8(44))
	f.Fuzz(func(t *testing.T, name, text, note string, x, y float64, edit uint8) {
		for _, s := range []string{name, text, note} {
			if strings.TrimSpace(s) != s || strings.Contains(s, "\r") || !utf8.ValidString(s) {
				t.Skip("spreadsheets do not keep these texts")
			}
		}
		d := &study.Definition{
			Version: 1, Name: "s", Objectives: []study.Objective{{Name: "rise"}, {Name: "cost"}},
			Parameters: []space.Parameter{space.Float(name, -1e200, 1e200), space.Categorical("kind", text, 0.5, "other"), space.Bool("dry")},
		}
		if d.Validate() != nil || !(math.Abs(x) <= 1e200 && math.Abs(y) <= 1e200) || slices.Contains([]string{"", "0.5", "0,5"}, text) {
			t.Skip("no such trial, or a text that is no or another value too")
		}
		var trials []store.Trial
		for i, kind := range []any{text, 0.5, "other"} {
			params, err := json.Marshal(map[string]any{name: x, "kind": kind, "dry": edit&16 > 0})
			require.NoError(t, err)
			trials = append(trials, store.Trial{Number: i + 1, Params: params, State: store.Complete, Numbers: map[string]float64{"rise": y, "cost": x}, Message: note})
		}
		for separator, write := range map[rune]func(io.Writer, *study.Definition, []store.Trial) error{',': exchange.WriteCSV, ';': exchange.WriteSemicolons} {
			var b bytes.Buffer
			require.NoError(t, write(&b, d, trials))
			sheet := edited(t, b.String(), separator, edit)
			evaluated, _, err := exchange.ReadCSV("s.csv", strings.NewReader(sheet), d)
			require.NoError(t, err, sheet)
			results, _, err := exchange.ReadResults("s.csv", strings.NewReader(sheet), d)
			require.NoError(t, err, sheet)
			for i, trial := range trials {
				got, err := json.Marshal(evaluated[i].Params)
				require.NoError(t, err)
				require.JSONEq(t, string(trial.Params), string(got), sheet)
				require.Equal(t, trial.Numbers, evaluated[i].Numbers, sheet)
				require.Equal(t, trial.Message, evaluated[i].Message, sheet)
				require.Equal(t, evaluated[i].Params, results[i].Params, sheet)
				require.Equal(t, store.Report{Trial: i + 1, Numbers: trial.Numbers, Message: trial.Message}, results[i].Report, sheet)
			}
		}
	})
}

// edited returns a table as a spreadsheet saves it. The bits of how select numbers as 1,5E-07, quotes around all cells,
// lines that end in CR LF, empty cells at the end, and rows without their last empty cells.
func edited(t *testing.T, sheet string, separator rune, how uint8) string {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(sheet, "\ufeff")))
	r.Comma = separator
	records, err := r.ReadAll()
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("\ufeff")
	for i, record := range records {
		for j, cell := range record {
			point := strings.Replace(cell, ",", ".", 1)
			if separator == ',' {
				point = cell
			}
			// Numbers are in the columns of the number of the trial, of the float and of the objectives.
			if x, err := strconv.ParseFloat(point, 64); err == nil && i > 0 && slices.Contains([]int{0, 1, 4, 5}, j) && how&1 > 0 {
				cell = strconv.FormatFloat(x, 'E', -1, 64)
				if separator == ';' {
					cell = strings.Replace(cell, ".", ",", 1)
				}
			}
			if how&2 > 0 || strings.ContainsAny(cell, string(separator)+"\"\n") {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			record[j] = cell
		}
		if how&8 > 0 {
			record = append(record, "", "")
		}
		for n := len(record); how&32 > 0 && i > 0 && record[n-1] == ""; n-- {
			record = record[:n-1]
		}
		b.WriteString(strings.Join(record, string(separator)))
		if how&4 > 0 {
			b.WriteString("\r")
		}
		b.WriteString("\n")
	}
	return b.String()
}
