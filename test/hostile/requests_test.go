package hostile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// request is a request to send.
type request struct {
	operation    operation
	method, path string // path with the query
	body         string
	hasBody      bool
	headers      []string // name, value, …
	ids          map[string]int64
	spoilt       bool // something in it is meant to be wrong
}

func (r request) String() string {
	body := r.body
	if len(body) > 600 {
		body = fmt.Sprintf("%s… (%d bytes)", body[:600], len(body))
	}
	path := r.path
	if len(path) > 600 {
		path = path[:600] + "…"
	}
	return fmt.Sprintf("%s %s %q\n%s", r.method, path, r.headers, body)
}

// make makes a request of an operation. Half of them are valid by the document; the others are spoilt in one or more
// places.
func (m maker) make(o operation) request {
	r := request{operation: o, method: o.method, ids: map[string]int64{}}
	query := url.Values{}
	path := o.path
	for _, p := range o.parameters {
		name, _ := p["name"].(string)
		switch p["in"] {
		case "path":
			text, id := m.pathValue(o, name, p["schema"])
			r.ids[name] = id
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(text))
		case "query":
			if p["required"] == true || m.rng.IntN(2) == 0 {
				query.Set(name, plain(m.value(p["schema"], name, 0)))
			}
		case "header":
			if m.rng.IntN(6) == 0 {
				r.headers = append(r.headers, name, m.header(name))
			}
		}
	}
	r.path = path
	if len(query) > 0 {
		r.path += "?" + query.Encode()
	}
	if o.body != nil {
		m.fill(&r)
	}
	if m.rng.IntN(2) == 0 {
		m.spoil(&r)
	}
	return r
}

// fill makes the body of a request.
func (m maker) fill(r *request) {
	r.hasBody = true
	if r.operation.media == "application/x-ndjson" {
		r.headers = append(r.headers, "Content-Type", r.operation.media)
		for range 1 + m.rng.IntN(3) {
			value := m.value(r.operation.body, "", 0)
			if record, ok := value.(node); ok {
				record["key"] = fmt.Sprint(m.rng.IntN(100))
			}
			r.body += encode(value) + "\n"
		}
		return
	}
	value := m.value(r.operation.body, "", 0)
	if r.operation.example != nil && m.rng.IntN(3) > 0 {
		value = m.like(r.operation.example, "")
	}
	if m.rng.IntN(4) == 0 {
		value = m.spoilValue(value)
	}
	r.body = encode(value)
}

// like returns a copy of an example with known ids.
func (m maker) like(example any, name string) any {
	switch v := example.(type) {
	case node:
		made := node{}
		for _, key := range sorted(v) {
			made[key] = m.like(v[key], key)
		}
		return made
	case []any:
		return sequence.Map(v, func(one any) any { return m.like(one, name) })
	}
	if fields[name] != "" {
		if known, ok := m.knownValue(name); ok {
			return known
		}
	}
	if name == "url" {
		return "http://127.0.0.1:9/"
	}
	return example
}

// pathValue returns the value of a parameter of the path, and the id that it is.
func (m maker) pathValue(o operation, name string, schema any) (string, int64) {
	switch name {
	case "session":
		return "1", 1
	case "file":
		text, _ := m.known.text(m.rng, "file")
		return text, 0
	}
	id, ok := m.known.id(m.rng, m.noun(o, name))
	if !ok {
		return fmt.Sprint(m.value(schema, "", 0)), 0
	}
	return fmt.Sprint(id), id
}

// noun returns the kind of id of a path parameter: mostly the segment before it.
func (m maker) noun(o operation, name string) string {
	if noun := fields[name]; noun != "" {
		return noun
	}
	before, _, _ := strings.Cut(o.path, "/{"+name+"}")
	return before[strings.LastIndex(before, "/")+1:]
}

// header returns a value of a header that the document names.
func (m maker) header(name string) string {
	if name == "If-Match" || name == "If-None-Match" {
		if tag, ok := m.known.text(m.rng, "ETag"); ok && m.rng.IntN(4) > 0 {
			return tag
		}
	}
	return []string{"a", "k" + fmt.Sprint(m.rng.IntN(50)), "*", `"a", W/"b"`, `"`, strings.Repeat("k", 255),
		strings.Repeat("k", 256), "a b", "é"}[m.rng.IntN(9)]
}

