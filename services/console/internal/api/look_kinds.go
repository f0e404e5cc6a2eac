package api

import "github.com/belfry-schools/belfry/client"

// kinds are the kinds of events.
var kinds = recordKind{
	name: "kind", at: "/look-after/kinds", add: "/look-after/kinds/new", path: "/api/admin/eventcategories",
	part: "eventcategory", list: "eventcategories", inList: true, audit: "EventCategory", called: "name",
	first: client.Record{"busy": true, "clash_check": true},
	// The other flags only matter to other programs.
	form: must(1, []entry{{Name: "name"}, {Name: "pecking_order", As: "number", digits: true}},
		entries(entry{As: "box"}, "busy", "clash_check", "schoolwide", "privileged", "confidential")),
}
