package main

import (
	"fmt"
	"testing"

	"github.com/belfry-schools/belfry/client/clienttest"
)

// TestHardToBreak_Row20_WhatIsBookedInBelfryClashesWithABundle: rows are compared with the events that are not rows. An
// element of a row that was rejected there takes up nothing.
func TestHardToBreak_Row20_WhatIsBookedInBelfryClashesWithABundle(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	school := func(events string) string {
		return clienttest.Folder(t, map[string]string{
			"locations.csv":       "key,name\nG7,Room G7\nHall,Hall\n",
			"eventcategories.csv": "key,name,busy\nlesson,Lesson,true\n",
			"events.csv":          "key,body,category,starts_at,ends_at,elements\n" + events,
		})
	}
	const maths = "a,Maths,lesson,2026-09-07 09:00,2026-09-07 10:00,Location:G7;Location:Hall\n"
	o.does(t, "import", school(maths))
	room, hall := o.element(t, "Location:G7"), o.element(t, "Location:Hall")
	category := admin.Get(t, "/api/eventcategories").Int(t, "eventcategories.0.id")
	byHand := admin.Post(t, "/api/events", object{"elements": []int64{room}, "event": object{
		"body": "By hand", "eventcategory_id": category, "starts_at": "2026-09-07 11:00", "ends_at": "2026-09-07 12:00",
	}}).Must(t, 200).Int(t, "event.id")

	const art = "b,Art,lesson,2026-09-07 11:30,2026-09-07 12:30,Location:G7\n"
	want := fmt.Sprintf("warning: events.csv:3: Location:G7 is booked twice at 2026-09-07T11:30:00+01:00: event %d in "+
		"Belfry has it too\nbelfryctl: nothing was written, as the events book elements twice\n", byHand)
	o.fails(t, exitFailure, want, "import", school(maths+art), "--clashes", "refuse")

	// The hall's administrator rejects the lesson, so the hall is free.
	keeper := adds(t, admin, "user",
		object{"name": "Keeper", "email": "k@school.example", "permissions": object{"can_api": true}})
	admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", hall, keeper.Int(t, "user.id")), nil).
		Must(t, 200)
	fair := "c,Fair,lesson,2026-09-07 14:00,2026-09-07 15:00,Location:Hall\n"
	o.does(t, "import", school(maths+fair))
	event := admin.Get(t, "/api/admin/export/events").At(t, `events.#(key="c").id`)
	commitment := admin.Get(t, "/api/events/"+event).Int(t, "event.commitments.0.id")
	o.system.Login(t, keeper.Text(t, "user.uuid")).Patch(t, fmt.Sprintf("/api/commitments/%d", commitment),
		object{"commitment": object{"status": "rejected"}}).Must(t, 200)
	play := "d,Play,lesson,2026-09-07 14:30,2026-09-07 15:30,Location:Hall\n"
	o.does(t, "import", school(maths+fair+play), "--clashes", "refuse", "--dry-run")
}