// plain returns a value as a query has it.
func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprint(value)
}

// encode returns a value as JSON, or a broken object when it cannot be JSON.
func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "{"
	}
	return string(text)
}

// spoil makes a request wrong.
func (m maker) spoil(r *request) {
	r.spoilt = true
	for range 1 + m.rng.IntN(2) {
		switch m.rng.IntN(7) {
		case 0:
			m.spoilPath(r)
		case 1:
			m.spoilQuery(r)
		case 2:
			r.headers = append(r.headers, spoilHeaders[m.rng.IntN(len(spoilHeaders))]...)
		case 3:
			r.method = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "HEAD",
				"get"}[m.rng.IntN(10)]
		default:
			m.spoilBody(r)
		}
	}
}

var wrongIDs = []string{
	"0", "-1", "+1", "01", "1.0", "1e3", "9223372036854775807", "9223372036854775808", "99999999999999999999999999",
	"abc", "%00", "1%2F2", "%2e%2e", "1%20", "%F0%9F%9A%8C", "%FF", "1;2", "1,2", "١", "null", "%22", "{}",
	"1%0d%0aX:y", "$ne",
}

func (m maker) spoilPath(r *request) {
	path, query, _ := strings.Cut(r.path, "?")
	steps := strings.Split(path, "/")
	i := m.rng.IntN(len(steps))
	switch m.rng.IntN(5) {
	case 0:
		path += "/"
	case 1:
		path = strings.ToUpper(path)
	case 2:
		steps[len(steps)-1] = wrongIDs[m.rng.IntN(len(wrongIDs))]
		path = strings.Join(steps, "/")
	case 3:
		steps[max(1, i)] = wrongIDs[m.rng.IntN(len(wrongIDs))]
		path = strings.Join(steps, "/")
	case 4:
		path += "/" + strings.Repeat("x", m.rng.IntN(3000))
	}
	r.path = path
	if query != "" {
		r.path += "?" + query
	}
}

func (m maker) spoilQuery(r *request) {
	path, query, _ := strings.Cut(r.path, "?")
	more := []string{
		"limit=0", "limit=1001", "limit=-1", "limit=1e9", "limit=9999999999999999999", "limit=%00", "after=x",
		"after=-1", "start_date=2019-02-30", "end_date=0000-00-00", "start_date=9999-12-31&end_date=0001-01-01",
		"name=%FF%FE", "namelike=%", "namelike=" + strings.Repeat("a", 3000), "name[]=a", "name=a&name=b", "status=x",
		"include=x,y,staff", "uuid=a", "elements=" + strings.Repeat("1,", 60) + "1", "elements=1,,2", "minutes=0",
		"since=x", "record=%24where", "&&&", "=", "%", "start_date=2019-01-01&end_date=2300-01-01", "on=2019-13-01",
		"nested=maybe", "from=9999-12-31", "dry_run=2", "email=" + strings.Repeat("%F0%9F%9A%8C", 100),
	}[m.rng.IntN(30)]
	r.path = path + "?" + strings.Trim(query+"&"+more, "&")
}

var spoilHeaders = [][]string{
	{"Content-Type", "text/plain"}, {"Content-Type", "application/json; charset=utf-16"},
	{"Content-Type", "multipart/form-data; boundary=x"}, {"Content-Type", "application/x-www-form-urlencoded"},
	{"Content-Type", ";"}, {"Content-Encoding", "gzip"}, {"Accept", "text/html"}, {"Accept", "*/*;q=x"},
	{"Accept-Encoding", "br, gzip;q=0"}, {"Origin", "https://elsewhere.example"}, {"Origin", "null"},
	{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "none"}, {"X-HTTP-Method-Override", "DELETE"},
	{"If-Match", `"x"`}, {"If-Match", strings.Repeat(`"x",`, 500)}, {"If-None-Match", "*"}, {"If-None-Match", "W/"},
	{"Idempotency-Key", "same"}, {"Idempotency-Key", ""}, {"Idempotency-Key", strings.Repeat("x", 300)},
	{"Range", "bytes=0-1"}, {"Cookie", "scheduling_session=x"}, {"Cookie", strings.Repeat("a=b; ", 200)},
	{"Authorization", "Bearer x"}, {"X-Request-Id", "a\tb"}, {"X-Forwarded-For", "x, 1.2.3.4, ::1"},
	{"X-Forwarded-Proto", "javascript"}, {"Forwarded", "for=_x"}, {"Traceparent", "00-x"},
	{"Tracestate", strings.Repeat("x=y,", 100)}, {"Content-Language", "\xff"},
	{"User-Agent", strings.Repeat("x", 2000)}, {"If-Modified-Since", "never"}, {"X-Forwarded-Host", "evil.example"},
}

