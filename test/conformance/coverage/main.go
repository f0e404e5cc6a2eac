// Command coverage prints docs/contract-coverage.md: every rule of the contract and the tests that prove it.
package main

import (
	"fmt"
	"os"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

func main() {
	if err := printTable(); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func printTable() error {
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
	fmt.Print(table(rules, tests))
	return nil
}
