// Package exchange reads and writes studies as files: its own JSON form, Optuna's journal and
// SQLite files, tables of trials, and the state files of earlier versions.
//
//	u, err := s.Study(ctx, "resnet-lr")
//	snapshot, err := u.Snapshot(ctx)
//	err = exchange.Write(file, snapshot)          // or WriteJournal; WriteCSV writes trials
//
//	in, err := exchange.Read(file)                // or ReadJournal, ReadSQLite
//	u, err = s.Restore(ctx, "resnet-lr", in.Snapshot)
//
// Readers accept at most MaxSize or MaxTable bytes, validate all contents and name the place of
// a fault. The notes of an Import list contents that a study cannot express, and how they were
// read.
//
// # Optuna
//
// Parameters correspond as follows.
//
//	bo            Optuna
//	float         FloatDistribution, with log and step
//	int           IntDistribution, with log and step
//	bool          CategoricalDistribution with the choices false and true
//	categorical   CategoricalDistribution
//	ordinal       CategoricalDistribution
//	fixed         CategoricalDistribution with one choice, or of a number a range of one value:
//	              IntDistribution if it is whole, and otherwise FloatDistribution
//
// A parameter that only some complete trials of Optuna have has a condition if one other parameter explains it:
// values of a categorical, or the values on one side of an int. Otherwise it is not in the search space.
//
// The objectives are Optuna's values. Other numbers are user attributes, and numeric user
// attributes are read as numbers. A requirement such as "latency <= 20" is the constraint of this name, with the
// value latency - 20. A constraint that Optuna made is the requirement that the number of its name is at most 0.
// The kind and the message of a failure are the user
// attributes "bo:failure" and "bo:message". A stopped trial is pruned; numbers reported under the
// name of the only objective at whole steps are intermediate values.
//
// Everything else of a study is in the system attributes "bo:study" and "bo:trial", which
// Optuna copies with a study. ReadJournal and ReadSQLite restore the study from them without
// loss, with trials that Optuna added or finished since.
package exchange
