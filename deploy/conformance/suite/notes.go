package suite

import "fmt"

// noteChecks are those of part 4.3 and decisions, part 6.
func noteChecks() []Check {
	return []Check{
		prove("TestPart4_3_Rule04_DeletingADeletedNoteIsNotFound", deletingADeletedNote, "4.3 rule 4", "4.3 DELETE note"),
	}
}

func deletingADeletedNote(t *T) {
	c := t.Booker()
	event := t.Event(c, nil).Int("event.id")
	note := c.Post(fmt.Sprintf("/api/events/%d/notes", event), map[string]any{"note": map[string]any{"contents": "x"}}).Int("note.id")
	path := fmt.Sprintf("/notes/%d", note)
	c.Delete(path).Want(200, `{"status":"OK"}`)
	c.Delete(path).Want(404, fmt.Sprintf(`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Note with 'id'=%d"}`, note))
}
