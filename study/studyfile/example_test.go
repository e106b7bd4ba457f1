package studyfile_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/functionspace/bo/study/studyfile"
)

func ExampleReadSpace() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "space.yaml")
	text := `
parameters:
  - {name: lr, type: float, min: 1e-5, max: 0.1, log: true}
  - {name: opt, type: categorical, values: [adam, sgd, lion]}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	s, err := studyfile.ReadSpace(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range s.Parameters() {
		fmt.Println(p.Name, p.Kind)
	}
	// Output:
	// lr float
	// opt categorical
}
