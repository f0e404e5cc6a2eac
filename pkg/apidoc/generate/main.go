// Command generate writes the interface's document, openapi.json, and the page that shows it, page.html, from the services' openapi.yaml
// and components.yaml. `make gen` runs it.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// services are in the order in which the document lists their paths.
var services = names.All()

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	root, err := checkout.Root()
	if err != nil {
		return err
	}
	tree, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	return errors.Join(generate(tree), tree.Close())
}

func generate(tree *os.Root) error {
	frame, err := tree.ReadFile("pkg/apidoc/components.yaml")
	if err != nil {
		return err
	}
	parts := make([]part, len(services))
	for i, service := range services {
		text, err := tree.ReadFile("services/" + service + "/openapi.yaml")
		if err != nil {
			return err
		}
		parts[i] = part{service, text}
	}
	document, err := merge(frame, parts)
	if err != nil {
		return err
	}
	style, err := tree.ReadFile("pkg/apidoc/page.css")
	if err != nil {
		return err
	}
	page, err := render(document, string(style))
	if err != nil {
		return err
	}
	if err := tree.WriteFile("pkg/apidoc/openapi.json", append(encode(document), '\n'), 0o644); err != nil {
		return err
	}
	return tree.WriteFile("pkg/apidoc/page.html", page, 0o644)
}
