package text

import "strings"

// Unflow joins the lines of a text that its program has broken (RFC 3676, section
// 4): those that end in a blank, with the ones below them that are quoted as
// deeply. deleteSpace is DelSp=yes: the blank was added with the break.
func Unflow(text string, deleteSpace bool) string {
	var out strings.Builder
	out.Grow(len(text))
	depth, flowing := -1, false
	for line := range strings.SplitSeq(text, "\n") {
		quoted := len(line) - len(strings.TrimLeft(line, ">"))
		words := strings.TrimPrefix(line[quoted:], " ") // stuffed
		separator := words == "-- "                     // above a signature; it belongs to no paragraph
		if !flowing || quoted != depth || separator {
			if depth >= 0 {
				out.WriteByte('\n')
			}
			if depth = quoted; quoted > 0 {
				out.WriteString(line[:quoted])
				if words != "" {
					out.WriteByte(' ')
				}
			}
		}
		if flowing = strings.HasSuffix(words, " ") && !separator; flowing && deleteSpace {
			words = words[:len(words)-1]
		}
		out.WriteString(words)
	}
	return out.String()
}
