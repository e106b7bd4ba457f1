package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/insight/insighttest"
	"github.com/functionspace/bo/insight/plot"
	"github.com/functionspace/bo/internal/racetest"
)

var recordPlots = flag.Bool("record-plots", false, "write the data of the pictures")

// The data of all pictures of the recorded studies equal the files in testdata/plots. Longer lists
// are thinned there.
func TestPlotData(t *testing.T) {
	racetest.SkipNumerical(t)
	kinds := []string{kindHistory, kindSlice, kindContour, kindImportance, kindCalibration, kindParallel, kindPareto, kindTimeline, kindCurves}
	for _, name := range insighttest.Names {
		for _, kind := range kinds {
			c := &plotCmd{Study: name, Kind: kind}
			if name == "front" && kind != kindHistory && kind != kindPareto && kind != kindTimeline {
				c.Objective = "latency"
			}
			if (kind == kindPareto) != (name == "front") && kind == kindPareto || (kind == kindCurves) != (name == "curves") && kind == kindCurves {
				continue
			}
			t.Run(name+"/"+kind, func(t *testing.T) { requireData(t, c) })
		}
	}
}

func requireData(t *testing.T, c *plotCmd) {
	u := insighttest.Study(t, c.Study)
	d, _, err := u.Definition(t.Context())
	require.NoError(t, err)
	out, err := c.plot(&env{t.Context(), nil, io.Discard, io.Discard}, u, d, plot.Options{})
	require.NoError(t, err)
	text, err := json.Marshal(out)
	require.NoError(t, err)
	var got, want any
	require.NoError(t, json.Unmarshal(text, &got))
	got = thinned(got)
	path := filepath.Join("testdata", "plots", c.Study+"-"+c.Kind+".json")
	if *recordPlots {
		text, err := json.Marshal(got)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
		return
	}
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &want))
	requireAlike(t, "", want, got)
}

// longest is the length of a list above which thinned takes every second, third, … element.
const longest = 24

// thinned shortens lists and rounds numbers to six digits.
func thinned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = thinned(v[key])
		}
	case []any:
		step := (len(v) + longest - 1) / longest
		out := []any{}
		for i := 0; i < len(v); i += step {
			out = append(out, thinned(v[i]))
		}
		return out
	case float64:
		if v != 0 && math.Abs(v) < 1e300 {
			scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
			return math.Round(v*scale) / scale
		}
	}
	return v
}

// requireAlike compares JSON values. Numbers may differ by a thousandth, because processors round
// differently. Acquisition functions are logarithms of tiny probabilities far from their maxima and are
// compared near it.
func requireAlike(t *testing.T, path string, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		require.IsType(t, want, got, path)
		require.Len(t, got, len(want), path)
		for key := range want {
			requireAlike(t, path+"."+key, want[key], got.(map[string]any)[key])
		}
	case []any:
		require.IsType(t, want, got, path)
		require.Len(t, got, len(want), path)
		for i := range want {
			requireAlike(t, fmt.Sprintf("%s[%d]", path, i), want[i], got.([]any)[i])
		}
	case float64:
		require.IsType(t, want, got, path)
		number := got.(float64)
		if strings.Contains(path, "acquisition") && want < -12 {
			return
		}
		require.LessOrEqual(t, math.Abs(want-number), 1e-6+1e-3*math.Abs(want), "%s is %v, want %v", path, number, want)
	default:
		require.Equal(t, want, got, path)
	}
}
