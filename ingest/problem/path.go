package problem

import (
	"net/http"
	"path"
	"strings"
)

// Exact answers 404 to paths that are not in their shortest form, such as "//x" or
// "/a/../b". An http.ServeMux redirects them, and who follows a redirect may lose
// his body and the header that proves who he is.
func Exact(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked := r.URL.EscapedPath(); asked == shortest(asked) {
			next.ServeHTTP(w, r)
			return
		}
		Write(w, NoPage("Use the path as the documentation writes it."))
	})
}

// shortest is the form that an http.ServeMux knows a path by.
func shortest(asked string) string {
	short := path.Clean("/" + asked)
	if strings.HasSuffix(asked, "/") && short != "/" {
		short += "/"
	}
	return short
}

// Mount serves what is below a path, and the path itself: an http.ServeMux that
// knows only the former redirects the latter.
func Mount(mux *http.ServeMux, below string, handler http.Handler) {
	mux.Handle(below, handler)
	mux.Handle(strings.TrimSuffix(below, "/"), handler)
}
