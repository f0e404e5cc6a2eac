package suite

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// elementChecks are those of parts 2.1 and 4.1 and of decisions, part 3.
func elementChecks() []Check {
	return slices.Concat(elementFormChecks(), searchChecks(), commitmentListingChecks(), membershipChecks())
}

func searchChecks() []Check {
	return []Check{
		prove("TestPart4_1_Rule01_ValuesAreURLEncoded", valuesAreURLEncoded, "4.1 rule 1", "4.1 GET elements?name"),
		prove("TestPart4_1_Rule01_NamesInAnyScript", namesInAnyScript, "4.1 rule 1", "4.1 GET elements?name", "4.1 GET elements?namelike"),
		prove("TestPart4_1_Rule02_NothingFoundIsNotFound", nothingFound, "4.1 rule 2", "decisions 1 404 search", "decisions 1 empty lists"),
		prove("TestPart4_1_NamelikeIsAPartInAnyLetterCase", namelikeIsAPart, "4.1 GET elements?namelike", "decisions 3 namelike case"),
		prove("TestPart8_NamelikeGivesAtMost100", namelikeGivesAtMost100, "8 namelike", "4.1 GET elements?namelike", "decisions 3 order of search"),
		prove("TestDecisionsPart3_NeitherParameterIsOKAndEmpty", neitherParameter, "decisions 3 no parameter"),
		prove("TestDecisionsPart3_NameWinsOverNamelike", nameWins, "decisions 3 both"),
		prove("TestDecisionsPart3_SearchCoversCurrentElementsOnly", searchCoversCurrent, "decisions 3 current"),
		prove("TestDecisionsPart3_OrderedByNameThenID", orderedByName, "decisions 3 order of search"),
		prove("TestDecisionsPart3_NameIsExactToTheLetter", nameIsExact, "decisions 3 name", "4.1 GET elements?name"),
		prove("TestDecisionsPart3_NamelikeIsLiteral", namelikeIsLiteral, "decisions 3 namelike literal"),
		prove("TestDecisionsPart3_NamelikeFoldsLettersAsUnicodeDoes", namelikeFolds, "decisions 3 namelike case"),
	}
}

// search is the answer to a search by a parameter.
func search(c *Client, parameter, value string) Answer {
	return c.Get("/api/elements?" + parameter + "=" + url.QueryEscape(value))
}

// found are the names in the answer to a search, in its order.
func found(a Answer) string {
	names := []string{}
	for _, e := range decode[struct{ Elements []struct{ Name string } }](a).Elements {
		names = append(names, e.Name)
	}
	return strings.Join(names, "|")
}

// subject makes a subject of exactly that name.
func (t *T) subject(name string) Element {
	return t.Element(map[string]any{"entity_type": "Subject", "name": name})
}

const nothing = `{"status":"Not found","elements":[]}`

func valuesAreURLEncoded(t *T) {
	c := t.As()
	e := t.Element(map[string]any{"entity_type": "Location", "name": t.Unique("Größe & Co. +5% / \"B\"")})
	want := fmt.Sprintf(`{"status":"OK","elements":[%s]}`, e.List())
	c.Get("/api/elements?name="+url.QueryEscape(e.Name)).Want(http.StatusOK, want)                                 // a space is +
	c.Get("/api/elements?name="+strings.ReplaceAll(url.QueryEscape(e.Name), "+", "%20")).Want(http.StatusOK, want) // a space is %20
	c.Get("/api/elements?name=" + url.PathEscape(e.Name)).WantCode(http.StatusNotFound)                            // its & and + are not escaped
	c.Get("/api/elements?namelike="+url.QueryEscape(e.Name[1:])).Want(http.StatusOK, want)                         // a part; with most of the prefix, for another run's element has the rest
	c.Get("/api/elements?x=1&name="+url.QueryEscape(e.Name)+"&namelike=none").Want(http.StatusOK, want)            // among others
	c.Get("/api/elements?name=" + url.QueryEscape(e.Name) + "%ff").WantCode(http.StatusBadRequest)                 // no UTF-8
}

func namesInAnyScript(t *T) {
	c := t.As()
	for _, name := range []string{"数学 一", "Ελληνικά", "ქართული", "עברית", "हिन्दी", "🚌 bus", "Zoë", "O'Brien", `back\slash`, "a;b", "<b>&amp;</b>", "line\u2028separator"} {
		e := t.subject(t.Unique(name))
		want := fmt.Sprintf(`{"status":"OK","elements":[%s]}`, e.List())
		search(c, "name", e.Name).Want(http.StatusOK, want)
		search(c, "namelike", e.Name).Want(http.StatusOK, want)
	}
}

func nothingFound(t *T) {
	c := t.As()
	for _, parameter := range []string{"name", "namelike"} {
		search(c, parameter, t.Unique("nobody")).Want(http.StatusNotFound, nothing)
	}
}

func namelikeIsAPart(t *T) {
	c, e := t.As(), t.subject(t.Unique("Mathematics"))
	for _, part := range []string{e.Name, strings.ToUpper(e.Name), strings.ToLower(e.Name), e.Name[2:], e.Name[:len(e.Name)-1]} {
		t.Equal("namelike="+part, strings.Contains("|"+found(search(c, "namelike", part))+"|", "|"+e.Name+"|"), true)
	}
	search(c, "namelike", e.Name+"s").Want(http.StatusNotFound, nothing)
}

