package katib_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	api "github.com/functionspace/bo/api/katib/v1beta1"
	"github.com/functionspace/bo/server/katib"
)

// An experiment is rejected as invalid, or its suggestions are values of its parameter.
func FuzzExperiment(f *testing.F) {
	f.Add(int32(1), "0", "1", "0.1", "", int32(2), "kernel", "matern52", "0.5")
	f.Add(int32(2), "1", "1e3", "7", "", int32(4), "seed", "18446744073709551615", "8")
	f.Add(int32(3), "", "", "", "1,01,2.5", int32(0), "initial", "1", "2.5")
	f.Add(int32(4), "", "", "", "a,b,a", int32(0), "constraints", "x == 'a'", "b")
	f.Add(int32(1), "-1e308", "1e308", "1e-300", "", int32(3), "require", "loss <= 1", "0")
	f.Add(int32(1), "5e-324", "1e308", "1e-3", "", int32(4), "surrogate", "rff", "1")
	f.Fuzz(func(t *testing.T, kind int32, lo, hi, step, list string, distribution int32, name, value, given string) {
		if strings.HasPrefix(name, "max") || name == "surrogate" || len(list) > 100 {
			t.Skip("may compute for long")
		}
		p := &api.ParameterSpec{Name: "x", ParameterType: api.ParameterType(kind), FeasibleSpace: &api.FeasibleSpace{Min: lo, Max: hi, Step: step, Distribution: api.Distribution(distribution)}}
		if list != "" {
			p.FeasibleSpace.List = strings.Split(list, ",")
		}
		e := experiment([]*api.ParameterSpec{p, between("y", double, "0", "1", "", uniform)}, "initial", "9")
		if name != "initial" {
			e.Spec.Algorithm.AlgorithmSettings = append(e.Spec.Algorithm.AlgorithmSettings, &api.AlgorithmSetting{Name: name, Value: value})
		}
		reply, err := katib.New(katib.Options{Fit: time.Second}).GetSuggestions(t.Context(), request(e, 3, trial(at("x", given, "y", "0.5"), api.TrialStatus_SUCCEEDED, "loss", value)))
		if err != nil {
			require.Contains(t, []connect.Code{connect.CodeInvalidArgument, connect.CodeFailedPrecondition}, connect.CodeOf(err), "%v", err)
			return
		}
		require.Len(t, reply.ParameterAssignments, 3)
		for _, a := range reply.ParameterAssignments {
			text := a.Assignments[0].Value
			switch p.ParameterType {
			case double, integer:
				v, err := strconv.ParseFloat(text, 64)
				require.NoError(t, err)
				least, _ := strconv.ParseFloat(strings.TrimSpace(lo), 64)
				most, _ := strconv.ParseFloat(strings.TrimSpace(hi), 64)
				require.True(t, v >= least && v <= most, "%s", text)
				require.True(t, p.ParameterType == double || v == math.Trunc(v), "%s", text)
			default:
				require.True(t, slices.Contains(p.FeasibleSpace.List, text), "%q", text)
			}
		}
	})
}
