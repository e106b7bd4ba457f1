package runner

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Record is the result of a run, a line of the file of results.
type Record struct {
	Suite   string `json:"suite"`
	Problem string `json:"problem"`
	Method  string `json:"method"`
	Seed    uint64 `json:"seed"`
	As      string `json:"as,omitempty"` // the method behind an Alias

	Dim       int      `json:"dim"`
	Budget    int      `json:"budget,omitzero"`
	Initial   int      `json:"initial,omitzero"`
	Batch     int      `json:"batch,omitzero"`
	NoiseFree bool     `json:"noise_free,omitzero"` // as declared to the method
	Minimum   *float64 `json:"minimum,omitzero"`    // minimum of the noise-free objective; absent if unknown

	// Score is the result of a fit to a table. The fields Budget to Minimum and Values
	// to Suggest are then empty.
	Score *Score `json:"score,omitzero"`
	// Measures has the results of an Experiment. The fields Budget to Minimum and Values to
	// Suggest are then empty.
	Measures map[string]float64 `json:"measures,omitzero"`
	// Prediction is set for seed 1 of a table whose predictions are drawn.
	Prediction *Prediction `json:"prediction,omitzero"`

	// Values has the observed value of each evaluation in order, null for a failed one.
	// Latent has the values without the added noise, if noise was added.
	Values Numbers `json:"values,omitzero"`
	Latent Numbers `json:"latent,omitempty"`
	// Regret[i] is the simple regret: the lowest noise-free value of the evaluations 0
	// to i minus Minimum. It is empty if Minimum is unknown.
	Regret Numbers `json:"regret,omitempty"`
	// Suggest has the seconds that the choice of each point took; the points of a batch
	// share them.
	Suggest Numbers `json:"suggest_s,omitzero"`
	Elapsed float64 `json:"elapsed_s"`

	Error    string   `json:"error,omitempty"`    // reason for an early end of the run
	Warnings []string `json:"warnings,omitempty"` // the first few different warnings
	Warned   int      `json:"warned,omitempty"`   // evaluations with warnings

	Version string  `json:"version,omitempty"`
	Commit  string  `json:"commit,omitempty"`
	Machine Machine `json:"machine"`
	Date    string  `json:"date"` // RFC 3339, of the end of the run
}

// Key returns the key of the record's run.
func (r Record) Key() Key { return Key{r.Problem, r.Method, r.Seed} }

// Best returns, for each i, the lowest noise-free value of the evaluations 0 to i,
// +Inf before the first value.
func (r Record) Best() []float64 {
	values := r.Values
	if r.Latent != nil {
		values = r.Latent
	}
	best := make([]float64, len(values))
	least := math.Inf(1)
	for i, v := range values {
		if v < least {
			least = v
		}
		best[i] = least
	}
	return best
}

// finite returns an error for a result that is not a finite number, which JSON does not have.
func (r Record) finite() error {
	names, numbers := slices.Sorted(maps.Keys(r.Measures)), maps.Clone(r.Measures)
	if s := r.Score; s != nil {
		names = []string{"log_density", "log_likelihood", "rmse", "rmse_raw", "noise", "mean_var"}
		numbers = map[string]float64{
			"log_density": s.LogDensity, "log_likelihood": s.LogLikelihood, "rmse": s.RMSE, "rmse_raw": s.RMSERaw, "noise": s.Noise, "mean_var": s.Spread,
		}
	}
	for _, name := range names {
		if v := numbers[name]; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s is %v", name, v)
		}
	}
	return nil
}

// Numbers is a list of numbers that JSON encodes with null for a number that is not
// finite. Decoding turns null into NaN.
type Numbers []float64

// MarshalJSON implements json.Marshaler.
func (n Numbers) MarshalJSON() ([]byte, error) {
	list := make([]*float64, len(n))
	for i := range n {
		if !math.IsNaN(n[i]) && !math.IsInf(n[i], 0) {
			list[i] = &n[i]
		}
	}
	return json.Marshal(list)
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Numbers) UnmarshalJSON(text []byte) error {
	var list []*float64
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*n = make(Numbers, len(list))
	for i, p := range list {
		(*n)[i] = math.NaN()
		if p != nil {
			(*n)[i] = *p
		}
	}
	return nil
}

// conflict describes the difference between a record and the run; it is empty if the
// record is a result of the run.
func (r Run) conflict(was Record) string {
	if was.As != r.Method.as {
		return fmt.Sprintf("method %s; the plan has %s", was.As, r.Method.as)
	}
	if r.Table != nil {
		t := r.Table.ready()
		_, dim := t.X.Dims()
		train, test := t.split(r.Seed)
		if was.Dim != dim || was.Score != nil && (was.Score.Train != len(train) || was.Score.Test != len(test)) {
			return fmt.Sprintf("%d inputs and another split; the data have %d inputs, %d training rows and %d test rows", was.Dim, dim, len(train), len(test))
		}
		return ""
	}
	if r.Measure != nil {
		return ""
	}
	observed := r.Problem.objective(r.Seed)
	for _, c := range []struct {
		what     string
		was, now any
	}{
		{"inputs", was.Dim, observed.Dim()},
		{"budget", was.Budget, r.Problem.Budget},
		{"initial points", was.Initial, r.Problem.Initial},
		{"batch", was.Batch, r.Problem.Batch},
		{"noise-free", was.NoiseFree, r.noiseFree()},
	} {
		if c.was != c.now {
			return fmt.Sprintf("%s %v; the plan has %v", c.what, c.was, c.now)
		}
	}
	return ""
}
