package hostile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// known is what earlier answers have shown: ids by noun, and other texts by name. It is shared by all workers.
type known struct {
	mu    sync.Mutex
	ids   map[string][]int64
	texts map[string][]string
	ours  map[int64]bool // the users who send the requests
}

// isOurs says whether a user sends the requests.
func (k *known) isOurs(user int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ours[user]
}

func (k *known) learnOurs(user int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ours[user] = true
}

// enough bounds how many ids of a noun are remembered: the newest.
const enough = 400

// nouns are the kinds of ids in answers, by key.
var nouns = map[string]string{
	"event": "events", "parent": "events", "note": "notes", "commitment": "commitments", "request": "requests",
	"element": "elements", "organiser": "elements", "owner": "users", "user": "users", "administrator": "users",
	"eventcategory": "eventcategories", "feed": "feeds", "webhook": "webhooks", "events": "events", "notes": "notes",
	"commitments": "commitments", "requests": "requests", "elements": "elements", "users": "users",
	"administrators": "users", "eventcategories": "eventcategories", "feeds": "feeds", "webhooks": "webhooks",
	"item": "commitments",
}

// fields are the kinds of ids that fields and parameters of requests take.
var fields = map[string]string{
	"event_category_id": "eventcategories", "eventcategory_id": "eventcategories", "organiser_id": "elements",
	"element_id": "elements", "elements": "elements", "user_id": "users", "user": "users", "member": "elements",
	"feed": "feeds", "id": "",
}

// knownValue returns an id or text for a field, mostly, when there is one.
func (m maker) knownValue(name string) (any, bool) {
	if m.rng.IntN(8) == 0 {
		return nil, false
	}
	if noun := fields[name]; noun != "" {
		id, ok := m.known.id(m.rng, noun)
		if m.rng.IntN(2) == 0 {
			return fmt.Sprint(id), ok
		}
		return id, ok
	}
	return m.known.text(m.rng, name)
}

// id returns one of the ids of a noun.
func (k *known) id(rng *rand.Rand, noun string) (int64, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.ids[noun]
	if len(all) == 0 {
		return 1, false
	}
	if recent := all[max(0, len(all)-20):]; rng.IntN(2) == 0 { // older ones may be deleted
		return recent[rng.IntN(len(recent))], true
	}
	return all[rng.IntN(len(all))], true
}

// forget drops the id of a deleted record.
func (k *known) forget(noun string, id int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ids[noun] = slices.DeleteFunc(k.ids[noun], func(one int64) bool { return one == id })
}

func (k *known) learnID(noun string, id int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ids[noun] = newest(append(k.ids[noun], id))
}

// text returns one of the texts of a name, such as an ETag.
func (k *known) text(rng *rand.Rand, name string) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.texts[name]
	if len(all) == 0 {
		return "", false
	}
	return all[rng.IntN(len(all))], true
}

func (k *known) learnText(name, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if text != "" {
		k.texts[name] = newest(append(k.texts[name], text))
	}
}

// imported are the kinds of records of an import.
var imported = map[string]string{
	"staff": "elements", "pupils": "elements", "locations": "elements", "groups": "elements", "properties": "elements",
	"services": "elements", "subjects": "elements", "users": "users", "events": "events", "notes": "notes",
	"eventcategories": "eventcategories",
}

// learn remembers the ids and texts in the answer to a path.
func (k *known) learn(path string, body []byte) {
	var answer any
	if json.Unmarshal(body, &answer) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.walk("", answer)
	kind, _, _ := strings.Cut(strings.TrimPrefix(path, "/api/admin/import/"), "?")
	if reply, ok := answer.(node); ok && imported[kind] != "" {
		records, _ := reply["records"].([]any)
		for _, r := range records {
			if id, ok := r.(node)["id"].(float64); ok {
				k.ids[imported[kind]] = newest(append(k.ids[imported[kind]], int64(id)))
			}
		}
	}
}

func (k *known) walk(key string, value any) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			k.walk(key, one)
		}
	case node:
		if id, ok := v["id"].(float64); ok && nouns[key] != "" {
			k.ids[nouns[key]] = newest(append(k.ids[nouns[key]], int64(id)))
		}
		for name, inner := range v {
			k.walk(name, inner)
		}
	case string:
		switch key {
		case "email", "name", "key":
			k.texts[key] = newest(append(k.texts[key], v))
		case "next":
			k.texts["after"] = newest(append(k.texts["after"], v))
		case "path":
			k.texts["file"] = newest(append(k.texts["file"], strings.TrimPrefix(v, "/ical/")))
		}
	}
}

func newest[V any](all []V) []V {
	if len(all) > enough {
		return all[len(all)-enough/2:]
	}
	return all
}
