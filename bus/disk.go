package bus

// leastDisk is the least that the disk of a ledger counts for, in bytes: of a smaller
// one, or of a young ledger on a disk that others have filled, the same is kept free.
const leastDisk = 160 << 20

// A Disk is what a ledger has and can have in the end, whatever its limits are.
type Disk struct {
	Used  int64 // bytes that the ledger holds
	Free  int64 // bytes that its file system has left
	Known bool  // Free is; that of another machine is not
}

// Share returns how much of what the disk really has for the ledger is used, in
// percent: a disk that others fill becomes smaller. 0 when that is not known.
func (d Disk) Share() float64 {
	if !d.Known {
		return 0
	}
	return max(100-float64(d.Free)/float64(max(d.Used+d.Free, leastDisk))*100, 0)
}
