package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// test is a Go test.
type test struct {
	Name    string
	Package string // folder below the checkout
}

var (
	declared   = regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\)`)
	ofPart5    = regexp.MustCompile(`^TestPart5_(\d+)_`) // part 5 has rules and no sections
	ofRules    = regexp.MustCompile(`^TestPart(\d)(?:_(\d))?_Rules?((?:\d\d_)+)`)
	ofPart     = regexp.MustCompile(`^TestPart(\d)(?:_(\d))?_`)
	ofDecision = regexp.MustCompile(`^TestDecisionsPart(\d)_`)
)

// check is a test that states the rules that it proves.
type check struct {
	test
	rules []string // ids, or ids with texts; those of its own part first
}

// suite is the folder of the conformance suite.
const suite = "test/conformance"

// findChecks returns the tests of the suite and those of who sees whom, in the order of their files. Their rules are
// the arguments of proves(t, …).
func findChecks(root string) ([]check, error) {
	var checks []check
	for _, folder := range []string{suite, "test/sight"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			for _, declaration := range file.Decls {
				function, ok := declaration.(*ast.FuncDecl)
				if !ok || !strings.HasPrefix(function.Name.Name, "Test") || function.Name.Name == "TestMain" {
					continue
				}
				rules, err := provedBy(function)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", function.Name.Name, err)
				}
				checks = append(checks, check{test{function.Name.Name, folder}, rules})
			}
		}
	}
	return checks, nil
}

// provedBy returns the rules that a test states in its first statement.
func provedBy(function *ast.FuncDecl) ([]string, error) {
	if len(function.Body.List) == 0 {
		return nil, nil
	}
	statement, ok := function.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return nil, nil
	}
	call, ok := statement.X.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "proves" && name.Name != "provesLast" {
		return nil, nil
	}
	var rules []string
	for _, argument := range call.Args[1:] {
		stated, err := literal(argument)
		if err != nil {
			return nil, err
		}
		rules = append(rules, stated)
	}
	return rules, nil
}

// literal returns the value of a string literal, or of several with + between them.
func literal(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		left, err := literal(e.X)
		right, err2 := literal(e.Y)
		return left + right, errors.Join(err, err2)
	}
	return "", errors.New("a rule that is not a literal")
}

// findTests returns the tests of the packages and services, and those of who sees whom, in the order of their files.
func findTests(root string) ([]test, error) {
	var tests []test
	for _, dir := range []string{"pkg", "services", "test/sight"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			folder, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			for _, m := range declared.FindAllStringSubmatch(string(source), -1) {
				tests = append(tests, test{m[1], filepath.ToSlash(folder)})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return tests, nil
}

// rules returns the ids of the rules in the test's name, none when it names only a part.
func (t test) rules() []string {
	if m := ofPart5.FindStringSubmatch(t.Name); m != nil {
		return []string{"5 rule " + m[1]}
	}
	m := ofRules.FindStringSubmatch(t.Name)
	if m == nil {
		return nil
	}
	var ids []string
	for number := range strings.SplitSeq(strings.TrimSuffix(m[3], "_"), "_") {
		n, _ := strconv.Atoi(number) // two digits
		ids = append(ids, t.part()+" rule "+strconv.Itoa(n))
	}
	return ids
}

// names reports whether the test's name names that rule, or the whole rule of which it is a part ("5 rule 8" and "5
// rule 8 API").
func (t test) names(id string) bool {
	return slices.ContainsFunc(t.rules(),
		func(rule string) bool { return id == rule || strings.HasPrefix(id, rule+" ") })
}

// part returns the part in the test's name, "" when there is none.
func (t test) part() string {
	if m := ofDecision.FindStringSubmatch(t.Name); m != nil {
		return "decisions " + m[1]
	}
	if strings.HasPrefix(t.Name, "TestAdministration_") || strings.HasPrefix(t.Name, "TestImport_") {
		return "administration"
	}
	if strings.HasPrefix(t.Name, "TestClients_") || strings.HasPrefix(t.Name, "TestTokens_") {
		return "clients"
	}
	m := ofPart.FindStringSubmatch(t.Name)
	switch {
	case m == nil:
		return ""
	case m[1] == "5", m[2] == "":
		return m[1]
	default:
		return m[1] + "." + m[2]
	}
}
