package problem

import "fmt"

// The messages that clients find in the errors of an invalid record: one wording for one fault, whatever the field
// and the service.
const (
	Blank            = "can't be blank"
	MustExist        = "must exist"
	Taken            = "has already been taken"
	NotIncluded      = "is not included in the list"
	NotADate         = "is not a date"
	Skipped          = "is skipped when the clock goes forward"
	NotADay          = "is not a date (YYYY-MM-DD)"
	NotAnInstant     = "is not an instant (2026-09-07T09:00:00Z)"
	NotANumber       = "is not a number"
	NotAString       = "is not a string"
	NotABoolean      = "is not true or false"
	NotAnObject      = "is not an object"
	NotAnEmail       = "is not an e-mail address"
	NotAUUID         = "is not a uuid"
	ControlCharacter = "has a control character"
	Invisible        = "has no visible character"
	Fixed            = "can't be changed"
	NotCurrent       = "is no longer current"
	NotStaff         = "must be a staff element"
	NotASchool       = "is not a school"
	NotAdministered  = "does not belong to a school that you administer"
	Withheld         = "belongs to a person who is in another school too, or has rights or elements that are not yours"
	ForAdmins        = "needs the permission admin"
)

// TooLong says that a text has more than that many characters.
func TooLong(most int) string { return fmt.Sprintf("is too long (maximum is %d characters)", most) }

// TooMany says that a list has more than that many entries.
func TooMany(most int) string { return fmt.Sprintf("has more than %d entries", most) }

// AtLeast and AtMost say that a number is out of its bounds.
func AtLeast(least int) string { return fmt.Sprintf("must be at least %d", least) }

// AtMost is AtLeast for the other end.
func AtMost(most int) string { return fmt.Sprintf("must be at most %d", most) }
