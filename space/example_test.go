package space_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/functionspace/bo/space"
)

func Example() {
	s, err := space.New(
		space.Float("dropout", 0, 0.5),
		space.Int("layers", 1, 8),
		space.Categorical("opt", "adam", "sgd", "lion"),
	)
	if err != nil {
		log.Fatal(err)
	}
	p, err := s.PointOf(map[string]any{"dropout": 0.25, "layers": 4, "opt": "sgd"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", s.Encode(p))
	fmt.Println(s.Decode([]float64{0.25, 0.9, 0.1, 0.2, 0.7}))

	u := space.Sobol(64, s.Dim(), rand.New(rand.NewPCG(1, 2)))
	for i := range 64 {
		p := s.Decode(u.RawRowView(i))
		_, _, _ = p.Float("dropout"), p.Int("layers"), p.Text("opt")
	}
	// Output:
	// [0.5000 0.4375 0.0000 1.0000 0.0000]
	// dropout=0.125 layers=8 opt=lion
}

func ExampleParse() {
	_, err := space.Parse([]byte(`{"parameters": [
		{"name": "lr", "type": "float", "min": 0, "max": 0.1, "log": true},
		{"name": "layers", "type": "int", "min": 1, "maximum": 8}
	]}`))
	fmt.Println(err)
	// Output: invalid search space: parameter "lr": min is 0: a logarithmic scale needs min > 0; parameter "layers": unknown key "maximum": did you mean max?; parameter "layers": max is missing
}
