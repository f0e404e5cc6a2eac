package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// shared is two replicas of each service that takes part in the flows of elements.
var shared = servicetest.Share(servicetest.Options{Replicas: 2})

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

func system(t testing.TB) *servicetest.System {
	t.Helper()
	return shared.Get(t)
}

type fields = map[string]any

// school is what one test makes for itself: all its keys and names carry a mark of their own.
type school struct {
	*servicetest.Client
	mark     string
	category int64
}

func newSchool(t *testing.T) *school {
	t.Helper()
	return &school{Client: system(t).Admin(t), mark: strings.ToUpper(uuid.NewString()[:8])}
}

// add imports one record and returns its id. Its key, and its name where it has one, get the mark.
func (s *school) add(t *testing.T, kind, key string, record fields) int64 {
	t.Helper()
	key = s.mark + key
	all := fields{"key": key}
	for name, value := range record {
		if name == "name" {
			value = s.mark + " " + value.(string)
		}
		all[name] = value
	}
	return s.Import(t, kind, all)[key]
}

func (s *school) staff(t *testing.T, initials string) int64 {
	t.Helper()
	return s.add(t, "staff", initials, fields{"initials": initials, "forename": "Fore" + initials, "surname": s.mark})
}

func (s *school) pupil(t *testing.T, forename string) int64 {
	t.Helper()
	return s.add(t, "pupils", forename, fields{"forename": forename, "surname": s.mark})
}

func (s *school) group(t *testing.T, name string) int64 {
	t.Helper()
	return s.add(t, "groups", name, fields{"name": name})
}

// account makes a user who may use the API.
func (s *school) account(t *testing.T, key string, more fields) int64 {
	t.Helper()
	all := fields{"name": key, "email": strings.ToLower(s.mark+key) + "@school.example", "can_api": true}
	maps.Copy(all, more)
	return s.add(t, "users", key, all)
}

// user makes a user and signs in as it.
func (s *school) user(t *testing.T, key string, more fields) (id int64, client *servicetest.Client) {
	t.Helper()
	id = s.account(t, key, more)
	return id, s.renewed(t, id)
}

// renewed gives a user another uuid and signs in by it.
func (s *school) renewed(t *testing.T, user int64) *servicetest.Client {
	t.Helper()
	return system(t).Login(t, s.Post(t, path("/api/admin/users/%d/uuid", user), nil).Text(t, "uuid"))
}

// member makes the element a member of the group from first to last, open where "".
func (s *school) member(t *testing.T, group, member int64, first, last string) {
	t.Helper()
	line := fields{"element_id": member}
	if first != "" {
		line["first_day"] = first
	}
	if last != "" {
		line["last_day"] = last
	}
	s.Post(t, path("/api/admin/elements/%d/members", group), fields{"members": []fields{line}}).
		Must(t, http.StatusCreated)
}

// event books the elements from one clock time to another and returns the event's id. Both are as in set B.
func (s *school) event(t *testing.T, body, starts, ends string, elements ...int64) int64 {
	t.Helper()
	if s.category == 0 {
		s.category = s.Import(t, "eventcategories", fields{"key": s.mark, "name": s.mark, "busy": true})[s.mark]
	}
	ids := sequence.Map(elements, func(id int64) string { return fmt.Sprint(id) })
	a := s.Post(t, "/api/events", fields{"event": fields{"body": body, "event_category_id": s.category,
		"starts_at": starts, "ends_at": ends}, "elements": ids}).Must(t, http.StatusOK)
	if a.Has("failures") && a.Len(t, "failures") > 0 {
		t.Fatalf("create an event: %s", a.Body)
	}
	return a.Int(t, "event.id")
}

// listing is a listing of commitments as far as most tests look.
type listing struct {
	Status      string
	Commitments []struct {
		ID      int64
		Status  string
		Element *struct {
			ID   int64
			Name string
		}
		Event struct {
			ID               int64
			Body             string
			Staff, Locations *string
		}
	}
}

func (s *school) commitments(t *testing.T, element int64, query string) listing {
	t.Helper()
	var l listing
	s.Get(t, path("/api/elements/%d/commitments%s", element, query)).Must(t, http.StatusOK).Decode(t, &l)
	return l
}

// names are those of a search.
func (s *school) names(t *testing.T, parameter, value string) []string {
	t.Helper()
	a := s.Get(t, "/api/elements?"+parameter+"="+url.QueryEscape(value))
	var reply struct{ Elements []struct{ Name string } }
	a.Decode(t, &reply)
	names := []string{}
	for _, e := range reply.Elements {
		names = append(names, e.Name)
	}
	return names
}

// idsIn are the ids of the records in a list of an answer.
func idsIn(t *testing.T, a servicetest.Answer, list string) []int64 {
	t.Helper()
	var all []struct{ ID int64 }
	errortest.None(t, json.Unmarshal([]byte(a.At(t, list)), &all), "%s %s", a.Request, a.Body)
	return sequence.Map(all, func(one struct{ ID int64 }) int64 { return one.ID })
}

func path(format string, arguments ...any) string { return fmt.Sprintf(format, arguments...) }
