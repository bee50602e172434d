// This module names the outside mails that the corpus test reads. It is apart so
// that the program itself does not depend on them; go.sum pins their bytes.
module podium/ingest/mime/testdata/corpus

go 1.26.0

require github.com/jhillyerd/enmime/v2 v2.3.0
