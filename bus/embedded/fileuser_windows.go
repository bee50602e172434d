package embedded

import "io/fs"

// fileUser is unknown here, as os.Geteuid is: both are -1.
func fileUser(fs.FileInfo) int { return -1 }
