package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// An administrator drops a school's files, sees what would change, and imports them: with script the files are chosen
// once, without it again.
func TestImport_FilesAreCheckedAndImported(t *testing.T) {
	admin := system.Get(t).Admin(t)
	for _, noScript := range []bool{false, true} {
		word := "Imp-" + uuid.NewString()[:8]
		folder := t.TempDir()
		file := func(name, text string) string {
			path := filepath.Join(folder, name)
			errortest.None(t, os.WriteFile(path, []byte(text), 0o600))
			return path
		}
		choose := func(files ...string) chromedp.Action[chromedp.Void] {
			return chromedp.SetUploadFiles(chromedp.CSS("#files"), files)
		}
		send := chromedp.Click(chromedp.CSS("form.files button"))
		staff := file("staff.csv", fmt.Sprintf("key,initials,forename,surname\n%[1]s,ZA,Zoë,%[1]s\n", word))
		wrong := file("locations.csv", fmt.Sprintf("key,name\n%s,\n", word))
		w := open(t, options{noScript: noScript, as: admin})
		w.visit("/look-after")
		w.do(chromedp.Click(chromedp.CSS(`a[href="/look-after/import"]`)))
		w.await(`document.querySelector("#files")`)
		w.everyWidth("form")
		w.do(choose(staff, wrong), send)
		w.await(`document.querySelector("[role=alert] + ul li")?.textContent.startsWith("locations.csv:2: name:")`)
		w.everyWidth("faults")
		file("locations.csv", fmt.Sprintf("key,name\n%[1]s,Room %[1]s\n", word))
		w.visit("/look-after/import")
		w.do(choose(staff, wrong), send)
		w.await(`document.querySelector("[name=plan]")`)
		w.do(chromedp.Click(chromedp.CSS("details summary")))
		w.everyWidth("checked")
		if noScript {
			w.do(choose(staff, wrong))
		}
		w.do(send)
		w.await(`document.querySelector(".done")?.textContent.includes("The import is done")`)
		w.everyWidth("done")
		sent, _ := w.seen()
		sent = slices.DeleteFunc(sent, func(s string) bool { return !strings.HasPrefix(s, "POST /look-after/") })
		valuetest.Len(t, sent, 3, "sent forms")
		w.visit("/look-after/list/Location?q=" + word)
		w.await(`document.querySelector("ul.plain a")?.textContent === %q`, "Room "+word)
	}
}
