package insight

import "errors"

// ErrArgument reports an argument outside its range, or an unknown parameter.
var ErrArgument = errors.New("insight: invalid argument")
