// Package store stores studies durably and shares them among processes and machines. An
// acknowledged result is never lost.
//
// A Store holds studies on a Backend: rows in memory (NewMemory), in an SQLite file
// (store/sqlite) or in PostgreSQL (store/postgres). This package implements the rules of a
// study; a backend only stores rows and runs transactions.
//
//	backend, err := sqlite.Open(ctx, "bo.db", true)
//	s := store.New(backend, store.Options{})
//	defer s.Close()
//	u, err := s.Create(ctx, &study.Definition{
//		Name:       "pool",
//		Parameters: []space.Parameter{space.LogInt("workers", 1, 64)},
//		Objectives: []study.Objective{{Name: "p99", Goal: study.Minimize}},
//		Budget:     50,
//	})
//	if errors.Is(err, store.ErrExists) {
//		u, err = s.Study(ctx, "pool")
//	}
//	err = u.Run(ctx, evaluate, store.RunOptions{Workers: 4}) // also in other processes at the same time
//
// # The life of a trial
//
//	            claim: attempt k+1, lease, token
//	waiting ───────────────────────────────────▶ running
//	   ▲                                            │ │
//	   │   release, or the lease ends               │ │ tell, fail
//	   └────────────────────────────────────────────┘ └──────────▶ complete, failed
//
// A trial enters as waiting, under the next number. A claim issues it to one owner with a
// lease that heartbeats extend. If the lease ends, or the owner's process has ended on the
// same host, the trial waits again under its number. The next claim is the next attempt.
// The third lost attempt fails the trial. A result of an earlier attempt is accepted if it
// is the first result. A failure of an earlier attempt returns ErrConflict while another attempt is under
// way. A trial keeps its first result: the same result again is no error, and a different result returns
// ErrConflict.
//
// # Suggestions
//
// Ask claims waiting trials. If there are none and the budget allows more, one process at a
// time holds the study's fit lease and computes proposals outside any transaction. It commits
// them if no trial was added since the fit began. Tell never waits for a fit. While all workers
// of a Run evaluate, it proposes the next trials, with the running trials as pending.
package store
