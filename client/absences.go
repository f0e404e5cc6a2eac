package client

import (
	"cmp"
	"context"
	"net/http"
)

// Absences is what a check of the days from StartDate to EndDate found and did.
type Absences struct {
	StartDate string   `json:"start_date"`
	EndDate   string   `json:"end_date"`
	Clashes   []Record `json:"clashes"` // event, pupils, elsewhere, note
	Checked   int      `json:"checked"` // events
	Created   int      `json:"created"` // notes, as the next three
	Updated   int      `json:"updated"`
	Unchanged int      `json:"unchanged"`
	Removed   int      `json:"removed"`
}

// CheckAbsences updates the notes on pupils who are elsewhere, for the events of days, in as many calls as that
// needs. After each call it reports the progress. Empty dates are those of the nightly check. With dryRun the
// services only report what they would do. Requires the admin permission.
func (c *Client) CheckAbsences(ctx context.Context, start, end string, dryRun bool,
	progress func(Absences, string)) (Absences, error) {
	all := Absences{Clashes: []Record{}}
	if dryRun {
		ctx = DryRun(ctx)
	}
	var asked struct {
		End   string `json:"end_date,omitempty"`
		Start string `json:"start_date,omitempty"`
	}
	for asked.Start, asked.End = start, end; ; {
		r := request{method: http.MethodPost, path: "/api/admin/clashes", json: asked}
		var one struct {
			Absences
			Next *string `json:"next"`
		}
		if err := c.call(ctx, r, &one); err != nil {
			return all, err
		}
		all.StartDate = cmp.Or(all.StartDate, one.StartDate)
		all.add(one.Absences)
		if one.Next == nil {
			return all, nil
		}
		asked.Start, asked.End = *one.Next, one.EndDate
		progress(all, *one.Next)
	}
}

func (a *Absences) add(more Absences) {
	a.EndDate = more.EndDate
	a.Clashes = append(a.Clashes, more.Clashes...)
	a.Checked += more.Checked
	a.Created += more.Created
	a.Updated += more.Updated
	a.Unchanged += more.Unchanged
	a.Removed += more.Removed
}