// spoilBody makes a body invalid, or adds one to a call that takes none.
func (m maker) spoilBody(r *request) {
	r.hasBody = true
	i := 0
	if len(r.body) > 0 {
		i = m.rng.IntN(len(r.body))
	}
	switch m.rng.IntN(14) {
	case 0:
		r.body = r.body[:i]
	case 1:
		r.body += "x"
	case 2:
		r.body += r.body
	case 3:
		r.body = ""
	case 4:
		r.body = "\ufeff" + r.body
	case 5:
		r.body = strings.Repeat("[", 20000)
	case 6:
		r.body = strings.Repeat(`{"event":`, 5000) + "1" + strings.Repeat("}", 5000)
	case 7:
		r.body = r.body[:i] + "\xff" + r.body[i:]
	case 8:
		r.body = r.body[:i] + "\x00" + r.body[i:]
	case 9:
		r.body = strings.Replace(r.body, `"`, `"\ud800`, 1+m.rng.IntN(3))
	case 10:
		r.body = []string{"null", "true", "1", `"x"`, "[]", "{}", "-0", "1e999", `{"":{}}`, " ", "{}{}"}[m.rng.IntN(11)]
	case 11:
		r.body = strings.Replace(r.body, "{", `{"event":null,"event":{"body":"twice"},"__proto__":{"admin":true},`, 1)
	case 12:
		r.body = strings.Replace(r.body, ":", ":"+strings.Repeat(" ", 10000), 1)
	case 13:
		r.body = `{"note":{"contents":` + encode(strings.Repeat([]string{">", "<", "[", "*a_", "🚌",
			"\n- "}[m.rng.IntN(6)], 20000)) + `}}`
	}
}

// spoilValue puts something of another kind in the place of one value inside.
func (m maker) spoilValue(value any) any {
	switch v := value.(type) {
	case node:
		keys := sorted(v)
		if len(keys) == 0 {
			return wrongValue(m.rng)
		}
		key := keys[m.rng.IntN(len(keys))]
		if m.rng.IntN(6) == 0 {
			delete(v, key)
			return v
		}
		v[key] = m.spoilValue(v[key])
		return v
	case []any:
		if len(v) > 0 && m.rng.IntN(2) == 0 {
			i := m.rng.IntN(len(v))
			v[i] = m.spoilValue(v[i])
			return v
		}
	}
	return wrongValue(m.rng)
}

func wrongValue(rng *rand.Rand) any {
	switch rng.IntN(16) {
	case 0:
		return strings.Repeat("x", 70000)
	case 1:
		return strings.Repeat("🚌", 1100)
	case 2:
		many := make([]any, 1200)
		for i := range many {
			many[i] = i
		}
		return many
	case 3:
		return json.RawMessage(strings.Repeat("[", 200) + strings.Repeat("]", 200))
	case 4:
		return json.RawMessage([]string{"1e400", "-1e400", "0.1", "1E5", "-0", "9223372036854775808",
			"123456789012345678901234567890"}[rng.IntN(7)])
	}
	return []any{nil, true, false, 0, -1, 1.5, int64(1) << 62, "", " ", "a\x00b", []any{}, []any{nil}, node{},
		node{"$gt": ""},
		node{"id": 1}, "\u2028", "-1", "0", "true"}[rng.IntN(19)]
}

// mayHaveBody says whether net/http's client sends a body with that method.
func mayHaveBody(method string) bool { return method != http.MethodTrace && method != http.MethodHead }
