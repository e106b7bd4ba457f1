//go:build !linux

package store

import "errors"

// hostIdentity returns "": a lost process is noticed when its lease ends.
func hostIdentity() string { return "" }

func processStart(int) (string, error) { return "", errors.ErrUnsupported }
