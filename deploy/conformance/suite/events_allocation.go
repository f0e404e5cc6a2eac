package suite

import (
	"fmt"
	"net/http"
)

func allocationChecks() []Check {
	return []Check{
		prove("TestDecisionsPart5_TheQuantityOfARequest", quantityOfARequest, "decisions 5 PATCH request", "2.4 fields", "decisions 4 quantity", "decisions 1 422"),
		prove("TestDecisionsPart5_DeletingARequest", deletingARequest, "decisions 5 DELETE request", "decisions 1 404 records", "decisions 1 exception"),
	}
}

func requestPath(id int64) string { return fmt.Sprintf("/api/requests/%d", id) }

func quantity(n any) map[string]any {
	return map[string]any{"request": map[string]any{"quantity": n}}
}

func quantityOfARequest(t *T) {
	c, driver, buses := t.Booker(), t.User(), t.ResourceGroup()
	t.Administrator(buses, driver)
	made := t.Event(c, nil, buses)
	id := made.Int("event.requests.0.id")
	a := c.Patch(requestPath(id), quantity(3))
	t.Golden(a, http.StatusOK, "request_changed.json", "50001", id, "10001", buses.ID, "Sample minibuses", buses.Name, "20001", buses.EntityID)
	t.Login(driver).Patch(requestPath(id), quantity("1000")).WantCode(http.StatusOK)
	for _, n := range []any{0, -1, 1001, 1.5, "many", nil, true} {
		a := c.Patch(requestPath(id), quantity(n))
		t.Equal("quantity "+jsonText(n), fmt.Sprint(a.Code, " ", a.Keys("request.errors")), "422 quantity")
		t.Equal("its id and valid", a.At("request.id")+" "+a.At("request.valid"), fmt.Sprintf("%d false", id))
	}
	for _, other := range []*Client{t.As(), t.As("can_add_events"), t.Login(t.UserWith(map[string]any{"kind": "pupil"}, "can_api"))} {
		other.Patch(requestPath(id), quantity(1)).Want(http.StatusForbidden, forbidden)
	}
	t.Equal("the quantity", c.Get(eventPath(made.Int("event.id"))).At("event.requests.0.quantity"), 1000)
	for _, body := range []string{`{}`, `{"request":null}`, `{"quantity":2}`, `{`} {
		c.Do(http.MethodPatch, requestPath(id), body).WantCode(http.StatusBadRequest)
	}
	c.Patch(requestPath(noSuchID), quantity(1)).Want(http.StatusNotFound, missing("Not found", "Request", noSuchID))
}

func deletingARequest(t *T) {
	c, buses, room := t.Booker(), t.ResourceGroup(), t.Location()
	made := t.Event(c, nil, buses, room, buses)
	id := made.Int("event.requests.0.id")
	c.Delete(requestPath(id)).Want(http.StatusOK, `{"status":"OK"}`)
	a := c.Get(eventPath(made.Int("event.id")))
	t.Equal("what is left", a.At("event.requests")+a.At("event.commitments"), "[]"+made.At("event.commitments"))
	for range 2 {
		c.Delete(requestPath(id)).Want(http.StatusNotFound, missing("Not found", "Request", id))
	}
	t.Equal("asked for again", add(c, made.Int("event.id"), buses).At("event.requests.0.quantity"), 1)
}
