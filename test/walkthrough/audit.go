package walkthrough

// audit reads the audit, the newest entries first.
func audit(w *walk) {
	entries := func(service, query string, wants ...expectation) {
		w.call(w.admin, "GET", path("/api/admin/audit/%s?limit=1000&%s", service, query), nil, 200,
			append(wants, is("next", nil))...)
	}
	did := func(actions ...string) expectation { return is("entries.*.action", actions) }
	who := func(all ...*person) expectation {
		ids := []int64{}
		for _, p := range all {
			ids = append(ids, p.id)
		}
		return is("entries.*.user_id", ids)
	}
	entries("identity", path("record=User:%d", w.keeper.id), did("login", "update", "create"),
		who(w.keeper, w.admin, w.admin))
	entries("identity", path("record=User:%d", w.driver.id), did("login", "renew_uuid", "login", "create"),
		who(w.driver, w.admin, w.driver, w.admin))
	entries("identity", path("record=User:%d", w.deputy.id), did("deactivate", "create"),
		is("entries.0.changes", []fields{{"field": "active", "from": "true", "to": "false"}}))
	entries("identity", path("record=User:%d", w.pupil.id), did("login", "end_session", "login", "create"))
	entries("identity", path("user=%d", w.script.id), did("revert", "switch", "login"))
	entries("elements", path("record=Element:%d", w.kai), // its feed last, whose address was renewed
		did("delete", "update", "create", "update", "create", "update", "create"),
		is("entries.1.changes.0.field", "address"), is("entries.3.changes.0.to", w.date(-7)+"/"+w.date(2)))
	entries("elements", path("record=Element:%d", w.subject), did("update", "update", "create"),
		is("entries.0.changes.0.field", "administrators"))
	entries("elements", "record=Import:pupils", did("imported", "import", "imported", "import"))
	entries("events", path("record=EventCategory:%d", w.lesson), did("update", "create"),
		is("entries.0.changes", []fields{{"field": "clash_check", "from": "false", "to": "true"}}))
	entries("events", path("user=%d", w.driver.id), did("delete", "allocate", "allocate"),
		who(w.driver, w.driver, w.driver))
	entries("events", path("record=Event:%d", w.event), is("entries.0.action", "delete"),
		is("entries.0.user_id", w.owner.id), is("entries.25.action", "create"))
	entries("notes", path("record=Event:%d", w.event), did("delete", "update", "create"),
		who(w.owner, w.owner, w.owner))
	w.call(w.owner, "GET", "/api/admin/audit/events", nil, 403, exactly(forbidden))
}
