package chat

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// What compares secrets calls a constant-time function and none that stops at
// the first difference.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	t.Parallel()
	safe := []string{"hmac.Equal", "subtle.ConstantTimeCompare", "bearer.Reads", "tokens.Known", "secrets.Known", "keys.Signed"}
	guarded := map[string]bool{
		"../webhook/webhook.go Reads": false, "../webhook/webhook.go signed": false, "../webhook/secrets.go Known": false, "../webhook/secrets.go Signed": false, "../runs/reference.go access": false,
		"slack.go Verify": false, "mattermost.go Verify": false, "telegram.go Claims": false, "teams.go Verify": false,
	}
	for _, file := range []string{"../webhook/webhook.go", "../webhook/secrets.go", "../runs/reference.go", "slack.go", "mattermost.go", "telegram.go", "teams.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := file + " " + function.Name.Name
			if _, guard := guarded[name]; !guard {
				continue
			}
			calls := callsOf(function)
			guarded[name] = guarded[name] || slices.ContainsFunc(calls, func(call string) bool { return slices.Contains(safe, call) })
			for _, leaky := range []string{"bytes.Equal", "bytes.Compare", "slices.Equal", "strings.Compare", "reflect.DeepEqual"} {
				if slices.Contains(calls, leaky) {
					t.Errorf("%s calls %s", name, leaky)
				}
			}
		}
	}
	for name, compares := range guarded {
		if !compares {
			t.Errorf("%s is missing or does not compare in constant time", name)
		}
	}
}

func callsOf(function *ast.FuncDecl) []string {
	var calls []string
	ast.Inspect(function, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch on := selector.X.(type) {
		case *ast.Ident:
			calls = append(calls, on.Name+"."+selector.Sel.Name)
		case *ast.SelectorExpr:
			calls = append(calls, on.Sel.Name+"."+selector.Sel.Name)
		}
		return true
	})
	return calls
}
