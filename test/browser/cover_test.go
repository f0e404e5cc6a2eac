package browser

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
)

// A lesson of a teacher who is away is given to one who is free, and taken back, with one click each.
func TestCover_WithOneClickAtEachWidth(t *testing.T) {
	admin := system.Get(t).Admin(t)
	word := "Cover-" + uuid.NewString()[:8]
	kind := admin.Import(t, "eventcategories", map[string]any{"key": word, "name": word, "busy": true})[word]
	var rows []map[string]any
	for _, name := range []string{"Hugo", "Doreen"} {
		rows = append(rows, map[string]any{"key": name + word, "forename": name, "surname": word, "initials": name[:2]})
	}
	hugo := admin.Import(t, "staff", rows...)["Hugo"+word]
	for _, title := range []string{"Algebra", "Museum"} {
		admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": title, "category": kind,
			"starts_at_text": "2033-02-01 09:00", "ends_at_text": "2033-02-01 10:00"}, "elements": []int64{hugo},
			"clashes": "allow"}).Must(t, http.StatusOK)
	}
	for _, noScript := range []bool{false, true} {
		w := open(t, options{noScript: noScript, as: admin})
		w.visit("/cover?date=2033-02-01")
		w.everyWidth("day")
		w.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`a[href$="who=%d"]`, hugo))))
		w.await(`document.querySelector('button[name="in"]')`)
		w.everyWidth("lessons")
		w.do(chromedp.Click(chromedp.CSS(`button[name="in"]`)))
		w.await(`document.querySelector("form.done")`)
		w.everyWidth("covered")
		w.do(chromedp.Click(chromedp.CSS("form.done button")))
		w.await(`document.querySelectorAll("section.note").length === 2`)
	}
}
