package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/sqlite"
	"github.com/functionspace/bo/study"
)

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	ctx := context.Background()
	path := "/tmp/finish/big.db"
	if _, err := os.Stat(path); err != nil {
		b, err := sqlite.Open(ctx, path, true)
		if err != nil {
			panic(err)
		}
		s := store.New(b, store.Options{})
		d := &study.Definition{Version: 1, Name: "s", Budget: study.MaxCount, Maximizer: map[string]any{"raw": 64, "starts": 2, "iterations": 20}}
		d.Surrogate = study.Component{Name: "rff", Settings: map[string]any{"features": 16}}
		d.Acquisition = study.Component{Name: "logei"}
		for i := range 6 {
			d.Parameters = append(d.Parameters, space.Float(fmt.Sprint("x", i), 0, 1))
		}
		u, err := s.Create(ctx, d)
		if err != nil {
			panic(err)
		}
		done := make([]store.Evaluated, 10000)
		for i := range done {
			p := map[string]any{}
			for j := range 6 {
				p[fmt.Sprint("x", j)] = float64((i*7919+j*104729)%99991) / 99991
			}
			done[i] = store.Evaluated{Params: p, Numbers: map[string]float64{"value": p["x0"].(float64)}}
		}
		if _, err := u.Add(ctx, "", done...); err != nil {
			panic(err)
		}
		s.Close()
	}
	b, err := sqlite.Open(ctx, path, false)
	if err != nil {
		panic(err)
	}
	s := store.New(b, store.Options{})
	f, _ := os.Create("/tmp/finish/view.prof")
	pprof.StartCPUProfile(f)
	best, bestCPU := time.Hour, time.Hour
	for range 20 {
		t, c := time.Now(), cpu()
		u, err := s.Study(ctx, "s")
		if err != nil {
			panic(err)
		}
		v, err := u.View(ctx)
		if err != nil || len(v.Trials) < 10000 {
			panic(err)
		}
		best = min(best, time.Since(t))
		bestCPU = min(bestCPU, cpu()-c)
	}
	pprof.StopCPUProfile()
	fmt.Println("view", best, bestCPU)
}
