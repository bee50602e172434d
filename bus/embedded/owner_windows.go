package embedded

import "io/fs"

// ownerOf is unknown here, as os.Geteuid is: both are -1.
func ownerOf(fs.FileInfo) int { return -1 }
