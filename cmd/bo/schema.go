package main

import "github.com/functionspace/bo/study"

type schemaCmd struct{}

func (schemaCmd) Help() string {
	return `Prints the JSON Schema of study files, for editors that complete and check YAML and JSON.

Example:

    bo schema > study.schema.json`
}

func (schemaCmd) Run(e *env) error {
	_, err := e.stdout.Write(study.Schema())
	return err
}
