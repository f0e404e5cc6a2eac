package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// search returns the answer to a search by a parameter.
func search(t *testing.T, c *servicetest.Client, parameter, value string) servicetest.Answer {
	t.Helper()
	return c.Get(t, "/api/elements?"+parameter+"="+url.QueryEscape(value))
}

// found returns the names in the answer to a search, in its order.
func found(t *testing.T, a servicetest.Answer) string {
	t.Helper()
	return strings.Join(a.Texts(t, "elements.#.name"), "|")
}

// subject makes a subject with exactly that name.
func (s *School) subject(t *testing.T, name string) Element {
	t.Helper()
	return s.Element(t, object{"entity_type": "Subject", "name": name})
}

const nothing = `{"status":"Not found","elements":[]}`

func TestPart4_1_Rule01_ValuesAreURLEncoded(t *testing.T) {
	proves(t, "4.1 rule 1: values with spaces and special characters are URL-encoded",
		"4.1 GET elements?name: exact match of the name")
	c := school.As(t)
	e := school.Element(t, object{"entity_type": "Location", "name": school.Unique("Größe & Co. +5% / \"B\"")})
	want := fmt.Sprintf(`{"status":"OK","elements":[%s]}`, e.List())
	// a space is +
	c.Get(t, "/api/elements?name="+url.QueryEscape(e.Name)).Want(t, http.StatusOK, want)
	// a space is %20
	c.Get(t, "/api/elements?name="+strings.ReplaceAll(url.QueryEscape(e.Name), "+", "%20")).Want(t, http.StatusOK, want)
	// its & and + are not escaped
	c.Get(t, "/api/elements?name="+url.PathEscape(e.Name)).WantCode(t, http.StatusNotFound)
	// a part, with most of the prefix, since an element of another run may have the rest
	c.Get(t, "/api/elements?namelike="+url.QueryEscape(e.Name[1:])).Want(t, http.StatusOK, want)
	// among others
	c.Get(t, "/api/elements?x=1&name="+url.QueryEscape(e.Name)+"&namelike=none").Want(t, http.StatusOK, want)
	c.Get(t, "/api/elements?namelike="+url.QueryEscape(e.Name)+"%ff").WantCode(t, http.StatusBadRequest)
	c.Get(t, "/api/elements?name="+url.QueryEscape(e.Name)+"%ff").WantCode(t, http.StatusBadRequest) // no UTF-8
}

func TestPart4_1_Rule01_NamesInAnyScript(t *testing.T) {
	proves(t, "4.1 rule 1", "4.1 GET elements?name", "4.1 GET elements?namelike")
	c := school.As(t)
	for _, name := range []string{"数学 一", "Ελληνικά", "ქართული", "עברית", "हिन्दी", "🚌 bus", "Zoë", "O'Brien",
		`back\slash`, "a;b", "<b>&amp;</b>", "line\u2028separator", "a+b", "a&b=c", "100% sure", "a/b?c#d",
		`"quoted" \ <b>`} {
		e := school.subject(t, school.Unique(name))
		want := fmt.Sprintf(`{"status":"OK","elements":[%s]}`, e.List())
		search(t, c, "name", e.Name).Want(t, http.StatusOK, want)
		search(t, c, "namelike", e.Name).Want(t, http.StatusOK, want)
	}
}

func TestPart4_1_NamelikeIsAPartInAnyLetterCase(t *testing.T) {
	proves(t, "4.1 GET elements?namelike: a part of the name in any letter case, at most 100",
		"decisions 3 namelike case", "4.1 rule 2: a search that matches nothing: Not found, elements []")
	c, e := school.As(t), school.subject(t, school.Unique("Mathematics"))
	for _, part := range []string{e.Name, strings.ToUpper(e.Name), strings.ToLower(e.Name), e.Name[2:],
		e.Name[:len(e.Name)-1]} {
		equal(t, "namelike="+part, strings.Contains("|"+found(t, search(t, c, "namelike", part))+"|", "|"+e.Name+"|"),
			true)
	}
	search(t, c, "namelike", e.Name+"s").Want(t, http.StatusNotFound, nothing)
}

func TestPart8_NamelikeGivesAtMost100(t *testing.T) {
	proves(t, "8 namelike: at most 100 elements by namelike", "4.1 GET elements?namelike",
		"decisions 3 order of search")
	c, name := school.As(t), school.Unique("Many")
	records, names := []object{}, []string{}
	for i := range 103 {
		names = append(names, fmt.Sprintf("%s %03d", name, i))
		records = append(records, object{"key": fmt.Sprintf("%s %d", name, i),
			"name": fmt.Sprintf("%s %03d", name, 102-i)})
	}
	school.Import(t, "subjects", records...)
	equal(t, "103 hits by namelike", found(t, search(t, c, "namelike", name).Must(t, http.StatusOK)),
		strings.Join(names[:100], "|"))
}

func TestDecisionsPart3_NeitherParameterIsOKAndEmpty(t *testing.T) {
	proves(t, "decisions 3 no parameter: search by neither parameter, or empty ones: OK, []")
	c := school.As(t)
	for _, query := range []string{"", "?", "?name=", "?namelike=", "?name=&namelike=", "?nam=x"} {
		c.Get(t, "/api/elements"+query).Want(t, http.StatusOK, `{"status":"OK","elements":[]}`)
	}
}

