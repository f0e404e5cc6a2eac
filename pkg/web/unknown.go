package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
)

const (
	headerWarning = "Warning"
	headerPrefer  = "Prefer"
	headerApplied = "Preference-Applied"
	strict        = "handling=strict"

	// maxNamed and maxName bound the number of unknown names in an answer, and the bytes of each.
	maxNamed = 8
	maxName  = 40

	// A value of a parameter is checked as a whole.
	wholeBegins, wholeEnds = "^(?:", ")$"
)

// vocabulary is what a route reads: the parameters of the query, and the fields of the body by their paths
// ("event.body").
type vocabulary struct {
	query, fields map[string]bool
	within        map[string]bool           // fields that have fields
	values        map[string]*regexp.Regexp // that some of them may have
	ifMatch       bool
	places        map[string]string // of each safety word that the route takes
}

func vocabularyOf(r Route) vocabulary {
	v := vocabulary{
		query: map[string]bool{}, fields: map[string]bool{}, within: map[string]bool{},
		values: map[string]*regexp.Regexp{}, ifMatch: r.Reads.IfMatch,
	}
	for name := range strings.FieldsSeq(r.Reads.Query) {
		v.query[name] = true
	}
	for path := range strings.FieldsSeq(r.Reads.Fields) {
		v.fields[path] = true
		for at := strings.LastIndexByte(path, '.'); at >= 0; at = strings.LastIndexByte(path, '.') {
			path = path[:at]
			v.fields[path], v.within[path] = true, true
		}
	}
	for name, values := range r.Reads.Values {
		v.values[name] = regexp.MustCompile(wholeBegins + values + wholeEnds)
	}
	v.places = v.placesOf()
	return v
}

// readWords refuses safety words that would be ignored, and names other unknown parameters and fields of a request, and
// parameters with an invalid value, in a Warning header: they do nothing, and the sender may believe that they did. A
// request with handling=strict (RFC 7240) is refused instead. Lines of an import, and a body that is not a JSON object,
// are only checked for safety words.
func readWords(r Route) fiber.Handler {
	v := vocabularyOf(r)
	reads := r.Body == JSON && slices.Contains([]string{"POST", "PUT", "PATCH"}, r.Method)
	return func(c *fiber.Ctx) error {
		isStrict := prefersStrict(c)
		if isStrict {
			c.Set(headerApplied, strict)
		}
		if err := v.checkWords(c, r); err != nil {
			return err
		}
		var found unknown
		for key, value := range c.Request().URI().QueryArgs().All() {
			switch name := string(key); {
			case !v.query[name]:
				found.add(&found.parameters, name)
			case len(value) > 0 && !v.allows(name, string(value)):
				found.add(&found.invalid, name)
			}
		}
		if reads {
			if o, err := ParseObject(c.Request().Body()); err == nil {
				c.Locals(bodyKey, o)
				v.check(o, "", &found)
			}
		}
		if found.more+found.named() == 0 {
			return c.Next()
		}
		if isStrict {
			return problem.New(problem.Malformed, "%s", found.String())
		}
		c.Set(headerWarning, fmt.Sprintf(`299 belfry "%s"`, found.String()))
		return c.Next()
	}
}

// check adds the unknown fields of an object and of objects in it; path ends with a dot unless it is empty.
func (v vocabulary) check(o Object, path string, found *unknown) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		at := path + name
		switch {
		case !v.fields[at]:
			found.add(&found.fields, at)
		case v.within[at]:
			for _, inner := range objectsIn(o[name]) {
				v.check(inner, at+".", found)
			}
		}
	}
}

// objectsIn returns the value if it is an object, or the objects in it if it is an array.
func objectsIn(value json.RawMessage) []Object {
	if o, err := ParseObject(value); err == nil {
		return []Object{o}
	}
	var all []Object
	if json.Unmarshal(value, &all) != nil {
		return nil
	}
	return all
}

// unknown has the names to report.
type unknown struct {
	parameters, fields []string
	invalid            []string // parameters with a value that the document does not allow
	more               int      // without room in the header
}

func (u *unknown) named() int { return len(u.parameters) + len(u.fields) + len(u.invalid) }

// add takes a name, once.
func (u *unknown) add(names *[]string, name string) {
	name = plain(name)
	switch {
	case slices.Contains(*names, name):
	case u.named() == maxNamed:
		u.more++
	default:
		*names = append(*names, name)
	}
}

// plain is a name that any header can have: short, and of visible ASCII without quotes.
func plain(name string) string {
	if name == "" {
		return "?"
	}
	text, cut := []byte(name), ""
	if len(text) > maxName {
		text, cut = text[:maxName], "..."
	}
	for i, b := range text {
		if b <= ' ' || b >= 0x7f || b == '"' || b == '\\' {
			text[i] = '?'
		}
	}
	return string(text) + cut
}

// String is such as "unknown: begin_date in the query; event.titel in the body; invalid: include in the query".
func (u *unknown) String() string {
	var places, all []string
	if len(u.parameters) > 0 {
		places = append(places, strings.Join(u.parameters, ", ")+" in the query")
	}
	if len(u.fields) > 0 {
		places = append(places, strings.Join(u.fields, ", ")+" in the body")
	}
	if len(places) > 0 {
		all = append(all, "unknown: "+strings.Join(places, "; "))
	}
	if len(u.invalid) > 0 {
		all = append(all, "invalid: "+strings.Join(u.invalid, ", ")+" in the query")
	}
	if u.more > 0 {
		all = append(all, fmt.Sprintf("and %d more", u.more))
	}
	return strings.Join(all, "; ")
}

// prefersStrict says whether the first handling that a request prefers is strict (RFC 7240).
func prefersStrict(c *fiber.Ctx) bool {
	for _, line := range c.Request().Header.PeekAll(headerPrefer) {
		for preference := range strings.SplitSeq(string(line), ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(name), "handling") {
				return strings.Trim(strings.TrimSpace(value), `"`) == "strict"
			}
		}
	}
	return false
}
