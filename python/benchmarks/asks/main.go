// Command asks answers for overhead.py: it reads a study file in JSON on one line, then one value
// per line, and prints the time of each Ask of loop.Study and the suggested point. Each value is
// told to the trial before.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/study"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	d, err := study.Parse(lines.Bytes())
	if err != nil {
		return err
	}
	sp, err := d.Space()
	if err != nil {
		return err
	}
	o, err := d.Method()
	if err != nil {
		return err
	}
	s, err := loop.New(sp, o)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(os.Stdout)
	for {
		started := time.Now()
		trials, err := s.Ask(context.Background(), 1)
		if err != nil {
			return err
		}
		seconds := time.Since(started).Seconds()
		if err := enc.Encode(map[string]any{"seconds": seconds, "params": trials[0].Point}); err != nil {
			return err
		}
		if !lines.Scan() {
			return lines.Err()
		}
		value, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil {
			return err
		}
		if err := s.Tell(trials[0].ID, value); err != nil {
			return err
		}
	}
}
