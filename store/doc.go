// Package store keeps studies for weeks, across processes and machines, and loses
// nothing that it has acknowledged.
//
// A Store holds studies on a Backend: rows in memory (NewMemory), in an SQLite file
// (store/sqlite) or in PostgreSQL (store/postgres). The rules of a study stand in this
// package once; a backend only keeps rows and runs transactions.
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
// lease that heartbeats extend. If the lease ends, or the owner's process is found dead on
// the same host, the trial waits again under its number and the next claim is the next
// attempt; the third lost attempt fails it. A result of an earlier attempt is accepted if it
// is the first one. A trial that has a result keeps it: the same result again is no error,
// another one is ErrConflict.
//
// # Suggestions
//
// Ask claims waiting trials. If there are none and the budget allows more, one process at a
// time holds the study's fit lease, computes proposals outside any transaction and commits
// them by comparing the number of trials with the one the fit was based on. Tells never wait
// for a fit.
package store
