// Command coverage prints docs/contract-coverage.md: every rule of the contract and the tests that prove it.
package main

import (
	"context"
	"io"

	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

func main() { process.Main("coverage", run) }

func run(_ context.Context, _ []string, out io.Writer) error {
	root, err := checkout.Root()
	if err != nil {
		return err
	}
	tests, err := findTests(root)
	if err != nil {
		return err
	}
	checks, err := findChecks(root)
	if err != nil {
		return err
	}
	rules, err := collect(checks, tests)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, table(rules, tests))
	return err
}
