package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
)

type refreshCmd struct {
	Files []string `arg:"" name:"file" help:"Markdown documents."`
}

func (refreshCmd) Help() string {
	return `A document has generated text between the lines

    <!-- generated: go run ./benchmarks/pages ARGS -->
    <!-- end of generated text -->

with the command results, features, settings --redraw, or study NAME --redraw. A test compares every block with the output of its command.

Example:

    go run ./benchmarks/pages refresh docs/uci.md`
}

// generated matches a block of a document that a command made. The groups are its first
// line, the arguments of the command, its text and its last line.
var generated = regexp.MustCompile(`(?s)(<!-- generated: go run ./benchmarks/pages ([^\n]*) -->\n)(.*?)(<!-- end of generated text -->\n)`)

func (c *refreshCmd) Run(e *env) error {
	for _, path := range c.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !generated.Match(text) {
			return fmt.Errorf("%s has no generated block", path)
		}
		fresh := generated.ReplaceAllStringFunc(string(text), func(block string) string {
			m := generated.FindStringSubmatch(block)
			made, fault := e.block(m[2])
			if err == nil {
				err = fault
			}
			return m[1] + made + m[4]
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(e.stderr, path)
	}
	return nil
}

// block returns the text of the block that a command makes. Plots are left as they are.
func (e *env) block(command string) (string, error) {
	args := strings.Fields(command)
	switch {
	case len(args) > 0 && args[0] == "results":
		args = append(args, "--no-plots")
	case len(args) > 0 && args[0] == "features":
	case len(args) > 1 && args[0] == "settings" && args[1] == "--redraw":
	case len(args) > 2 && args[0] == "study" && args[2] == "--redraw":
		args = append(args, "--no-plots")
	default:
		return "", fmt.Errorf("block of the command %q: want results, features, settings --redraw, or study NAME --redraw", command)
	}
	var made bytes.Buffer
	if err := run(e.ctx, args, &made, e.stderr); err != nil {
		return "", err
	}
	return "\n" + strings.TrimSpace(made.String()) + "\n\n", nil
}
