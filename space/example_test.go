package space_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/functionspace/bo/space"
)

// Define a space, encode and decode points, and draw a design.
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

// Parse reports every fault of a text.
func ExampleParse() {
	_, err := space.Parse([]byte(`{"parameters": [
		{"name": "lr", "type": "float", "min": 0, "max": 0.1, "log": true},
		{"name": "layers", "type": "int", "min": 1, "maximum": 8}
	]}`))
	fmt.Println(err)
	// Output: invalid search space: parameter "lr": min is 0: a logarithmic scale needs min > 0; parameter "layers": unknown key "maximum": did you mean max?; parameter "layers": max is missing
}

// An error wraps all faults of its input.
func ExampleFaults() {
	_, err := space.New(space.Float("lr", 1, 0), space.Ordinal("bits", 2, 8, 4))
	if faults, ok := errors.AsType[space.Faults](err); ok {
		for _, fault := range faults {
			fmt.Println(fault)
		}
	}
	// Output:
	// parameter "lr": min 1 is above max 0
	// parameter "bits": numbers of an ordinal must increase or decrease throughout
}

// Values of a point have accessors by type.
func ExamplePoint() {
	s, err := space.New(
		space.LogInt("width", 16, 1024),
		space.Ordinal("bits", 4, 8, 16),
		space.Categorical("skip", false, true),
		space.Fixed("data", "mnist"),
	)
	if err != nil {
		log.Fatal(err)
	}
	p, err := s.PointOf(map[string]any{"width": 128, "bits": 8, "skip": true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)
	fmt.Println(p.Int("width"), p.Float("bits"), p.Bool("skip"), p.Text("data"))
	_, err = s.PointOf(map[string]any{"width": 8, "bits": 8, "skip": true})
	fmt.Println(errors.Is(err, space.ErrPoint), err)
	// Output:
	// width=128 bits=8 skip=true data=mnist
	// 128 8 true mnist
	// true invalid point: parameter "width": 8 is outside [16, 1024]
}

// The JSON form of a point fills a struct of settings. Fields of inactive parameters keep their values.
func ExamplePoint_MarshalJSON() {
	s, err := space.New(
		space.Int("workers", 1, 64),
		space.Categorical("cache", "none", "lru"),
		space.LogInt("entries", 16, 65536).If(space.Equal("cache", "lru")),
	)
	if err != nil {
		log.Fatal(err)
	}
	settings := struct {
		Workers int
		Cache   string
		Entries int
	}{Entries: -1}
	for _, text := range []string{`{"workers": 8, "cache": "lru", "entries": 1024}`, `{"workers": 4, "cache": "none"}`} {
		p, err := s.ParsePoint([]byte(text))
		if err != nil {
			log.Fatal(err)
		}
		object, err := json.Marshal(p)
		if err != nil {
			log.Fatal(err)
		}
		if err := json.Unmarshal(object, &settings); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%+v\n", settings)
	}
	// Output:
	// {Workers:8 Cache:lru Entries:1024}
	// {Workers:4 Cache:none Entries:1024}
}

// A parameter is active under a condition, and a constraint excludes points.
func ExampleSpace_Constrain() {
	s, err := space.New(
		space.Categorical("optimizer", "adam", "sgd"),
		space.Float("momentum", 0, 0.99).If(space.Equal("optimizer", "sgd")),
		space.Int("layers", 1, 8),
		space.StepInt("width", 16, 1024, 16),
	)
	if err != nil {
		log.Fatal(err)
	}
	s, err = s.Constrain(space.Condition{
		Text:  "layers * width <= 4096",
		On:    []string{"layers", "width"},
		Holds: func(p space.Point) bool { return p.Int("layers")*p.Int("width") <= 4096 },
	})
	if err != nil {
		log.Fatal(err)
	}
	p, err := s.PointOf(map[string]any{"optimizer": "adam", "layers": 4, "width": 512})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p, p.Active("momentum"))
	_, err = s.PointOf(map[string]any{"optimizer": "sgd", "momentum": 0.9, "layers": 8, "width": 1024})
	fmt.Println(err)
	// Output:
	// optimizer=adam layers=4 width=512 false
	// invalid point: constraint "layers * width <= 4096" does not hold at layers=8 width=1024
}