func namelikeGivesAtMost100(t *T) {
	c, name := t.As(), t.Unique("Many")
	records, names := []map[string]any{}, []string{}
	for i := range 103 {
		names = append(names, fmt.Sprintf("%s %03d", name, i))
		records = append(records, map[string]any{"key": fmt.Sprintf("%s %d", name, i), "name": fmt.Sprintf("%s %03d", name, 102-i)})
	}
	t.Import("subjects", records...)
	t.Equal("103 hits by namelike", found(search(c, "namelike", name).Must(http.StatusOK)), strings.Join(names[:100], "|"))
}

func neitherParameter(t *T) {
	c := t.As()
	for _, query := range []string{"", "?", "?name=", "?namelike=", "?name=&namelike=", "?nam=x"} {
		c.Get("/api/elements"+query).Want(http.StatusOK, `{"status":"OK","elements":[]}`)
	}
}

func nameWins(t *T) {
	c, one, other := t.As(), t.subject(t.Unique("One")), t.subject(t.Unique("Other"))
	for _, query := range []string{"name=%s&namelike=%s", "namelike=%[2]s&name=%[1]s"} {
		a := c.Get("/api/elements?" + fmt.Sprintf(query, url.QueryEscape(one.Name), url.QueryEscape(other.Name)))
		t.Equal("both parameters", found(a), one.Name)
	}
	c.Get("/api/elements?name="+url.QueryEscape(t.Unique("none"))+"&namelike="+url.QueryEscape(other.Name)).Want(http.StatusNotFound, nothing)
	t.Equal("an empty name", found(c.Get("/api/elements?name=&namelike="+url.QueryEscape(other.Name))), other.Name)
}

func searchCoversCurrent(t *T) {
	c, e := t.As(), t.subject(t.Unique("Latin"))
	never := t.Element(map[string]any{"entity_type": "Subject", "name": t.Unique("Greek"), "current": false})
	search(c, "name", e.Name).WantCode(http.StatusOK)
	t.Admin().Delete(fmt.Sprintf("/api/admin/elements/%d", e.ID)).Must(http.StatusOK)
	for _, gone := range []Element{e, never} {
		search(c, "name", gone.Name).Want(http.StatusNotFound, nothing)
		search(c, "namelike", gone.Name).Want(http.StatusNotFound, nothing)
		t.Equal("the detail's current", c.Get(fmt.Sprintf("/api/elements/%d", gone.ID)).Must(http.StatusOK).At("element.current"), "false")
	}
}

func orderedByName(t *T) {
	c, name := t.As(), t.Unique("Order")
	forms := []string{}
	for _, ending := range []string{"b", "a", "a", "B", "é", "A"} {
		forms = append(forms, t.subject(name+" "+ending).List())
	}
	inOrder := func(places ...int) string {
		texts := []string{}
		for _, place := range places {
			texts = append(texts, forms[place])
		}
		return fmt.Sprintf(`{"status":"OK","elements":[%s]}`, strings.Join(texts, ","))
	}
	search(c, "namelike", name).Want(http.StatusOK, inOrder(5, 3, 1, 2, 0, 4))
	search(c, "name", name+" a").Want(http.StatusOK, inOrder(1, 2))
}

func nameIsExact(t *T) {
	c, e := t.As(), t.subject(t.Unique("Café"))
	search(c, "name", e.Name).Want(http.StatusOK, fmt.Sprintf(`{"status":"OK","elements":[%s]}`, e.List()))
	for _, other := range []string{strings.ToLower(e.Name), strings.ToUpper(e.Name), e.Name[:len(e.Name)-1], e.Name + " ", " " + e.Name, strings.Replace(e.Name, "é", "e", 1)} {
		search(c, "name", other).Want(http.StatusNotFound, nothing)
	}
}

func namelikeIsLiteral(t *T) {
	c, name := t.As(), t.Unique("")
	for _, ending := range []string{"100% a", "100 a", "x_y", "xzy", "p.q", "p*q", `r\s`, "^t$", "[u]"} {
		t.subject(name + ending)
	}
	for part, ending := range map[string]string{
		"100%": "100% a", "x_y": "x_y", "p.q": "p.q", "p*": "p*q", `r\s`: `r\s`, "^t": "^t$", "[u]": "[u]", "100 ": "100 a",
	} {
		t.Equal("namelike="+name+part, found(search(c, "namelike", name+part)), name+ending)
	}
	for _, part := range []string{name + "%", name + ".*", name + "_"} {
		search(c, "namelike", part).Want(http.StatusNotFound, nothing)
	}
}

func namelikeFolds(t *T) {
	c, name := t.As(), t.Unique("")
	for ending, parts := range map[string][]string{
		"ÉCOLE": {"école", "École", "E\u0301cole"}, "Straße": {"STRASSE", "straße"}, "ΣΊΣΥΦΟΣ": {"σίσυφος"}, "Ёлка": {"ёЛКА"},
	} {
		e := t.subject(name + ending)
		for _, part := range parts {
			t.Equal("namelike="+part, found(search(c, "namelike", name+part)), e.Name)
		}
	}
	search(c, "namelike", name+"ecole").Want(http.StatusNotFound, nothing) // an accent counts
}
