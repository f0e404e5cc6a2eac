package store

import (
	"encoding/binary"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// An event carries its commitments a second time, in brief: of each its element, its id and its status, in a few
// bytes. A listing of what touches some days shows no more of them, so it leaves the commitments themselves, of which
// an event may have 1,500, in the store.

// briefStatuses are numbered by their places, which are stored: a new one is added at the end.
func briefStatuses() []event.Status {
	return []event.Status{event.Uncontrolled, event.Requested, event.Noted, event.Rejected, event.Confirmed}
}

// briefOf returns commitments in brief: for each the difference of its element and of its id to those before it, as
// varints, and a byte for its status. Nil when one has a status that there is no number for.
func briefOf(commitments []event.Commitment) []byte {
	var brief []byte
	statuses := briefStatuses()
	var before event.Commitment
	for _, c := range commitments {
		status := slices.Index(statuses, c.Status)
		if status < 0 {
			return nil
		}
		brief = binary.AppendVarint(brief, c.ElementID-before.ElementID)
		brief = binary.AppendVarint(brief, c.ID-before.ID)
		brief = append(brief, byte(status))
		before = c
	}
	return brief
}

// commitmentsOf reads what briefOf returned, nil when it is something else.
func commitmentsOf(brief []byte) []event.Commitment {
	const least = 3 // bytes of a commitment
	commitments := make([]event.Commitment, 0, len(brief)/least)
	statuses := briefStatuses()
	var before event.Commitment
	for len(brief) > 0 {
		element, n := binary.Varint(brief)
		if n <= 0 {
			return nil
		}
		id, m := binary.Varint(brief[n:])
		if m <= 0 || len(brief) == n+m || int(brief[n+m]) >= len(statuses) {
			return nil
		}
		before = event.Commitment{
			ID: before.ID + id, ElementID: before.ElementID + element, Status: statuses[brief[n+m]],
		}
		commitments, brief = append(commitments, before), brief[n+m+1:]
	}
	return commitments
}

// inBrief is what a listing of what touches some days shows.
var inBrief = bson.D{
	{Key: "version", Value: 1},
	{Key: "body", Value: 1},
	{Key: "category_id", Value: 1},
	{Key: "owner_id", Value: 1},
	{Key: "organiser_id", Value: 1},
	{Key: "starts", Value: 1},
	{Key: "ends", Value: 1},
	{Key: "all_day", Value: 1},
	{Key: "modified", Value: 1},
	{Key: "brief", Value: 1},
}
