package servicetest

// Booking is what creating an event, adding to it and reading it answer (contract 4.2), as far as tests read it.
type Booking struct {
	Event    BookedEvent
	Failures []struct {
		Index     int
		ElementID string `json:"element_id"`
		ItemType  string `json:"item_type"`
		Item      struct {
			ID     *int64
			Status string
			Errors map[string][]string
		}
	}
}

// BookedEvent is the event of a booking.
type BookedEvent struct {
	ID               int64
	Body             string
	StartsAt         string `json:"starts_at"`
	EndsAt           string `json:"ends_at"`
	Commitments      []BookedCommitment
	Requests         []BookedRequest
	Owner, Organiser *struct{ ID int64 }
}

// BookedCommitment is a commitment inside its event.
type BookedCommitment struct {
	ID      int64
	Status  string
	Element struct{ ID int64 }
}

// BookedRequest is a request inside its event.
type BookedRequest struct {
	ID           int64
	Quantity     int
	NumAllocated int `json:"num_allocated"`
	Element      struct{ ID int64 }
}
