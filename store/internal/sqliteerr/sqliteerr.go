// Package sqliteerr describes errors of SQLite in plain terms.
package sqliteerr

import (
	"errors"

	"modernc.org/sqlite" // the driver, and its errors
	lib "modernc.org/sqlite/lib"
)

// ErrFull reports a full disk.
var ErrFull = errors.New("the disk is full")

// Full reports whether a full disk is the cause of err: no room for the file, or for the memory that processes share.
func Full(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == lib.SQLITE_FULL || e.Code() == lib.SQLITE_IOERR_SHMSIZE)
}

// Plain returns a plain description for the common faults of a file, and other errors as they
// are.
func Plain(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	if Full(err) {
		return ErrFull
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_NOTADB:
		return errors.New("not an SQLite file")
	case lib.SQLITE_CORRUPT:
		return errors.New("the file is damaged")
	case lib.SQLITE_CANTOPEN:
		return errors.New("cannot be opened")
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return errors.New("cannot be opened for writing")
	}
	return err
}
