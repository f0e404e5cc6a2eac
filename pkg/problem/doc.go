// Package problem holds the one error type of Belfry and the one table that turns its kinds into HTTP codes and the
// contract's status texts (decisions, part 1). Domain packages return problems; package web writes them. Errors
// that are no problem are faults: their text goes to the log and never to a client.
package problem
