package promises_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestReleases_TheGoClientKeepsItsNamesAndTheirTypes(t *testing.T) {
	lines := exported(compiled(t, "github.com/belfry-schools/belfry/client"))
	valuetest.MustHold(t, len(lines) >= 50, "only %q", lines)
	mustKeep(t, "client", lines)
}

func TestReleases_ANameThatIsGoneOrChangedIsFound(t *testing.T) {
	const source = `package p
		const A = 1
		var B []string
		type C struct { D int; e int }
		func (c *C) F(g, h string) (err error) { return nil }
		func (C) i() {}
		type J interface { K(l int); M() }
		type N map[string]C
		func (N) O(p func(q N), r ...int) {}
		func Q(r *C) J { return nil }
		func s() {}`
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "p.go", source, 0)
	errortest.None(t, err)
	checked, err := new(types.Config).Check("p", files, []*ast.File{file}, nil)
	errortest.None(t, err)
	lines := exported(checked)
	want := []string{"const A untyped int = 1", "field C.D int", "func Q(*C) J", "method (*C) F(string, string) error",
		"method (N) O(func(N), ...int)", "type C struct", "type J interface{K(l int); M()}", "type N map[string]C",
		"var B []string"}
	valuetest.Equal(t, want, lines)
	gone, added := compared([]string{"field C.D int", "func Q(*C) J"}, []string{"field C.D string", "func Q(*C) J"})
	if !slices.Equal(gone, []string{"field C.D int"}) || !slices.Equal(added, []string{"field C.D string"}) {
		t.Errorf("gone %q, new %q", gone, added)
	}
}

// compiled returns the types of a package as the compiler has them.
func compiled(t *testing.T, path string) *types.Package {
	t.Helper()
	const line = "{{.ImportPath}} {{.Export}}"
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", line, path)
	out, err := list.Output()
	errortest.None(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[name] = file
	}
	loaded, err := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	}).Import(path)
	errortest.None(t, err)
	return loaded
}

// exported returns a line for each exported name of a package, each field and each method, without the names of
// parameters, sorted. An interface is one line, since it breaks others to add a method to it.
func exported(p *types.Package) []string {
	var lines []string
	add := func(parts ...string) { lines = append(lines, strings.Join(parts, "")) }
	text := func(t types.Type) string { return types.TypeString(unnamed(t), types.RelativeTo(p)) }
	for _, name := range p.Scope().Names() {
		switch o := p.Scope().Lookup(name).(type) {
		case *types.Const:
			if o.Exported() {
				add("const ", name, " ", text(o.Type()), " = ", o.Val().ExactString())
			}
		case *types.Var:
			if o.Exported() {
				add("var ", name, " ", text(o.Type()))
			}
		case *types.Func:
			if o.Exported() {
				add("func ", name, strings.TrimPrefix(text(o.Type()), "func"))
			}
		case *types.TypeName:
			if !o.Exported() {
				continue
			}
			fields, isStruct := o.Type().Underlying().(*types.Struct)
			if !isStruct {
				add("type ", name, " ", text(o.Type().Underlying()))
				continue
			}
			add("type ", name, " struct")
			for field := range fields.Fields() {
				if field.Exported() {
					add("field ", name, ".", field.Name(), " ", text(field.Type()))
				}
			}
		}
	}
	lines = append(lines, methods(p, text)...)
	slices.Sort(lines)
	return lines
}

// methods returns a line for each exported method of the exported types.
func methods(p *types.Package, text func(types.Type) string) (lines []string) {
	for _, name := range p.Scope().Names() {
		o, isType := p.Scope().Lookup(name).(*types.TypeName)
		if !isType || !o.Exported() || types.IsInterface(o.Type()) {
			continue
		}
		values := types.NewMethodSet(o.Type())
		for method := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
			receiver := "*" + name
			if values.Lookup(p, method.Obj().Name()) != nil {
				receiver = name
			}
			if method.Obj().Exported() {
				lines = append(lines, "method ("+receiver+") "+method.Obj().Name()+
					strings.TrimPrefix(text(method.Type()), "func"))
			}
		}
	}
	return lines
}

// unnamed returns a function's type without the names of its parameters and results, and any other as it is.
func unnamed(t types.Type) types.Type {
	f, isFunction := t.(*types.Signature)
	if !isFunction {
		return t
	}
	list := func(vars *types.Tuple) *types.Tuple {
		var all []*types.Var
		for v := range vars.Variables() {
			all = append(all, types.NewParam(token.NoPos, nil, "", unnamed(v.Type())))
		}
		return types.NewTuple(all...)
	}
	return types.NewSignatureType(nil, nil, nil, list(f.Params()), list(f.Results()), f.Variadic())
}
