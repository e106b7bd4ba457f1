package sqlite

import (
	"slices"

	"golang.org/x/sys/unix"
)

// networks are the magic numbers of file systems whose locks are not reliable between hosts.
var networks = []int64{unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC, lustre, gpfs}

const (
	lustre = 0x0BD00BD0
	gpfs   = 0x47504653
)

// onNetwork reports whether a folder lies on a network file system.
func onNetwork(dir string) bool {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return false
	}
	return slices.Contains(networks, int64(uint32(s.Type)))
}
