package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
)

const notFound = `{"status":"Not found","elements":[]}`

func TestPart2_1_ListForm(t *testing.T) {
	s := newSchool(t)
	id := s.add(t, "locations", "H", fields{"name": "Hall"})
	var detail struct {
		Element struct {
			EntityID int64 `json:"entity_id"`
		}
	}
	s.Get(t, path("/api/elements/%d", id)).Decode(t, &detail)
	s.Get(t, "/api/elements?name="+url.QueryEscape(s.mark+" Hall")).Want(t, http.StatusOK,
		path(`{"status":"OK","elements":[{"id":%d,"name":"%s Hall","entity_type":"Location","entity_id":%d,"valid":true}]}`, id, s.mark, detail.Element.EntityID))
}

func TestPart4_1_Rule01_ValuesAreURLEncoded(t *testing.T) {
	s := newSchool(t)
	for i, name := range []string{"a b", "a+b", "a&b=c", "100% sure", "a/b?c#d", "Éloïse 世界", `"quoted" \ <b>`, "a;b"} {
		s.add(t, "subjects", fmt.Sprint(i), fields{"name": name})
		want := []string{s.mark + " " + name}
		if got := s.names(t, "name", want[0]); !slices.Equal(got, want) {
			t.Errorf("name=%s: %q", want[0], got)
		}
		if got := s.names(t, "namelike", s.mark+" "+name); !slices.Contains(got, want[0]) {
			t.Errorf("namelike=%s: %q", want[0], got)
		}
	}
}

func TestPart4_1_Rule02_NoHitIsNotFoundWithAnEmptyList(t *testing.T) {
	s := newSchool(t)
	s.Get(t, "/api/elements?name="+s.mark).Want(t, http.StatusNotFound, notFound)
	s.Get(t, "/api/elements?namelike="+s.mark).Want(t, http.StatusNotFound, notFound)
}

func TestPart4_1_Rule03_NeitherParameterIsOKAndEmpty(t *testing.T) {
	s := newSchool(t)
	for _, query := range []string{"", "?name=", "?namelike=", "?name=&namelike=", "?nam=x"} {
		s.Get(t, "/api/elements"+query).Want(t, http.StatusOK, `{"status":"OK","elements":[]}`)
	}
}

func TestPart8_NamelikeGivesAtMost100(t *testing.T) {
	s := newSchool(t)
	var records []fields
	for i := range 105 {
		records = append(records, fields{"key": path("%s%03d", s.mark, i), "name": path("%s %03d", s.mark, 104-i)})
	}
	s.Import(t, "subjects", records...)
	got := s.names(t, "namelike", s.mark)
	if len(got) != 100 || got[0] != s.mark+" 000" || got[99] != s.mark+" 099" {
		t.Errorf("%d elements from %s to %s", len(got), got[0], got[len(got)-1])
	}
}

func TestDecisionsPart3_NameIsExactToTheLetter(t *testing.T) {
	s := newSchool(t)
	s.add(t, "subjects", "1", fields{"name": "Maths"})
	for name, hit := range map[string]bool{s.mark + " Maths": true, s.mark + " maths": false, s.mark + " Math": false, s.mark + " Maths ": false} {
		if got := s.names(t, "name", name); (len(got) == 1) != hit {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestDecisionsPart3_NameWinsOverNamelike(t *testing.T) {
	s := newSchool(t)
	s.add(t, "subjects", "1", fields{"name": "Maths"})
	s.add(t, "subjects", "2", fields{"name": "Music"})
	if got := s.names(t, "namelike="+s.mark+"&name", s.mark+" Music"); !slices.Equal(got, []string{s.mark + " Music"}) {
		t.Errorf("%q", got)
	}
}

func TestDecisionsPart3_NamelikeIsLiteralAndWithoutCase(t *testing.T) {
	s := newSchool(t)
	for i, name := range []string{"100% sure", "100 sure", "a_b", "axb", "a.b", "a*b", "Straße", "ÉCOLE"} {
		s.add(t, "subjects", fmt.Sprint(i), fields{"name": name})
	}
	for part, want := range map[string][]string{
		"00%": {"100% sure"}, "A_B": {"a_b"}, "a.b": {"a.b"}, "a*": {"a*b"}, " strasse": {"Straße"}, "école": {"ÉCOLE"}, "00": {"100 sure", "100% sure"},
	} {
		for i := range want {
			want[i] = s.mark + " " + want[i]
		}
		got := slices.DeleteFunc(s.names(t, "namelike", part), func(name string) bool { return len(name) < 8 || name[:8] != s.mark })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", part, got, want)
		}
	}
}

func TestDecisionsPart3_OneTwoAndMoreLettersAreEnough(t *testing.T) {
	s := newSchool(t)
	s.add(t, "subjects", "1", fields{"name": "☀☁"})
	for _, part := range []string{"☀", "☀☁", " ☀☁", s.mark + " ☀☁"} {
		if got := s.names(t, "namelike", part); !slices.Contains(got, s.mark+" ☀☁") {
			t.Errorf("%q: %q", part, got)
		}
	}
}

func TestDecisionsPart3_SearchCoversCurrentElementsOnly(t *testing.T) {
	s := newSchool(t)
	id := s.add(t, "subjects", "1", fields{"name": "Latin"})
	s.add(t, "subjects", "2", fields{"name": "Greek", "current": false})
	s.Delete(t, path("/api/admin/elements/%d", id)).Want(t, http.StatusOK, `{"status":"OK"}`)
	for _, name := range []string{"Latin", "Greek"} {
		s.Get(t, "/api/elements?name="+s.mark+"%20"+name).Want(t, http.StatusNotFound, notFound)
	}
	s.Get(t, "/api/elements?namelike="+s.mark).Want(t, http.StatusNotFound, notFound)
	if a := s.Get(t, path("/api/elements/%d", id)); a.Code != http.StatusOK {
		t.Errorf("its history has gone: %d %s", a.Code, a.Body)
	}
}

func TestDecisionsPart3_SearchIsInOrderOfName(t *testing.T) {
	s := newSchool(t)
	want := []string{s.mark + " A", s.mark + " B", s.mark + " a", s.mark + " b", s.mark + " É"}
	for _, i := range []int{3, 0, 4, 1, 2} {
		s.add(t, "subjects", fmt.Sprint(i), fields{"name": want[i][9:]})
	}
	if got := s.names(t, "namelike", s.mark); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestPart5_1_ElementsNeedASession(t *testing.T) {
	anonymous := system.Client(t)
	for _, p := range []string{"/api/elements?name=x", "/api/elements/1", "/api/elements/1/commitments", "/api/elements/1/requests", "/api/admin/elements"} {
		anonymous.Get(t, p).Want(t, http.StatusUnauthorized, `{"status":"Access denied"}`)
	}
}

func TestDecisionsPart1_TextThatIsNotUTF8IsABadRequest(t *testing.T) {
	s := newSchool(t)
	for _, query := range []string{"name=%ff", "namelike=%ff"} {
		if a := s.Get(t, "/api/elements?"+query); a.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
}
