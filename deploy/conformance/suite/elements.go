package suite

import (
	"fmt"
	"net/http"
	"net/url"
)

// elementChecks are those of part 4.1 and decisions, part 3.
func elementChecks() []Check {
	return []Check{
		prove("TestPart4_1_Rule01_ValuesAreURLEncoded", valuesAreURLEncoded, "4.1 rule 1", "4.1 GET elements?name"),
	}
}

func valuesAreURLEncoded(t *T) {
	c := t.As()
	e := t.Element(map[string]any{"entity_type": "Location", "name": t.Unique("Größe & Co. +5% / \"B\"")})
	c.Get("/api/elements?name="+url.QueryEscape(e.Name)).Want(http.StatusOK, fmt.Sprintf(`{"status":"OK","elements":[%s]}`, e.List()))
	c.Get("/api/elements?name=" + url.PathEscape(e.Name)).WantCode(http.StatusNotFound) // its & and + are not escaped
}
