package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// head returns a session of a user who administers schools.
func (s *school) head(t *testing.T, schools ...int64) *servicetest.Client {
	t.Helper()
	made := s.Post(t, "/api/admin/users", fields{"user": fields{"name": "Head",
		"email":    uuid.NewString() + "@school.example",
		"admin_of": schools, "permissions": fields{"can_api": true}}}).Must(t, http.StatusCreated)
	return system(t).Login(t, made.Text(t, "user.uuid"))
}

// importInto imports one pupil into a school, "" for none that is named, and returns the answer.
func importInto(t *testing.T, c *servicetest.Client, school, key string) servicetest.Answer {
	t.Helper()
	return c.ImportBatch(t, "/api/admin/import/pupils?school_id="+school,
		fields{"key": key, "forename": "Ann", "surname": key})
}

// What an import makes begins in the school that it names, or the only one that its user administers.
func TestAdministration_AnImportBeginsInItsSchool(t *testing.T) {
	s := newTwoSchools(t)
	admin := s.Client
	all := func(of int64) []int64 {
		s.Client = admin
		return s.found(t, path("/api/admin/elements?school=%d&entity_type=Pupil", of))
	}
	one, both := s.head(t, s.first), s.head(t, s.first, s.second)
	for i, c := range []struct {
		by     *servicetest.Client
		school string
		code   int
		in     int64 // 0: none
	}{
		{one, "", 200, s.first},
		{one, path("%d", s.second), 403, 0},
		{one, path("%d", s.year), 400, 0},
		{one, path("%d", int64(1e15)), 400, 0},
		{one, "mine", 400, 0},
		{both, "", 400, 0},
		{both, path("%d", s.second), 200, s.second},
		{admin, "", 200, 0},
		{admin, path("%d", s.second), 200, s.second},
		{admin, path("%d", s.year), 400, 0},
	} {
		before := map[int64]int{s.first: len(all(s.first)), s.second: len(all(s.second))}
		a := importInto(t, c.by, c.school, s.mark+path("new%d", int64(i)))
		a.WantCode(t, c.code, "into %q", c.school)
		for _, of := range []int64{s.first, s.second} {
			more := 0
			if of == c.in {
				more = 1
			}
			valuetest.Same(t, len(all(of))-before[of], more, "into %q: more in the school %d", c.school, of)
		}
	}
}

// cutOff takes an element out of the first school, as if the process that made it had died before that write.
func (s twoSchools) cutOff(t *testing.T, id int64) {
	t.Helper()
	pair := bson.D{{Key: "group", Value: s.first}, {Key: "member", Value: id}}
	d, err := system(t).DB.Collection("memberships").DeleteOne(t.Context(), pair)
	valuetest.MustHold(t, err == nil && d.DeletedCount == 1, "%v, %v", d, err)
	system(t).Forget(t)
}

// inFirst says whether an element belongs to the first school.
func (s twoSchools) inFirst(t *testing.T, id int64) bool {
	t.Helper()
	return slices.Contains(s.found(t, path("/api/admin/elements?school=%d", s.first)), id)
}

// An import that was interrupted between the two is finished by the next one, in any process, unless the element has
// left since.
func TestAdministration_AnImportThatWasCutOffBeforeItsSchoolIsFinished(t *testing.T) {
	s := newTwoSchools(t)
	head := s.head(t, s.first)
	key := s.mark + "cut"
	row := fields{"key": key, "forename": "Cy", "surname": s.mark}
	importRow := func(at int) string {
		t.Helper()
		var b batch
		head.At(system(t).Replica("elements", at)).ImportBatch(t, "/api/admin/import/pupils", row).Decode(t, &b)
		return b.results()
	}
	valuetest.MustSame(t, importRow(0), "created")
	found := s.found(t, "/api/admin/elements?key=Pupil:"+key)
	s.cutOff(t, found[0])
	head = s.head(t, s.first)
	valuetest.Same(t, importRow(1), "unchanged", "the next import")
	valuetest.Holds(t, s.inFirst(t, found[0]), "it is still of no school")
	s.Delete(t, path("/api/admin/elements/%d/members/%d", s.first, found[0])).Must(t, http.StatusOK)
	if got := importRow(0); got != "failed" || s.inFirst(t, found[0]) {
		t.Errorf("once it has left: %s", got)
	}
}

