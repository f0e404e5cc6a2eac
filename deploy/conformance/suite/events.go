package suite

import (
	"fmt"
	"net/http"
)

// eventChecks are those of part 4.2 and decisions, parts 4 and 5.
func eventChecks() []Check {
	return []Check{
		prove("TestPart4_2_Rule05_RepeatedResourceGroupRaisesQuantity", repeatedResourceGroupRaisesQuantity, "4.2 rule 5"),
	}
}

func repeatedResourceGroupRaisesQuantity(t *T) {
	c, buses := t.Booker(), t.ResourceGroup()
	a := t.Event(c, nil, buses, buses)
	request := fmt.Sprintf(`[{"id":%d,"quantity":%%d,"num_allocated":0,"element":%s,"valid":true}]`, a.Int("event.requests.0.id"), buses.List())
	t.Equal("requests after creating with the group twice", a.At("event.requests"), fmt.Sprintf(request, 2))
	a = c.Post(fmt.Sprintf("/api/events/%d/add", a.Int("event.id")), map[string]any{"elements": []string{buses.Sent()}}).Must(http.StatusOK)
	t.Equal("requests after adding it once more", a.At("event.requests"), fmt.Sprintf(request, 3))
}
