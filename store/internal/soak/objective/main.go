// Command objective is the objective of the soak test: it takes 20 ms, and logs each attempt
// before and after.
//
//	objective LOG X Y
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	log, err := os.OpenFile(args[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	numbers := make([]float64, 2)
	for i := range numbers {
		if numbers[i], err = strconv.ParseFloat(args[1+i], 64); err != nil {
			return err
		}
	}
	x, y := numbers[0], numbers[1]
	// The process number makes values of two attempts differ.
	value := (x-0.3)*(x-0.3) + y*y + 1e-6*float64(os.Getpid())
	write := func(kind string) error {
		text, err := json.Marshal(map[string]any{
			"Kind": kind, "Trial": json.Number(os.Getenv("BO_TRIAL")), "Attempt": json.Number(os.Getenv("BO_ATTEMPT")), "Value": value, "Parent": os.Getppid(),
		})
		if err == nil {
			_, err = log.Write(append(text, '\n')) // one write: lines of processes do not mix
		}
		return err
	}
	if err := write("start"); err != nil {
		return err
	}
	time.Sleep(20 * time.Millisecond)
	if err := write("end"); err != nil {
		return err
	}
	_, err = fmt.Println(strconv.FormatFloat(value, 'g', -1, 64))
	return err
}
