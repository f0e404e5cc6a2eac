package main

import "github.com/spf13/cobra"

func peopleCommand(s surroundings) *cobra.Command {
	return family("people", "Answer for what is kept about one person",
		`A member of staff or a pupil is given as an id or a key such as Pupil:17. docs/privacy.md says what is kept.`,
		exportPerson(s), erasePerson(s), listErased(s), listLeavers(s))
}