// What a process made that died before the school was written is finished by the same call with the same uuid.
func TestAdministration_ACreationThatWasCutOffBeforeItsSchoolIsFinished(t *testing.T) {
	s := newTwoSchools(t)
	id := uuid.NewString()
	create := func(at int, school int64, name string) servicetest.Answer {
		return s.head(t, school).At(system(t).Replica("elements", at)).Post(t, "/api/admin/elements",
			fields{"element": fields{"entity_type": "Location", "name": s.mark + name, "uuid": id}})
	}
	made := create(0, s.first, "hall").Must(t, http.StatusCreated).Int(t, "element.id")
	create(0, s.first, "hall").WantCode(t, http.StatusUnprocessableEntity) // it is finished
	s.cutOff(t, made)
	create(1, s.first, "room").WantCode(t, http.StatusUnprocessableEntity)
	create(1, s.second, "hall").WantCode(t, http.StatusUnprocessableEntity)
	valuetest.Holds(t, !s.inFirst(t, made), "who makes something else finished it")
	valuetest.Same(t, create(1, s.first, "hall").Must(t, http.StatusCreated).Int(t, "element.id"), made, "repeated")
	valuetest.Holds(t, s.inFirst(t, made), "it is still of no school")
	s.Delete(t, path("/api/admin/elements/%d/members/%d", s.first, made)).Must(t, http.StatusOK)
	create(0, s.first, "hall").WantCode(t, http.StatusUnprocessableEntity)
	valuetest.Holds(t, !s.inFirst(t, made), "it came back after it had left")
}

// Without a uuid in the request no one could finish such a creation, nor retire what it had made. Now its administrator
// finds the element by its name, and any call that names it completes it.
func TestAdministration_ACreationThatWasCutOffIsFinishedByWhoNamesIt(t *testing.T) {
	s := newTwoSchools(t)
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		head := s.head(t, s.first)
		name := s.mark + method
		made := head.Post(t, "/api/admin/elements", fields{"element": fields{"entity_type": "Location", "name": name}}).
			Must(t, http.StatusCreated).Int(t, "element.id")
		s.cutOff(t, made)
		head, other := s.head(t, s.first), s.head(t, s.second)
		valuetest.List(t, idsIn(t, head.Get(t, "/api/elements?name="+name), "elements"), []int64{made}, "found by name")
		element := path("/api/admin/elements/%d", made)
		var body any
		if method == "PATCH" {
			body = fields{"element": fields{"short_name": "x"}}
		}
		other.Do(t, method, element, body).WantCode(t, http.StatusForbidden, "another school's: %s", method)
		valuetest.Holds(t, !s.inFirst(t, made), "%s: another school's administrator finished it", method)
		head.Do(t, method, element, body).WantCode(t, http.StatusOK, method)
		valuetest.Holds(t, s.inFirst(t, made), "%s: it is still of no school", method)
		s.Delete(t, path("/api/admin/elements/%d/members/%d", s.first, made)).Must(t, http.StatusOK)
		head.Do(t, method, element, body).WantCode(t, http.StatusForbidden, "%s, once it has left", method)
	}
}

// The export of memberships shows an administrator of a school those of its groups with its members.
func TestAdministration_AnExportOfMembershipsIsOfTheSchool(t *testing.T) {
	s := newTwoSchools(t)
	head := s.head(t, s.first)
	s.member(t, s.year, s.other, "2020-01-01", "2020-12-31")
	var got [][2]int64
	for next := path("from_id=%d", s.firstMembership(t)); next != ""; {
		var reply struct {
			Memberships []struct {
				GroupID  int64 `json:"group_id"`
				MemberID int64 `json:"member_id"`
			}
			Next *string
		}
		head.Get(t, "/api/admin/export/memberships?limit=2&"+next).Must(t, 200).Decode(t, &reply)
		for _, m := range reply.Memberships {
			got = append(got, [2]int64{m.GroupID, m.MemberID})
		}
		if next = ""; reply.Next != nil {
			next = path("from_id=%d&after=%s", s.firstMembership(t), *reply.Next)
		}
	}
	valuetest.List(t, got, [][2]int64{{s.first, s.year}, {s.year, s.ann}})
}

// firstMembership is the id of the school's first membership.
func (s twoSchools) firstMembership(t *testing.T) int64 {
	t.Helper()
	var m struct {
		ID int64 `bson:"_id"`
	}
	err := system(t).DB.Collection("memberships").FindOne(t.Context(),
		bson.D{{Key: "group", Value: s.first}, {Key: "member", Value: s.year}}).Decode(&m)
	errortest.None(t, err)
	return m.ID
}
