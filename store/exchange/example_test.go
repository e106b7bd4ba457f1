package exchange_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/exchange"
	"github.com/functionspace/bo/study"
)

// A study is exported, and imported into a store under another name.
func Example() {
	ctx := context.Background()
	s := store.New(store.NewMemory(), store.Options{})
	defer s.Close()
	u, err := s.Create(ctx, &study.Definition{Version: 1, Name: "mine", Parameters: []space.Parameter{space.Float("x", 0, 1)}})
	if err != nil {
		panic(err)
	}
	if _, err := u.Add(ctx, "", store.Evaluated{Params: map[string]any{"x": 0.5}, Numbers: map[string]float64{"value": 3}}); err != nil {
		panic(err)
	}

	snapshot, err := u.Snapshot(ctx)
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := exchange.Write(&file, snapshot); err != nil { // or WriteJournal, for Optuna
		panic(err)
	}

	in, err := exchange.Read(&file) // or ReadJournal, ReadSQLite
	if err != nil {
		panic(err)
	}
	u, err = s.Restore(ctx, "yours", in.Snapshot)
	if err != nil {
		panic(err)
	}
	v, err := u.View(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(u.Name(), len(v.Trials), v.Best().Numbers["value"])
	// Output: yours 1 3
}
