package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// predictions returns the answers to requests.
func predictions(t *testing.T, requests ...string) (answers []predictAnswer, lines []string) {
	var out strings.Builder
	require.NoError(t, servePredictions(t.Context(), strings.NewReader(strings.Join(requests, "\n")), &out))
	lines = strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, len(requests))
	for _, line := range lines {
		var a predictAnswer
		require.NoError(t, json.Unmarshal([]byte(line), &a))
		answers = append(answers, a)
	}
	return answers, lines
}

func TestPredictPipe(t *testing.T) {
	fit := `{"action": "fit", "model": 7, "x": [[0], [1], [2], [4]], "y": [1, 2, 3, 5], "set": ["kernel=rbf"], "seed": 3}`
	answers, lines := predictions(t, fit,
		`{"action": "predict", "model": 7, "x": [[1.5], [3]], "covariance": true}`,
		`{"action": "sample", "model": 7, "x": [[1.5], [3]], "n": 2, "seed": 1}`,
		`{"action": "predict", "model": 7, "x": [[1.5, 3]]}`,
		`{"action": "fit", "model": 8, "x": [[0], [1], [2], [3]], "labels": [0, 0, 1, 1], "classes": 2}`,
		`{"action": "predict", "model": 8, "x": [[0], [3]]}`,
		`{"action": "sample", "model": 8, "x": [[0]], "n": 1}`,
		`{"action": "drop", "drop": [7]}`,
		`{"action": "predict", "model": 7, "x": [[1]]}`)
	require.Contains(t, answers[0].Hyperparameters, "noise")
	p := answers[1]
	require.InDelta(t, 2.5, p.Mean[0], 0.1)
	require.InDelta(t, p.SD[1]*p.SD[1], p.Covariance[1][1], 1e-9)
	require.Positive(t, *p.NoiseSD)
	require.Len(t, answers[2].Samples, 2)
	require.InDelta(t, 2.5, answers[2].Samples[1][0], 1)
	require.Contains(t, lines[3], "x has 2 columns, the model has 1")
	require.Greater(t, answers[5].Probabilities[0][0], 0.5)
	require.Less(t, answers[5].Probabilities[1][0], 0.5)
	require.Contains(t, lines[6], "samples are for numbers")
	require.Contains(t, lines[8], "there is no model 7")
}

// The pipe predicts as bo predict does for tables, if the points lie in the range of the data.
func TestPredictPipeLikeTable(t *testing.T) {
	train := "a,b,y\n0,1,3\n1,0,2\n2,2,7\n3,1,5\n1.5,0.5,2.5\n"
	at := filepath.Join(t.TempDir(), "at.csv")
	require.NoError(t, os.WriteFile(at, []byte("a,b\n0.5,1.5\n2,0.25\n"), 0o600))
	for _, name := range []string{"gp", "fsp-laplace"} {
		args := []string{"predict", "--train", "-", "--at", at, "--surrogate", name, "--seed", "4"}
		set := `"kernel=rbf"`
		if name == "fsp-laplace" {
			args, set = append(args, "--set", "hidden=5", "--set", "context=20"), `"hidden=5", "context=20"`
		} else {
			args = append(args, "--set", "kernel=rbf")
		}
		var out strings.Builder
		require.Equal(t, exitDone, run(t.Context(), args, strings.NewReader(train), &out, io.Discard))
		answers, _ := predictions(t,
			`{"action": "fit", "model": 1, "surrogate": "`+name+`", "set": [`+set+`], "seed": 4, "x": [[0, 1], [1, 0], [2, 2], [3, 1], [1.5, 0.5]], "y": [3, 2, 7, 5, 2.5]}`,
			`{"action": "predict", "model": 1, "x": [[0.5, 1.5], [2, 0.25]]}`)
		var table strings.Builder
		table.WriteString("mean,sd,noise_sd\n")
		for i, mean := range answers[1].Mean {
			table.WriteString(number(mean) + "," + number(answers[1].SD[i]) + "," + number(*answers[1].NoiseSD) + "\n")
		}
		require.Equal(t, out.String(), table.String(), name)
	}
}

func TestPredictPipeFaults(t *testing.T) {
	for request, text := range map[string]string{
		`{"action": "fly", "x": [[1]]}`:                                                  "there is no model 0",
		`{"action": "fit", "x": [[1], [2, 3]], "y": [1, 2]}`:                             "row 2 of x has 2 numbers",
		`{"action": "fit", "x": [[1], [2]], "y": [1]}`:                                   "1 targets for 2 rows",
		`{"action": "fit", "x": [[1], [2]], "y": [1], "labels": [0], "classes": 2}`:      "it has y and labels",
		`{"action": "fit", "x": []}`:                                                     "x has no numbers",
		`{"action": "fit", "x": [[1]], "y": [1], "set": ["kernell=rbf"]}`:                "did you mean kernel",
		`{"action": "fit", "x": [[1]], "y": [1], "surrogate": "gpp"}`:                    "unknown surrogate",
		`{"action": "fit", "x": [[1]], "y": [1], "inputs": "log"}`:                       "log",
		`{"action": "fit", "x": [[1]], "y": [1], "outputs": "log"}`:                      "want raw or zscore",
		`{"action": "fit", "x": [[1]], "y": [1], "min": [0, 0]}`:                         "min has 2 numbers",
		`{"action": "fit", "x": [[1]], "labels": [0], "classes": 2, "surrogate": "rff"}`: "rff",
		`{"action": "fit", "x": [[1], [null]], "y": [1, 2]}`:                             "null in a list of numbers",
		`{"action": "fit", "x": [[1], [2]], "y": [1, null]}`:                             "null in a list of numbers",
		`{"acton": "fit"}`: "unknown field",
	} {
		_, lines := predictions(t, request)
		require.Contains(t, lines[0], `{"error":`, request)
		require.Contains(t, lines[0], text, request)
		require.Contains(t, lines[0], `"kind":"request"`, request)
	}
	err := servePredictions(t.Context(), strings.NewReader("nonsense"), io.Discard)
	require.ErrorAs(t, err, new(usageError))
}
