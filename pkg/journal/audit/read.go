package audit

// Read is what a user has read of another person.
type Read string

// The reads.
const (
	ReadDetail      Read = "detail"
	ReadCommitments Read = "commitments"
	ReadFreeBusy    Read = "freebusy"
	ReadTimetable   Read = "timetable" // one of many
	ReadEvents      Read = "events"    // found by a search for the person's events, or in a report of clashes
	ReadCalendar    Read = "calendar"
	ReadFeed        Read = "feed" // without a login; the user is the feed's
)
