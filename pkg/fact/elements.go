package fact

import (
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Element is the part of an element that other services may read.
type Element struct {
	form.Element
	Key            string  `json:"key,omitempty"` // of the import, with the type; empty when made by hand
	Current        bool    `json:"current"`
	Resource       bool    `json:"resource"` // a resource group: it gets requests, not commitments
	Administrators []int64 `json:"administrators,omitempty"`
}

// Controlled says whether commitments of the element need an approval (decisions, part 5).
func (e Element) Controlled() bool { return len(e.Administrators) > 0 }

// ElementsQuestion asks for elements by id and by import key ("Staff:17").
type ElementsQuestion struct {
	IDs  []int64  `json:"ids,omitempty"`
	Keys []string `json:"keys,omitempty"`
}

// AdministeredQuestion asks for the elements that a user is an administrator of.
type AdministeredQuestion struct {
	UserID int64 `json:"user_id"`
}

// ReachesQuestion asks whose commitments count for elements on a run of days.
type ReachesQuestion struct {
	IDs  []int64       `json:"ids"`
	Days wiretime.Days `json:"days"`
}

// ElementReaches is an element that exists, and whose commitments count for it: first its own, then those of its
// groups.
type ElementReaches struct {
	ElementID int64   `json:"element_id"`
	Reaches   []Reach `json:"reaches"`
}

// PupilsQuestion asks which pupils elements stand for on a run of days.
type PupilsQuestion struct {
	IDs  []int64       `json:"ids"`
	Days wiretime.Days `json:"days"`
}
