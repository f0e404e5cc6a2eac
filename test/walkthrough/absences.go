package walkthrough

// absences takes a pupil out of a lesson and back in. Meanwhile the lesson has a note of the system for its
// teachers.
func absences(w *walk) {
	lesson := w.book("Theory", 6, "09:00", "10:00", w.kai).id("event.id")
	recital := w.call(w.owner, "POST", "/api/events",
		fields{"event": w.hour("Recital", w.concert, 6, "09:30", "12:00"), "elements": sent(w.kai)}, 200).id("event.id")
	ofLesson := path("/api/events/%d/notes", lesson)
	checked := func(dryRun bool, wants ...expectation) {
		w.call(w.admin, "POST", "/api/admin/clashes",
			fields{"start_date": w.date(6), "end_date": w.date(6), "dry_run": dryRun}, 200,
			append(wants, is("checked", 1), is("next", nil))...)
	}
	found := func(change string) expectation {
		return is("clashes.*.note", []string{change})
	}
	checked(true, found("created"))
	w.call(w.owner, "GET", ofLesson, nil, 200, is("notes", []any{}))
	checked(false, found("created"), is("created", 1), is("clashes.0.event.id", lesson), is("clashes.0.pupils", 1),
		is("clashes.0.elsewhere", 1))
	checked(false, found("unchanged"), is("unchanged", 1))

	says := "<p>1 of 1 pupil is elsewhere:</p>\n\n<ul>\n<li>" + w.day.AddDate(0, 0, 6).Format("Mon 2 Jan 2006") +
		", 09:30 to 12:00, Recital: Kip Butler (9A)</li>\n</ul>\n"
	listed := w.call(w.owner, "GET", ofLesson, nil, 200, is("notes.*.formatted_contents", []string{says}),
		is("notes.0.owner", nil))
	w.call(w.pupil, "GET", ofLesson, nil, 200, is("notes", []any{}))
	note := path("/api/notes/%d", listed.id("notes.0.id"))
	w.call(w.admin, "PATCH", note, fields{"note": fields{"contents": "mine"}}, 403, exactly(forbidden))
	w.call(w.admin, "DELETE", note, nil, 403, exactly(forbidden))

	w.call(w.owner, "DELETE", path("/api/events/%d", recital), nil, 200, exactly(okBody))
	checked(false, is("clashes", []any{}), is("removed", 1))
	w.call(w.owner, "GET", ofLesson, nil, 200, is("notes", []any{}))
}
