package servicetest

// Booking is what creating an event, adding to it and reading it answer (contract 4.2), as far as tests read it.
type Booking struct {
	Status string
	Event  struct {
		ID          int64
		Body        string
		StartsAt    string `json:"starts_at"`
		EndsAt      string `json:"ends_at"`
		AllDay      bool   `json:"all_day"`
		Valid       bool
		Errors      map[string][]string
		Commitments []struct {
			ID      int64
			Status  string
			Element struct{ ID int64 }
		}
		Requests         []BookedRequest
		Owner, Organiser *struct{ ID int64 }
	}
	Failures []struct {
		Index     int
		ElementID string `json:"element_id"`
		ItemType  string `json:"item_type"`
		Item      struct {
			ID     *int64
			Status string
			Valid  *bool
			Errors map[string][]string
		}
	}
}

// BookedRequest is a request inside its event.
type BookedRequest struct {
	ID           int64
	Quantity     int
	NumAllocated int `json:"num_allocated"`
	Element      struct{ ID int64 }
}
