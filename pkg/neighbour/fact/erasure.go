package fact

import "github.com/belfry-schools/belfry/pkg/erasure"

// ErasureQuestion asks a service for the next step of an erasure, after a place; "" is before the first.
type ErasureQuestion struct {
	Person erasure.Person `json:"person"`
	After  string         `json:"after,omitempty"`
}

// ErasureStep is what a step did: how many records it changed, and the place to go on after, "" after the last step.
type ErasureStep struct {
	After   string `json:"after,omitempty"`
	Changed int    `json:"changed"`
}
