// Command asks answers for overhead.py: it reads a study with its trials on one line, and then a
// request per line, and prints the time of each Ask of loop.Study and the suggested point. A request
// has the value of the trial before, and points to enqueue.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

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
	dec := json.NewDecoder(bufio.NewReader(os.Stdin))
	var text json.RawMessage
	if err := dec.Decode(&text); err != nil {
		return err
	}
	r, err := study.ParseRequest(text)
	if err != nil {
		return err
	}
	sp, err := r.Study.Space()
	if err != nil {
		return err
	}
	o, err := r.Study.Method()
	if err != nil {
		return err
	}
	s, err := loop.New(sp, o)
	if err != nil {
		return err
	}
	for _, t := range r.Trials {
		p, err := sp.PointOf(t.Params)
		if err != nil {
			return err
		}
		if _, err := s.Add(p, *t.Value); err != nil {
			return err
		}
	}
	return answer(s, sp, dec)
}

// answer answers the requests until their end.
func answer(s *loop.Study, sp *space.Space, dec *json.Decoder) error {
	enc := json.NewEncoder(os.Stdout)
	last := 0
	for {
		var request struct {
			Tell  *float64
			Queue []map[string]any
		}
		if err := dec.Decode(&request); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if request.Tell != nil {
			if err := s.Tell(last, *request.Tell); err != nil {
				return err
			}
		}
		for _, values := range request.Queue {
			p, err := sp.PointOf(values)
			if err != nil {
				return err
			}
			if err := s.Enqueue(p); err != nil {
				return err
			}
		}
		started := time.Now()
		trials, err := s.Ask(context.Background(), 1)
		if err != nil {
			return err
		}
		last = trials[0].ID
		seconds := time.Since(started).Seconds()
		if err := enc.Encode(map[string]any{"seconds": seconds, "params": trials[0].Point}); err != nil {
			return err
		}
	}
}
