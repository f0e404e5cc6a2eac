// Package problem holds Belfry's one error type and the one table from its kinds to HTTP codes and the contract's
// status texts (decisions, part 1). Domain packages return problems; package web writes them. All other errors are
// faults: their text is logged and never sent to a client.
package problem
