package api

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/belfry-schools/belfry/pkg/importer/upload"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// files sends a form with files to the import, and returns the page to its end.
func (b *browser) files(want int, form url.Values, files ...upload.File) string {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	form.Set("token", b.token)
	for name, values := range form {
		for _, value := range values {
			errortest.None(b.t, w.WriteField(name, value))
		}
	}
	for _, f := range files {
		part, err := w.CreateFormFile("files", f.Name)
		errortest.None(b.t, err)
		errortest.None(b.t, errortest.Of(part.Write(f.Text)))
	}
	errortest.None(b.t, w.Close())
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+importPath, &body)
	errortest.None(b.t, err)
	r.Header.Set("Content-Type", w.FormDataContentType())
	code, _, page := b.answered(r)
	if code != want {
		b.t.Fatalf("%d, want %d: %s", code, want, page)
	}
	return page
}

// plan is the form's in a report, "" without one.
func plan(page string) string {
	if found := regexp.MustCompile(`name="plan" value="([^"]+)"`).FindStringSubmatch(page); found != nil {
		return found[1]
	}
	return ""
}

func wantTexts(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		valuetest.Has(t, page, text, "the page")
	}
}

func zipped(t *testing.T, files ...upload.File) upload.File {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, f := range files {
		entry, err := w.Create("school/" + f.Name)
		errortest.None(t, err)
		errortest.None(t, errortest.Of(entry.Write(f.Text)))
	}
	errortest.None(t, w.Close())
	return file("school.zip", packed.Bytes())
}

func file(name string, text []byte) upload.File { return upload.File{Name: name, Text: text} }

var checking = url.Values{"clashes": {"report"}, "dates": {""}}

// TestImport_IsCheckedAndThenWritten: what the check reports is what is written, of the files that were checked and of
// no others, and by the one who checked them.
func TestImport_IsCheckedAndThenWritten(t *testing.T) {
	b, word := administrator(t)
	staff := func(forename, surname string) upload.File {
		return file("staff.csv", fmt.Appendf(nil,
			"key,initials,forename,surname\n%[1]s,%.2[2]s,%[2]s,%[3]s\n", word, forename, surname))
	}
	rooms := file("locations.csv", fmt.Appendf(nil, "key,name\n%[1]s,Room %[1]s\n", word))
	b.open(importPath, 200, `enctype="multipart/form-data"`)

	page := b.files(200, checking, file("staff.csv", []byte("key,initials,forename,surname\n1,ZA,,x\n")))
	wantTexts(t, page, "The files have faults", "staff.csv:2: forename: can&#39;t be blank", "</html>")
	valuetest.Same(t, plan(page), "", "files with faults may be written")
	page = b.files(200, checking, staff("Zoë", word), rooms)
	wantTexts(t, page, "Nothing has been written yet", "Import 2 changes", "Room "+word, "</html>")
	b.open("/look-after/list/Location?q="+word, 200, "Nothing matches")
	checked := plan(page)
	b.files(409, url.Values{"plan": {checked}}, staff("Zoë", "other"), rooms)
	b.files(409, url.Values{"plan": {checked}}, rooms)
	b.files(422, url.Values{"plan": {checked}})
	b.files(403, url.Values{"plan": {checked[:len(checked)-1]}}, staff("Zoë", word), rooms)
	other, _ := administrator(t)
	other.open(importPath, 200)
	other.files(403, url.Values{"plan": {checked}}, staff("Zoë", word), rooms)

	page = b.files(200, url.Values{"plan": {checked}}, staff("Zoë", word), rooms)
	wantTexts(t, page, "The import is done", "</html>")
	b.open("/look-after/list/Location?q="+word, 200, "Room "+word)
	page = b.files(200, checking, zipped(t, staff("Zoë", word), rooms))
	wantTexts(t, page, "Import 0 changes")

	// The key means someone else: each such key is confirmed.
	somebody := zipped(t, staff("Max", "Murray")) // who has no word of the name before
	page = b.files(200, checking, somebody)
	wantTexts(t, page, "Check each point", `name="really" value="Staff:`+word+`"`, "<del>"+word+"</del>")
	page = b.files(200, url.Values{"plan": {plan(page)}}, somebody)
	valuetest.Has(t, page, "Nothing was written", "it was written without being confirmed")
	page = b.files(200, checking, somebody)
	page = b.files(200, url.Values{"plan": {plan(page)}, "really": {"Staff:" + word}}, somebody)
	wantTexts(t, page, "The import is done")
}

// TestImport_ReadsWorkbooksAndRosters, and says what is neither.
func TestImport_ReadsWorkbooksAndRosters(t *testing.T) {
	b, word := administrator(t)
	b.open(importPath, 200)
	roster := zipped(t, file("manifest.csv", []byte("propertyName,value\nmanifest.version,1.0\noneroster.version,1.1\n"+
		"file.academicSessions,absent\nfile.classes,absent\nfile.courses,absent\nfile.enrollments,absent\n"+
		"file.orgs,bulk\nfile.users,absent\n")),
		file("orgs.csv", fmt.Appendf(nil, "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\n"+
			"%[1]s,,,School %[1]s,school,,\n", word)))
	wantTexts(t, b.files(200, checking, roster), "Import 1 change<", "School "+word)
	for name, want := range map[string]string{
		"school.xlsx": "is not an .xlsx workbook", "school.zip": "not a valid zip",
		"school.csv": "school.csv:1: file: is not a file of the bundle",
	} {
		wantTexts(t, b.files(200, checking, file(name, []byte("key,name\n"))), want)
	}
	b.files(400, url.Values{"clashes": {"x"}}, roster)
	b.files(400, url.Values{"clashes": {"report"}, "dates": {"x"}}, roster)
}

// TestImport_IsForAdministratorsAndHasABound: others are refused before their files are read.
func TestImport_IsForAdministratorsAndHasABound(t *testing.T) {
	b, _ := administrator(t)
	b.open(importPath, 200)
	large := file("school.zip", bytes.Repeat([]byte{0}, filesAtMost))
	wantTexts(t, b.files(413, checking, large), "too large")
	teacher := signedInAs(t, map[string]any{"kind": "staff", "edit_all_events": true})
	teacher.open(importPath, 403)
	teacher.files(403, checking, file("staff.csv", nil))
	visitor(t).files(401, checking, file("staff.csv", nil))
	b.token = "x"
	b.files(403, checking, file("staff.csv", []byte("key\n")))
}
