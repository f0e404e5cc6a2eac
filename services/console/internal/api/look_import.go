package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/importer/upload"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/console/internal/page"
)

const (
	importPath = "/look-after/import"
	// filesAtMost bounds the bytes of the files of an import as they are sent, and filesUnpacked as they are read.
	// belfryctl imports larger ones.
	filesAtMost   = 4 << 20
	filesUnpacked = 20 << 20
	// importListed bounds the records of a kind that a page lists, and the faults.
	importListed = 20
	// stepPause is the least time between two steps that a page shows of an import.
	stepPause = 200 * time.Millisecond
)

// clashChoices are the choices of an import whose events book an element twice; the first is the default.
var clashChoices = []string{load.ClashesReport, load.ClashesSkip, load.ClashesRefuse}

// importBody is what the page of an import shows.
type importBody struct {
	Clashes []string // what there is to choose
	Dates   []csvfile.DateFormat
	importPlan
	Fault string // a text; "" for none
	Cut   string // stands where a running import continues the page
}

// importPlan is what was checked, which alone may be written.
type importPlan struct {
	Digest []byte // of the files
	Prune  bool
	Clash  string             // one of load's constants
	Date   csvfile.DateFormat // "" for YYYY-MM-DD
}

// importReport is the outcome of an import or of its check.
type importReport struct {
	load.Outcome
	DryRun  bool
	Plan    string // sealed, of what may be written; "": nothing may be
	Faults  []csvfile.Fault
	More    int    // faults, or refused records, that are not among these
	Stopped string // a text that says why it stopped; "" where nothing stopped it
	Message string // of what did, "" for none that a page may show
}

// importRoute receives the files of an import. They may be larger than other forms, so the sender is checked before
// they are read.
func (h handlers) importRoute() web.Route {
	r := h.openForm(importPath, func(v *visit) error {
		files, fields, err := upload.Read(v.c.Body(), string(v.c.Request().Header.MultipartFormBoundary()))
		if err != nil {
			return v.refuse(fiber.StatusBadRequest, "invalid")
		}
		v.typed = fields
		if err := v.enter(); err != nil {
			return err
		}
		return v.importSent(files)
	})
	r.Body, r.MaxBody = "multipart/form-data", filesAtMost
	r.Streams = web.StreamBounds{All: 1, Each: 1} // an import has its files in memory
	r.Admit = h.show(func(v *visit) error {
		if v.c.Request().Header.ContentLength() > filesAtMost {
			return v.refuse(fiber.StatusRequestEntityTooLarge, "large")
		}
		if err := v.identify(); err != nil {
			return err
		}
		if !v.me.LooksAfter() {
			return v.refuse(fiber.StatusForbidden, "forbidden")
		}
		web.Holds(v.c, v.me.User.ID)
		return v.c.Next()
	})
	return r
}

// importPage shows the form for files.
func (h handlers) importPage(v *visit) error {
	return v.showImport(importBody{importPlan: importPlan{Clash: load.ClashesReport}}, fiber.StatusOK)
}

func (v *visit) showImport(b importBody, code int) error {
	b.Clashes, b.Dates = clashChoices, csvfile.DateFormats()
	return v.answer(code, "import", v.texts.T("look.import"), b)
}

// importSent checks files, or writes those that were checked, while the page shows its progress.
func (v *visit) importSent(files upload.Files) error {
	plan, write := importPlan{Prune: v.typed.Get("prune") != "", Clash: v.typed.Get("clashes"),
		Date: csvfile.DateFormat(v.typed.Get("dates"))}, v.typed.Has("plan")
	if !write && (!slices.Contains(clashChoices, plan.Clash) || plan.Date != "" &&
		!slices.Contains(csvfile.DateFormats(), plan.Date)) {
		return v.refuse(fiber.StatusBadRequest, "invalid")
	}
	if write {
		text, ok := v.forms.Open(v.typed.Get("plan"), v.cookie())
		if !ok || json.Unmarshal(text, &plan) != nil {
			return problem.New(problem.Forbidden, "the plan is not of this session")
		}
	}
	checked := plan.Digest
	plan.Digest = files.Digest()
	switch {
	case len(files) == 0:
		return v.showImport(importBody{importPlan: plan, Fault: "import.none"}, fiber.StatusUnprocessableEntity)
	case write && !bytes.Equal(checked, plan.Digest):
		return v.showImport(importBody{importPlan: plan, Fault: "import.other"}, fiber.StatusConflict)
	}
	return v.runImport(files, plan, !write)
}

