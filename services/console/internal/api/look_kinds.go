package api

import (
	"fmt"
	"net/url"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// kinds are the kinds of events.
var kinds = recordKind{
	name: "kind", at: "/look-after/kinds", add: "/look-after/kinds/new", path: kindsPath, part: "eventcategory",
	audit: "EventCategory", called: "name", first: client.Record{"busy": true, "clash_check": true}, read: readKind,
	// The other flags mean something to other programs alone.
	form: must(1, []entry{{Name: "name"}, {Name: "pecking_order", As: "number", digits: true}},
		entries(entry{As: "box"}, "busy", "clash_check", "schoolwide", "privileged", "confidential")),
}

// kindsPath is where the interface has them.
const kindsPath = "/api/admin/eventcategories"

// lookKinds lists the kinds of events.
func (h handlers) lookKinds(v *visit) error {
	b := listBody{At: kinds.at, Add: kinds.add}
	return v.showList(b, "look.kinds", kinds, kindsPath, "eventcategories", url.Values{})
}

// readKind finds the kind of events of the page.
func readKind(v *visit) (client.Record, error) {
	id, err := readID(v.c.Params("id"))
	if err != nil {
		return nil, problem.New(problem.NotFound, "")
	}
	return v.fromList(kindsPath, "eventcategories", id)
}

// fromList finds a record by its id: the list from its id on begins with it.
func (v *visit) fromList(path, part string, id int64) (client.Record, error) {
	found, _, err := v.api.Page(v.ctx, path, part, url.Values{"from_id": {fmt.Sprint(id)}, "limit": {"1"}}, "")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].ID("id") != id {
		return nil, problem.New(problem.NotFound, "")
	}
	return found[0], nil
}
