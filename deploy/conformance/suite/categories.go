package suite

import (
	"fmt"
	"strings"
)

// categoryChecks are those of part 4.4 and decisions, part 7.
func categoryChecks() []Check {
	return []Check{
		prove("TestPart4_4_PrivilegedUsersGetALongerList", privilegedUsersGetALongerList, "4.4 privileged", "decisions 7 privileged list"),
	}
}

func privilegedUsersGetALongerList(t *T) {
	entry := fmt.Sprintf(`{"id":%d,"name":%q,"valid":true}`, t.School.Privileged.ID, t.School.Privileged.Name)
	for permission, want := range map[string]bool{"": false, "privileged": true, "admin": true} {
		a := t.As(permission).Get("/api/eventcategories").Must(200)
		t.Equal("the privileged category is listed with permission "+permission, strings.Contains(a.Body, entry), want)
	}
}
