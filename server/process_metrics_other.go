//go:build !linux

package server

// writeProcess writes nothing: measurements of the process need Linux.
func (b *exposition) writeProcess() {}