func TestDecisionsPart3_NameWinsOverNamelike(t *testing.T) {
	proves(t, "decisions 3 both: name wins over namelike")
	c, one, other := school.As(t), school.subject(t, school.Unique("One")), school.subject(t, school.Unique("Other"))
	for _, query := range []string{"name=%s&namelike=%s", "namelike=%[2]s&name=%[1]s"} {
		a := c.Get(t, "/api/elements?"+fmt.Sprintf(query, url.QueryEscape(one.Name), url.QueryEscape(other.Name)))
		equal(t, "both parameters", found(t, a), one.Name)
	}
	c.Get(t, "/api/elements?name="+url.QueryEscape(school.Unique("none"))+"&namelike="+
		url.QueryEscape(other.Name)).Want(t, http.StatusNotFound, nothing)
	equal(t, "an empty name", found(t, c.Get(t, "/api/elements?name=&namelike="+url.QueryEscape(other.Name))),
		other.Name)
}

func TestDecisionsPart3_SearchCoversCurrentElementsOnly(t *testing.T) {
	proves(t, "decisions 3 current: search covers current elements only")
	c, e := school.As(t), school.subject(t, school.Unique("Latin"))
	never := school.Element(t, object{"entity_type": "Subject", "name": school.Unique("Greek"), "current": false})
	search(t, c, "name", e.Name).WantCode(t, http.StatusOK)
	school.Admin().Delete(t, elementAdmin(e)).Must(t, http.StatusOK)
	for _, gone := range []Element{e, never} {
		search(t, c, "name", gone.Name).Want(t, http.StatusNotFound, nothing)
		search(t, c, "namelike", gone.Name).Want(t, http.StatusNotFound, nothing)
		equal(t, "the detail's current",
			c.Get(t, elementPath(gone)).Must(t, http.StatusOK).At(t, "element.current"), "false")
	}
}

func TestDecisionsPart3_OrderedByNameThenID(t *testing.T) {
	proves(t, "decisions 3 order of search: by name, then id")
	c, name := school.As(t), school.Unique("Order")
	forms := sequence.Map([]string{"b", "a", "a", "B", "é", "A"}, func(ending string) string {
		return school.subject(t, name+" "+ending).List()
	})
	inOrder := func(places ...int) string {
		texts := sequence.Map(places, func(place int) string { return forms[place] })
		return fmt.Sprintf(`{"status":"OK","elements":[%s]}`, strings.Join(texts, ","))
	}
	search(t, c, "namelike", name).Want(t, http.StatusOK, inOrder(5, 3, 1, 2, 0, 4))
	search(t, c, "name", name+" a").Want(t, http.StatusOK, inOrder(1, 2))
}

func TestDecisionsPart3_NameIsExactToTheLetter(t *testing.T) {
	proves(t, "decisions 3 name: exact to the letter", "4.1 GET elements?name", "4.1 rule 2")
	c, e := school.As(t), school.subject(t, school.Unique("Café"))
	search(t, c, "name", e.Name).Want(t, http.StatusOK, fmt.Sprintf(`{"status":"OK","elements":[%s]}`, e.List()))
	for _, other := range []string{strings.ToLower(e.Name), strings.ToUpper(e.Name), e.Name[:len(e.Name)-1],
		e.Name + " ", " " + e.Name, strings.Replace(e.Name, "é", "e", 1)} {
		search(t, c, "name", other).Want(t, http.StatusNotFound, nothing)
	}
}

func TestDecisionsPart3_NamelikeIsLiteral(t *testing.T) {
	proves(t, "decisions 3 namelike literal: %, _, . and * are ordinary")
	c, name := school.As(t), school.Unique("")
	for _, ending := range []string{"100% a", "100 a", "x_y", "xzy", "p.q", "p*q", `r\s`, "^t$", "[u]"} {
		school.subject(t, name+ending)
	}
	for part, ending := range map[string]string{
		"100%": "100% a", "x_y": "x_y", "p.q": "p.q", "p*": "p*q", `r\s`: `r\s`, "^t": "^t$", "[u]": "[u]",
		"100 ": "100 a",
	} {
		equal(t, "namelike="+name+part, found(t, search(t, c, "namelike", name+part)), name+ending)
	}
	for _, part := range []string{name + "%", name + ".*", name + "_"} {
		search(t, c, "namelike", part).Want(t, http.StatusNotFound, nothing)
	}
}

func TestDecisionsPart3_NamelikeFoldsLettersAsUnicodeDoes(t *testing.T) {
	proves(t, "decisions 3 namelike case: letter case is ignored, by Unicode's case folding")
	c, name := school.As(t), school.Unique("")
	for ending, parts := range map[string][]string{
		"ÉCOLE": {"école", "École", "E\u0301cole"}, "Straße": {"STRASSE", "straße"}, "ΣΊΣΥΦΟΣ": {"σίσυφος"},
		"Ёлка": {"ёЛКА"},
	} {
		e := school.subject(t, name+ending)
		for _, part := range parts {
			equal(t, "namelike="+part, found(t, search(t, c, "namelike", name+part)), e.Name)
		}
	}
}

func TestClients_NamelikeFindsWithoutAccents(t *testing.T) {
	proves(t, "clients namelike: namelike finds names with and without accents, whichever the part has")
	c, name := school.As(t), school.Unique("")
	e := school.subject(t, name+"Émile Æneas")
	for _, part := range []string{"emile", "ÉMILE", "E\u0301mile", "èmílë"} {
		equal(t, "namelike="+part, found(t, search(t, c, "namelike", name+part)), e.Name)
	}
	search(t, c, "name", name+"emile Æneas").Want(t, http.StatusNotFound, nothing) // a whole name is exact
	search(t, c, "namelike", "\u0301").Want(t, http.StatusNotFound, nothing)
}
