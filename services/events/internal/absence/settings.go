package absence

import (
	"fmt"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// maxDays bounds how far ahead every night is looked.
const maxDays = 92

// Nightly is the settings of the nightly check, beside service.Config.
type Nightly struct {
	At   wiretime.TimeOfDay `envconfig:"BELFRY_CLASH_NOTES_AT" default:"03:00" desc:"time of day (HH:MM in the configured zone) at which the notes on pupils who are elsewhere are updated for all events of categories with clash_check; set but empty: never"`
	Days int                `envconfig:"BELFRY_CLASH_DAYS" default:"14" desc:"how many days are checked, from today on, 1 to 92"`
}

// Check implements settings.Checker.
func (n *Nightly) Check() error {
	if n.Days < 1 || n.Days > maxDays {
		return fmt.Errorf("BELFRY_CLASH_DAYS: must be 1 to %d", maxDays)
	}
	return nil
}
