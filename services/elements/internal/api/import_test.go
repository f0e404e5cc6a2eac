package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// batch is the answer to an import.
type batch struct {
	Status                              string
	Created, Updated, Unchanged, Failed int
	Records                             []struct {
		Index  int
		Key    string
		Result string
		ID     int64
		Errors map[string][]string
	}
}

func (s *school) batch(t *testing.T, kind string, records ...fields) batch {
	t.Helper()
	a := s.ImportBatch(t, "/api/admin/import/"+kind, records...)
	var b batch
	a.Decode(t, &b)
	if a.Code != http.StatusOK || b.Status != "OK" || len(b.Records) != len(records) {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	return b
}

func (b batch) results() string {
	var all []string
	for _, r := range b.Records {
		all = append(all, r.Result)
	}
	return strings.Join(all, " ")
}

func TestImport_ARecordIsTheWholeTruth(t *testing.T) {
	s := newSchool(t)
	ann := fields{"key": s.mark + "1", "forename": "Ann", "surname": s.mark, "tutor_group": "9A"}
	id := s.batch(t, "pupils", ann).Records[0].ID
	if got := s.record(t, id); got.Name != "Ann "+s.mark+" (9A)" || got.Key != "Pupil:"+s.mark+"1" {
		t.Errorf("%+v", got)
	}
	delete(ann, "tutor_group")
	s.batch(t, "pupils", ann)
	if got := s.record(t, id); got.Name != "Ann "+s.mark || got.TutorGroup != "" {
		t.Errorf("%+v", got)
	}
}

func TestImport_BringsADeletedElementBack(t *testing.T) {
	s := newSchool(t)
	row := fields{"key": s.mark, "name": s.mark + " Maths"}
	id := s.batch(t, "subjects", row).Records[0].ID
	s.Delete(t, path("/api/admin/elements/%d", id))
	if got := s.batch(t, "subjects", row); got.results() != "updated" || got.Records[0].ID != id ||
		!s.record(t, id).Current {
		t.Errorf("%+v", got)
	}
	valuetest.Len(t, s.names(t, "namelike", s.mark), 1, "not found")
}

func TestImport_KeepsAdministratorsWhenTheElementChanges(t *testing.T) {
	s := newSchool(t)
	row := fields{"key": s.mark, "name": s.mark + " Calendar"}
	id := s.batch(t, "properties", row).Records[0].ID
	user := s.Import(t, "users", fields{"key": s.mark, "name": "Una",
		"email": strings.ToLower(s.mark) + "@school.org"})[s.mark]
	s.Put(t, path("/api/admin/elements/%d/administrators/%d", id, user), nil)
	row["make_public"] = true
	s.batch(t, "properties", row)
	valuetest.Holds(t, s.record(t, id).Controlled, "the administrators are lost")
}

func TestImport_ADryRunWritesNothing(t *testing.T) {
	s := newSchool(t)
	known := fields{"key": s.mark + "1", "name": s.mark + " a"}
	id := s.batch(t, "groups", known).Records[0].ID
	known["name"] = s.mark + " b"
	b := s.batch(t, "groups?dry_run=true", known, fields{"key": s.mark + "2", "name": s.mark + " c"},
		fields{"key": s.mark + "3"})
	if b.results() != "updated created failed" || b.Records[0].ID != id || b.Records[1].ID != 0 {
		t.Errorf("%+v", b)
	}
	valuetest.List(t, s.names(t, "namelike", s.mark), []string{s.mark + " a"})
	b = s.batch(t, "memberships?dry_run=true",
		fields{"key": path("Group:%s2/Pupil:%s9", s.mark, s.mark), "group": s.mark + "2",
			"member": "Pupil:" + s.mark + "9", "spans": []fields{{}}})
	valuetest.Holds(t, b.results() == "created" && b.Records[0].ID == 0, "references of the same bundle: %+v", b)
	b = s.batch(t, "administrators?dry_run=true",
		fields{"key": "Group:" + s.mark + "2/x", "element": "Group:" + s.mark + "2", "user": "x"})
	valuetest.Same(t, b.results(), "created", "references of the same bundle: %+v", b)
}

func TestImport_Memberships(t *testing.T) {
	s := newSchool(t)
	set, ann := s.group(t, "set"), s.pupil(t, "Ann")
	row := func(group, member string, spans ...fields) fields {
		return fields{"key": "Group:" + group + "/" + member, "group": group, "member": member, "spans": spans}
	}
	group, member := s.mark+"set", "Pupil:"+s.mark+"Ann"
	good := row(group, member, fields{"first_day": "2026-05-06", "last_day": "2026-05-10"},
		fields{"first_day": nil, "last_day": "2026-05-07"})
	b := s.batch(t, "memberships", good,
		row(group, "Group:"+group, fields{}), row(group, "Pupil:"+s.mark, fields{}), row(s.mark, member, fields{}),
		row(group, "Staff:1"),
		row(group, "Staff:2", fields{"first_day": "2026-05-06", "last_day": "2026-05-05"}),
		row(group, "Staff:3", fields{"first_day": "May"}),
		fields{"key": "x", "group": group, "member": member, "spans": []fields{{}}})
	valuetest.Same(t, b.results(), "created"+strings.Repeat(" failed", 7), "%+v", b)
	for i, field := range map[int]string{1: "member", 2: "member", 3: "group", 4: "spans", 5: "spans", 6: "spans",
		7: "key"} {
		valuetest.Same(t, len(b.Records[i].Errors[field]), 1, "record %d: %v", i, b.Records[i].Errors)
	}
	valuetest.Same(t, s.members(t, set, ""), path("%d ..2026-05-10", ann))
	valuetest.Same(t, s.batch(t, "memberships", good).results(), "unchanged")
	valuetest.Same(t, s.batch(t, "memberships",
		row(group, member, fields{"first_day": "2026-09-01"})).results(),
		"updated")
	valuetest.Same(t, s.members(t, set, ""), path("%d 2026-09-01..", ann), "the record is the pair's whole truth")
	s.Delete(t, path("/api/admin/elements/%d/members/%d?from=2026-09-01", set, ann))
	if got := s.batch(t, "memberships",
		row(group, member, fields{"first_day": "2026-09-01"})).results(); got != "unchanged" || s.members(t, set,
		"") != "" {
		t.Errorf("taken back by hand: %s, %s", got, s.members(t, set, ""))
	}
}

// A source that tells only what has changed names each part of a membership; the rest of the pair stays.
func TestImport_ChangesOfAMembershipBySource(t *testing.T) {
	s := newSchool(t)
	set, ann := s.group(t, "set"), s.pupil(t, "Ann")
	group, member := s.mark+"set", "Pupil:"+s.mark+"Ann"
	row := func(part string, list ...fields) fields {
		return fields{"key": "Group:" + group + "/" + member, "group": group, "member": member, part: list}
	}
	autumn := fields{"source": "e1", "first_day": "2026-09-01", "last_day": "2026-12-31"}
	spring := fields{"source": "e2", "first_day": "2027-01-01", "last_day": "2027-07-15"}
	whole := row("spans", autumn, spring)
	for i, step := range []struct {
		row          fields
		result, days string // of the set, each of Ann's runs
	}{
		{row("changes", fields{"source": "e9", "ends_before": "2026-11-15"}), "unchanged", ""}, // of no source
		{whole, "created", "2026-09-01..2027-07-15"},
		{row("changes", autumn), "unchanged", "2026-09-01..2027-07-15"},
		{row("changes", fields{"source": "e1", "first_day": "2026-09-08", "last_day": "2026-11-10"}), "updated",
			"2026-09-08..2026-11-10 2027-01-01..2027-07-15"},
		{row("changes", fields{"source": "e1", "first_day": "2026-09-08", "last_day": "2026-11-10"}), "unchanged",
			"2026-09-08..2026-11-10 2027-01-01..2027-07-15"},
		{row("changes", fields{"source": "e2", "ends_before": "2027-02-01"}), "updated",
			"2026-09-08..2026-11-10 2027-01-01..2027-01-31"},
		{row("changes", fields{"source": "e2", "ends_before": "2027-02-01"}), "unchanged",
			"2026-09-08..2026-11-10 2027-01-01..2027-01-31"},
		{row("changes", fields{"source": "e3", "first_day": "2027-03-01"},
			fields{"source": "e1", "ends_before": "2026-09-01"}), "updated", "2027-01-01..2027-01-31 2027-03-01.."},
		{row("changes", fields{"ends_before": "2027-03-11"}), "updated",
			"2027-01-01..2027-01-31 2027-03-01..2027-03-10"},
		{whole, "updated", "2026-09-01..2027-07-15"}, // is the truth again
		{whole, "unchanged", "2026-09-01..2027-07-15"},
	} {
		want := sequence.Map(strings.Fields(step.days), func(run string) string { return path("%d %s", ann, run) })
		if b := s.batch(t, "memberships", step.row); b.results() != step.result ||
			s.members(t, set, "") != strings.Join(want, ", ") {
			t.Fatalf("step %d: %s, %q: %+v", i, b.results(), s.members(t, set, ""), b)
		}
	}
	t.Run("by hand", func(t *testing.T) {
		s.Delete(t, path("/api/admin/elements/%d/members/%d?from=2027-02-01", set, ann))
		s.Post(t, path("/api/admin/elements/%d/members", set),
			fields{"members": []fields{{"element_id": ann, "first_day": "2027-08-01", "last_day": "2027-08-03"}}})
		b := s.batch(t, "memberships", row("changes", fields{"source": "e1", "ends_before": "2026-12-01"}))
		if got, want := s.members(t, set,
			""), path("%d 2026-09-01..2026-11-30, %d 2027-01-01..2027-01-31, %d 2027-08-01..2027-08-03", ann, ann,
			ann); b.results() != "updated" || got != want {
			t.Errorf("%s, %q, not %q", b.results(), got, want)
		}
	})
	t.Run("faults", func(t *testing.T) {
		both := row("changes", autumn)
		both["spans"] = []fields{spring}
		for name, bad := range map[string]fields{
			"changes and spans": both,
			"no source":         row("changes", fields{"first_day": "2026-09-01"}),
			"reversed": row("changes",
				fields{"source": "e1", "first_day": "2026-09-02", "last_day": "2026-09-01"}),
			"no day": row("changes", fields{"source": "e1", "ends_before": "May"}),
		} {
			if b := s.batch(t, "memberships", bad); b.results() != "failed" ||
				len(b.Records[0].Errors["changes"]) != 1 {
				t.Errorf("%s: %+v", name, b)
			}
		}
	})
}

// Days that were added by hand, and that an import had given already, ended with those of the import.
func TestImport_DaysByHandOutlastThoseOfASource(t *testing.T) {
	s := newSchool(t)
	set, ann := s.group(t, "set"), s.pupil(t, "Ann")
	group, member := s.mark+"set", "Pupil:"+s.mark+"Ann"
	year := func(last string) fields {
		return fields{"key": "Group:" + group + "/" + member, "group": group, "member": member,
			"changes": []fields{{"source": "e1", "first_day": "2026-09-01", "last_day": last}}}
	}
	s.batch(t, "memberships", year("2027-07-31"))
	for _, first := range []string{"2027-01-01", "2027-01-01", "2027-02-01"} {
		s.Post(t, path("/api/admin/elements/%d/members", set), fields{"members": []fields{
			{"element_id": ann, "first_day": first, "last_day": "2027-07-31"}}}).Must(t, http.StatusCreated)
	}
	valuetest.Same(t, s.batch(t, "memberships", year("2026-11-30")).results(), "updated")
	valuetest.Same(t, s.members(t, set, ""), path("%d 2026-09-01..2026-11-30, %d 2027-01-01..2027-07-31", ann, ann))
}

func TestImport_Administrators(t *testing.T) {
	s := newSchool(t)
	calendar := s.add(t, "properties", "C", fields{"name": "Calendar"})
	users := s.Import(t, "users", fields{"key": s.mark + "1", "name": "Una", "email": "u" + s.mark + "@school.org"},
		fields{"key": s.mark + "2", "name": "Vic", "email": "v" + s.mark + "@school.org"})
	row := func(user string) fields {
		return fields{"key": "Property:" + s.mark + "C/" + user, "element": "Property:" + s.mark + "C", "user": user}
	}
	una, vic := row(s.mark+"1"), row(s.mark+"2")
	b := s.batch(t, "administrators", una, vic, row("no one"),
		fields{"key": "Property:x/1", "element": "Property:x", "user": "1"}, fields{"key": "x"})
	if b.results() != "created created failed failed failed" || b.Records[0].ID != calendar ||
		len(b.Records[2].Errors["user"]) != 1 || len(b.Records[3].Errors["element"]) != 1 {
		t.Errorf("%+v", b)
	}
	s.Delete(t, path("/api/admin/elements/%d/administrators/%d", calendar, users[s.mark+"1"])) // by hand
	valuetest.Same(t, s.batch(t, "administrators", una, vic).results(), "unchanged unchanged")
	left := s.Get(t, path("/api/admin/elements/%d/administrators", calendar))
	equalIDs(t, "administrators", idsIn(t, left, "administrators"), users[s.mark+"2"])
}

// A membership was as long as its imports, or the calls that added to it, made it.
func TestImport_AMembershipHasABound(t *testing.T) {
	s := newSchool(t)
	group, key := s.group(t, "set"), s.mark+"ann"
	ann := s.add(t, "pupils", "ann", fields{"forename": "Ann", "surname": s.mark})
	house := s.mark + "house"
	houseID := s.Import(t, "groups", fields{"key": house, "name": house})[house]
	runs := func(from, n int) []fields {
		all := make([]fields, n)
		for i := range all {
			day := time.Date(2020, 1, 1+2*(from+i), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			all[i] = fields{"first_day": day, "last_day": day, "source": fmt.Sprint(from + i)}
		}
		return all
	}
	row := func(field string, value any) fields {
		return fields{"key": "Group:" + house + "/Pupil:" + key, "group": house, "member": "Pupil:" + key, field: value}
	}
	imports := func(result, fault string, row fields) {
		t.Helper()
		for field := range row {
			if field != "spans" && field != "changes" {
				continue
			}
			got := s.batch(t, "memberships", row).Records[0]
			if got.Result != result || fault != "" && !slices.Equal(got.Errors[field], []string{fault}) {
				t.Errorf("%+v, not %s %s", got, result, fault)
			}
		}
	}
	imports("failed", "has more than 1000 entries", row("spans", runs(0, 1001)))
	imports("failed", "has more than 1000 entries", row("changes", runs(0, 1001)))
	imports("failed", "source is too long (maximum is 255 characters)",
		row("spans", []fields{{"source": strings.Repeat("x", 256)}}))
	imports("failed", "source is too long (maximum is 255 characters)",
		row("changes", []fields{{"source": strings.Repeat("x", 256)}}))
	imports("created", "", row("spans", runs(0, 999)))
	imports("updated", "", row("changes", runs(999, 1)))
	imports("failed", "would leave more than 1000 runs of days", row("changes", runs(1000, 1)))

	members := func(from, n int) fields {
		all := runs(from, n)
		for _, run := range all {
			run["element_id"] = ann
		}
		return fields{"members": all}
	}
	url := path("/api/admin/elements/%d/members", houseID)
	a := s.Post(t, url, members(1000, 1))
	a.WantCode(t, http.StatusUnprocessableEntity)
	valuetest.Has(t, a.Body, `"errors":{"element_id":["would have more than 1000 runs of days"]}`)
	url = path("/api/admin/elements/%d/members", group)
	s.Post(t, url, members(0, 1000)).Must(t, http.StatusCreated)
	s.Post(t, url, members(999, 1)).Must(t, http.StatusCreated)
	s.Post(t, url, members(1000, 1)).WantCode(t, http.StatusUnprocessableEntity)
}
