package audit

// Look is what of a person somebody else has looked at.
type Look string

// The looks.
const (
	LookDetail      Look = "detail"
	LookCommitments Look = "commitments"
	LookFreeBusy    Look = "freebusy"
	LookTimetable   Look = "timetable" // one of many
	LookEvents      Look = "events"    // found by a search for the person's events, or told of by a report of clashes
	LookCalendar    Look = "calendar"
	LookFeed        Look = "feed" // without a login; the user is whose feed it is
)
