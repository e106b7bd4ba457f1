package expression_test

import (
	"fmt"
	"log"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/space/expression"
)

// Conditions and constraints are text, as in a study file.
func ExampleSpace() {
	momentum := space.Float("momentum", 0, 0.99)
	momentum.When.Text = "optimizer == 'sgd'"
	s, err := expression.Space([]space.Parameter{
		space.Categorical("optimizer", "adam", "sgd"), momentum, space.Int("layers", 1, 8), space.Int("width", 16, 1024),
	}, "layers * width <= 4096")
	if err != nil {
		log.Fatal(err)
	}
	p, err := s.PointOf(map[string]any{"optimizer": "adam", "layers": 4, "width": 512})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p, p.Active("momentum"))
	// Output: optimizer=adam layers=4 width=512 false
}
