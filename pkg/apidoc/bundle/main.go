// Bundle makes one document of the files in pkg/apidoc, its HTML page, and the Go table of what each route reads of a
// request. It is run in the folder of the module pkg, by `make gen`.
package main

import (
	_ "embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

//go:embed page.tmpl
var pageTemplate string

// services are listed in the order of their paths in the document.
var services = []string{"identity", "elements", "events", "notes"}

func main() {
	if err := run("apidoc", filepath.Join("web", "documented.go")); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// run reads the files of a folder, and writes what they make there and to the path of the table.
func run(folder, table string) error {
	tree, err := read(folder)
	if err != nil {
		return err
	}
	style, err := os.ReadFile(filepath.Join(folder, "page.css"))
	if err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(folder, "page.js"))
	if err != nil {
		return err
	}
	page, err := render(tree, string(style), string(script))
	if err != nil {
		return err
	}
	code, err := format.Source(tableOf(tree))
	if err != nil {
		return err
	}
	for path, content := range map[string][]byte{
		filepath.Join(folder, "openapi.json"): append(encode(tree), '\n'),
		filepath.Join(folder, "page.html"):    page,
		table:                                 code,
	} {
		if err := os.WriteFile(path, content, 0o644); err != nil { // #nosec G306 -- a file of the checkout
			return err
		}
	}
	return nil
}

// read merges the files of a folder.
func read(folder string) (object, error) {
	frame, err := os.ReadFile(filepath.Join(folder, componentsFile))
	if err != nil {
		return nil, err
	}
	parts := make([]part, len(services))
	for i, service := range services {
		text, err := os.ReadFile(filepath.Join(folder, service+".yaml"))
		if err != nil {
			return nil, err
		}
		parts[i] = part{service, text}
	}
	return merge(frame, parts)
}
