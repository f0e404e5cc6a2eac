// Package erasure has what services share to erase a person: who it is, the names by which texts name the person, and
// the steps in which each service goes through its records. It is plain data.
//
// An erasure removes a person's names, addresses and notes, and notes about the person, from all stored data. Records
// that others need stay, with [Person.Instead] in place of the name. elements leads it and asks the other services for
// one step after the other; each step may be repeated.
package erasure

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/record"
)

// Person is the person to erase.
type Person struct {
	ElementID int64   `json:"element_id" bson:"element_id"`
	UserIDs   []int64 `json:"user_ids" bson:"user_ids"` // the users who are the person
	// Names are the full names and e-mail addresses of the person in texts.
	Names []string `json:"names" bson:"names"`
	// Keys are import keys: of the element, with its type and without, and of the users. They are searched for where a
	// field has only a key.
	Keys    []string `json:"keys" bson:"keys"`
	Instead string   `json:"instead" bson:"instead"` // Former pupil 151
}

// Is says whether a record of the audit, Element:151, is the person's own.
func (p Person) Is(record string) bool {
	kind, text, _ := strings.Cut(record, ":")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return false
	}
	return kind == "Element" && id == p.ElementID || kind == "User" && slices.Contains(p.UserIDs, id)
}

// NamesOf returns the full names that texts may use for a person, without repetition.
func NamesOf(forename, knownAs, surname string, others ...string) []string {
	var all []string
	add := func(name string) {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, first := range []string{forename, knownAs} {
		if first != "" && surname != "" {
			add(first + " " + surname)
			add(surname + ", " + first)
		}
	}
	for _, other := range others {
		add(other)
	}
	return all
}

// NamesOfUser returns the names that texts may use for a person by its user. A name of one word is not among them: in a
// text it may be anyone's.
func NamesOfUser(name, email string) []string {
	if len(strings.Fields(name)) < 2 {
		return []string{email}
	}
	return []string{name, email}
}

// Key replaces the import key of an erased record, so that an import recognises it. The salt is the deployment's own.
// With both, one can find out whether a known key was erased.
func Key(salt, key string) string {
	const shown = 20 // bytes: enough that no two are the same
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write([]byte(key))
	return "erased-" + hex.EncodeToString(mac.Sum(nil)[:shown])
}

// Keys returns the keys by their replacements.
func Keys(salt string, keys []string) map[string]string {
	hidden := make(map[string]string, len(keys))
	for _, key := range keys {
		hidden[Key(salt, key)] = key
	}
	return hidden
}

// Refused is the fault of an imported row whose record has been erased.
const Refused = "has been erased; leave the row out"

// Gone is the fault of an imported row that refers to an erased person.
const Gone = "has been erased"

// Part is the erasure in one collection of a service: it does the next step after a place, and returns the next place
// and the number of records that it changed. "" is before the first step and after the last one.
type Part func(ctx context.Context, after string) (next string, changed int, err error)

// Each is a part that goes through pages of records: find returns the page after a place, and the next place; erase
// takes the person out of a record and returns how many it changed. A record that has gone meanwhile
// (record.ErrNotFound) needs nothing.
func Each[R any](
	find func(ctx context.Context, after string) (page []R, next string, err error),
	erase func(ctx context.Context, r R) (changed int, err error),
) Part {
	return func(ctx context.Context, after string) (next string, changed int, err error) {
		page, next, err := find(ctx, after)
		if err != nil {
			return "", 0, err
		}
		for _, r := range page {
			n, err := erase(ctx, r)
			if err != nil && !errors.Is(err, record.ErrNotFound) {
				return "", changed, err
			}
			changed += n
		}
		return next, changed, nil
	}
}

// ByID is Each for records in order of id: list returns up to limit records with ids above after.
func ByID[R any](
	atOnce int, list func(ctx context.Context, after int64, limit int) ([]R, error), id func(R) int64,
	erase func(ctx context.Context, r R) (changed int, err error),
) Part {
	return Each(func(ctx context.Context, after string) (page []R, next string, err error) {
		last, err := strconv.ParseInt(cmp.Or(after, "0"), 10, 64)
		if err != nil {
			return nil, "", err
		}
		page, err = list(ctx, last, atOnce)
		if err == nil && len(page) >= atOnce {
			next = strconv.FormatInt(id(page[len(page)-1]), 10)
		}
		return page, next, err
	}, erase)
}

// Step does the next step of a service's parts, which come one after another. The places are as for Part.
func Step(ctx context.Context, parts []Part, after string) (next string, changed int, err error) {
	part, place := 0, ""
	if after != "" {
		number, rest, _ := strings.Cut(after, ":")
		if part, err = strconv.Atoi(number); err != nil || part < 0 || part >= len(parts) {
			return "", 0, fmt.Errorf("%q is not a place of an erasure", after)
		}
		place = rest
	}
	place, changed, err = parts[part](ctx, place)
	switch {
	case err != nil:
		return "", 0, err
	case place == "" && part == len(parts)-1:
		return "", changed, nil
	case place == "":
		part++
	}
	return strconv.Itoa(part) + ":" + place, changed, nil
}