// runImport answers with a page that lasts as long as the import. It reads the request first, since that is over when
// the page begins.
func (v *visit) runImport(files upload.Files, plan importPlan, dryRun bool) error {
	asked, err := v.wire.client(v.header, 0)
	if err != nil {
		return err
	}
	text, _ := json.Marshal(plan) // texts and bytes always encode
	r := importReport{Plan: v.forms.Seal(text, v.cookie()), DryRun: dryRun}
	i := load.Import{Options: load.Options{DryRun: dryRun, Prune: plan.Prune}, Client: asked,
		Admin: v.me.Permissions.Admin, Zone: v.zone, From: v.zone.DayOf(v.now), Clashes: plan.Clash,
		Really: v.typed["really"], Listed: importListed}
	cut := rand.Text()
	frame := v.begin(fiber.StatusOK, v.texts.T("look.import"), importBody{Cut: cut})
	page, err := v.pages.Render("import", frame)
	if err != nil {
		return err
	}
	parts := bytes.SplitN(page, []byte(cut), 3) // before the steps, between these and the report, and after it
	return web.Written(v.c, v.me.User.ID, func(ctx context.Context, to io.Writer) {
		s := &steps{handlers: v.handlers, frame: frame, to: to}
		s.write(parts[0])
		i.Start, i.Progress = func(total int) { s.Total = total }, s.add
		resolve, err := files.Open(bundle.Options{Zone: i.Zone, From: i.From, Dates: plan.Date},
			plan.Prune, filesUnpacked)
		if err == nil {
			r.Outcome, err = i.Run(ctx, resolve)
		}
		r.end(err, s.log)
		s.write(parts[1])
		s.part("report", r)
		s.write(parts[2])
	})
}

// end reports how an import ended, and removes the plan if it must not be written.
func (r *importReport) end(err error, log *slog.Logger) {
	r.First = r.First[:min(len(r.First), importListed)]
	r.More = r.Refused - len(r.First)
	faults, faulty := errors.AsType[*csvfile.FaultsError](err)
	stopped, is := errors.AsType[*load.StoppedError](err)
	switch {
	case err == nil && r.Refused == 0:
	case err == nil:
		r.Stopped = "import.refused"
	case faulty:
		r.Stopped, r.Faults = "import.faults", faults.First[:min(len(faults.First), importListed)]
		r.More = faults.Total - faults.Listed(len(r.Faults))
	case is:
		r.Stopped = "import.stopped." + stopped.Why
	default:
		if r.Stopped = "import.failed"; r.Kinds == nil {
			r.Stopped = "import.not-begun"
		}
		if _, away := errors.AsType[*net.OpError](err); away { // its text has an address
			log.Warn("no answer of the interface", "error", err.Error())
		} else {
			r.Message = err.Error()
		}
	}
	if !r.DryRun || err != nil && !(is && stopped.Why == load.WhyWrong) {
		r.Plan = ""
	}
}

// steps show an import's progress. If they can't be sent, the browser has gone, and the import stops.
type steps struct {
	handlers
	frame       page.Frame
	to          io.Writer
	last        time.Time
	Kind        bundle.Kind // what the page shows
	Seen, Total int
}

func (s *steps) add(kind bundle.Kind, records int) {
	s.Kind, s.Seen = kind, s.Seen+records
	if time.Since(s.last) >= stepPause || s.Seen == s.Total {
		s.last = time.Now()
		s.part("step", s)
	}
}

func (s *steps) write(text []byte) { _, _ = s.to.Write(text) }

// part sends a part of the page.
func (s *steps) part(name string, body any) {
	s.frame.Body = body
	text, err := s.pages.Part("import", name, s.frame)
	if err != nil {
		s.log.Error("a part of a page can't be made", "part", name, "error", err)
	}
	s.write(text)
}
