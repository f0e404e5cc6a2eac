package suite

// fieldRules are those of the contract's parts 1 and 2.
func fieldRules() []Rule {
	return []Rule{
		{ID: "1 json", Text: "every body that comes back is JSON, whatever was asked with Accept and Content-Type application/json"},
		{ID: "1 cookie", Text: "the session is the cookie that came with the login"},
		{ID: "1 status", Text: "every answer carries a status string"},

		{ID: "2.1 list", Text: "list form of an element: id, name, entity_type, entity_id, valid"},
		{ID: "2.1 entity_id", Text: "entity_id is the id of the underlying entity: numbered per type, an integer"},
		{ID: "2.1 types", Text: "entity types Location, Pupil, Staff, Group, Property"},
		{ID: "2.1 detail", Text: "detail form: id, name, entity_type, entity_id, current, and the fields of the type"},
		{ID: "2.1 staff", Text: "detail of Staff adds email, title, initials, forename, surname"},
		{ID: "2.1 resource group", Text: "detail of a resource group adds description and members, an integer"},
		{ID: "2.1 other types", Text: "detail fields of other types: not shown; see decisions 3", Silent: true},

		{ID: "2.2 fields", Text: "a commitment: id, status, element, event, valid, errors"},
		{ID: "2.2 element in an event", Text: "element is present inside an event"},
		{ID: "2.2 element in a listing", Text: "in a listing, element is present when it isn't the queried one, and left out when it is"},
		{ID: "2.2 event", Text: "event, a summary, is present in listings, and left out inside an event"},
		{ID: "2.2 errors", Text: "errors only in failed items: field → array of messages"},

		{ID: "2.3 times", Text: "starts_at and ends_at are ISO 8601 with milliseconds and a numeric offset"},
		{ID: "2.3 end", Text: "the stored end is exclusive"},
		{ID: "2.3 staff and locations", Text: "staff and locations only in listings that include them"},
		{ID: "2.3 commitments and requests", Text: "arrays in create, add and get answers, and in no summary"},
		{ID: "2.3 owner", Text: "owner, a user, in get answers, only if there is one"},
		{ID: "2.3 organiser", Text: "organiser, a staff element, in get answers, only if there is one"},
		{ID: "2.3 fields", Text: "an event: id, body, starts_at, ends_at, all_day, then what its form has, then valid"},
		{ID: "2.3 owner fields", Text: "fields of owner and organiser: not shown; see decisions 4", Silent: true},

		{ID: "2.4 fields", Text: "a request: id, quantity, num_allocated, element, valid; element is the resource group"},
		{ID: "2.4 resource groups", Text: "only resource groups have requests"},

		{ID: "2.5 fields", Text: "a note: id, contents, visible_guest, visible_staff, visible_pupil, formatted_contents, owner, parent, valid"},
		{ID: "2.5 formatted_contents", Text: "HTML of the contents, special characters as JSON Unicode escapes"},
		{ID: "2.5 owner", Text: "owner is a user, or null for a note of the system"},
		{ID: "2.5 parent", Text: "parent (id, body, starts_at, ends_at, all_day, valid) only when a note is fetched or updated by its id"},
		{ID: "2.5 system notes", Text: "some notes are the system's own, others are written by users"},

		{ID: "2.6 fields", Text: "a user: id, name, email, valid"},

		{ID: "2.7 list", Text: "list form of a category: id, name, valid"},
		{ID: "2.7 detail", Text: "detail: id, name, pecking_order, schoolwide, publish, visible, unimportant, can_merge, can_borrow, compactable, privileged, clash_check, busy, timetable"},
		{ID: "2.7 flags", Text: "the meaning of each flag: not shown", Silent: true},

		{ID: "2.8 fields", Text: "a failure: index, element_id, item_type, item"},
		{ID: "2.8 index", Text: "index is the place in the submitted array, from 0"},
		{ID: "2.8 element_id", Text: "element_id is the value as submitted, as a string"},
		{ID: "2.8 record", Text: "item of type Commitment or Request: the record with id null, valid false and errors"},
		{ID: "2.8 hash", Text: "item of type Hash: an object with status alone"},
		{ID: "2.8 category", Text: "no answer shows an event's category"},
	}
}

// stateRules are those of the contract's part 3.
func stateRules() []Rule {
	return []Rule{
		{ID: "3.1 values", Text: "a commitment is uncontrolled, confirmed, requested, rejected or noted"},
		{ID: "3.1 uncontrolled", Text: "creating or adding a freely allocated element: uncontrolled"},
		{ID: "3.1 requested", Text: "creating or adding a controlled element: requested"},
		{ID: "3.1 notice", Text: "the element's administrator is told of a pending entry: delivery not shown, see part 6", Silent: true},
		{ID: "3.1 confirmed", Text: "requested, accepted by the administrator: confirmed"},
		{ID: "3.1 rejected", Text: "requested, refused: rejected"},
		{ID: "3.1 noted", Text: "requested, more is needed: noted"},
		{ID: "3.1 only two", Text: "create and add answers show uncontrolled and requested alone"},
		{ID: "3.1 decision", Text: "the operation of a decision, and other moves: not shown; see decisions 5", Silent: true},
		{ID: "3.2 start", Text: "a request starts with num_allocated 0"},
		{ID: "3.2 allocation", Text: "the operation of allocating: not shown; see decisions 5", Silent: true},
		{ID: "3.3 row 1", Text: "login with a valid uuid: logged in, with a session cookie"},
		{ID: "3.3 row 2", Text: "login with an invalid uuid: 401 Access denied, the state unchanged"},
		{ID: "3.3 row 3", Text: "logout, always: logged out, 200"},
		{ID: "3.3 row 4", Text: "switch to another by a user with can_su who is not switched: switched, with a new cookie"},
		{ID: "3.3 row 5", Text: "switched, switch to the original user: as revert, with a new cookie"},
		{ID: "3.3 row 6", Text: "switched, switch to any other user: rejected"},
		{ID: "3.3 row 7", Text: "switched, revert: logged in as the original user, with a new cookie"},
		{ID: "3.3 row 8", Text: "without can_su, lookup and switch: Forbidden, the state unchanged"},
	}
}
