// Command points runs loop.Minimize on a study file in JSON from standard input and prints the
// evaluated points, one line of JSON each. Tests compare them with the points of the Python
// package. Its objective is the function objective of test_same_points.py.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	d, err := study.Parse(text)
	if err != nil {
		return err
	}
	s, err := d.Space()
	if err != nil {
		return err
	}
	o, err := d.Method()
	if err != nil {
		return err
	}
	o.Workers = 1
	enc := json.NewEncoder(os.Stdout)
	calls := 0
	f := func(_ context.Context, p space.Point) (float64, error) {
		if err := enc.Encode(p); err != nil {
			return 0, err
		}
		calls++
		return objective(s, p, calls, !d.Objective().NoiseFree)
	}
	_, err = loop.Minimize(context.Background(), f, s, o)
	return err
}

// objective has a bowl in the numbers, a cost of each text, noise that depends on the number of
// the call, and failures. Conversions to float64 forbid fused operations.
func objective(s *space.Space, p space.Point, call int, noisy bool) (float64, error) {
	total := 0.0
	for _, q := range s.Parameters() {
		switch v := p.Value(q.Name).(type) {
		case float64:
			total += float64((v - 0.3) * (v - 0.3))
		case int:
			total += float64((float64(v) - 0.3) * (float64(v) - 0.3))
		case string:
			total += float64(len(v))
		case bool:
			if v {
				total++
			}
		}
	}
	if call%7 == 0 {
		return 0, errors.New("every seventh call fails")
	}
	if noisy {
		total += float64(call*37%11) / 64
	}
	return total, nil
}
