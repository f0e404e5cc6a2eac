package browser

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// patience is how long a page may take, on a busy machine.
const patience = time.Minute

// chromium is the browser that all windows share: started by the first, stopped by TestMain.
var chromium = struct {
	once  sync.Once
	ctx   context.Context
	close context.CancelFunc // nil: it never started
	err   error
}{}

func startChromium() error {
	chromium.once.Do(func() {
		flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"),
			chromedp.DisableGPU, chromedp.Flag("headless", "new"), chromedp.Flag("disable-quic", true),
			chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
			// even the browser itself finds no other host
			chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
		if os.Getuid() == 0 { // Chromium's sandbox refuses root
			flags = append(flags, chromedp.NoSandbox)
		}
		started, stop := chromedp.NewExecAllocator(context.Background(), flags...)
		ctx, closed := chromedp.NewContext(started)
		chromium.ctx, chromium.close = ctx, func() { closed(); stop() }
		chromium.err = chromedp.Do(ctx)
	})
	return chromium.err
}

// widths are those of a phone, a tablet and a desk, in pixels of CSS.
var widths = []int64{360, 768, 1280}

// options say how a window is opened. The zero value is a window of a desk, with script, of a visitor without session.
type options struct {
	width    int64
	noScript bool
	as       *servicetest.Client // whose session it has
	refuses  bool                // answers the page's questions with no
	language string              // that the browser accepts; "" for its own
	at       string              // another Belfry, whose certificate no authority has signed; "" for system
	also     string              // an address beside Belfry's that pages may lead to: that of a login provider
}

// window is a tab with cookies of its own. When its test ends, it fails if the page did what it must not (see hear).
type window struct {
	options
	t       testing.TB
	ctx     context.Context
	address string // of Belfry

	mu      sync.Mutex
	faults  []string // what the page must not do
	sent    []string // requests: method and path
	dialogs []string // questions of confirm
}

func open(t testing.TB, o options) *window {
	t.Helper()
	address := o.at
	if address == "" {
		address = system.Get(t).URL
	}
	errortest.None(t, startChromium(), "Chromium, of Debian's package of that name, does not start")
	ctx, closed := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	w := &window{options: o, t: t, ctx: ctx, address: address}
	t.Cleanup(func() {
		closed()
		for _, fault := range w.faults {
			t.Error(fault)
		}
	})
	if o.width == 0 {
		o.width = widths[2]
	}
	w.must(chromedp.Listen(ctx, w.hear))
	w.script(!o.noScript)
	if o.at != "" {
		_, err := chromedp.Call(ctx, security.SetIgnoreCertificateErrors,
			security.SetIgnoreCertificateErrorsParams{Ignore: true})
		w.must(err)
	}
	if o.language != "" {
		_, err := chromedp.Call(ctx, network.SetExtraHTTPHeaders,
			network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": o.language}})
		w.must(err)
	}
	w.do(chromedp.EmulateViewport(o.width, 800))
	if o.as != nil {
		cookie := o.as.SessionCookie()
		_, err := chromedp.Call(ctx, network.SetCookie,
			network.SetCookieParams{Name: cookie.Name, Value: cookie.Value, URL: address})
		w.must(err)
	}
	return w
}

// script says whether pages may run any.
func (w *window) script(may bool) {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !may})
	w.must(err)
}

// hear keeps what the tests ask for of what happens in the window.
func (w *window) hear(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		asked, err := url.Parse(e.Request.URL)
		switch {
		case err == nil && asked.Scheme == "data": // a picture in the page, or one of the browser's own for its forms
		case err == nil && w.also != "" && asked.Scheme+"://"+asked.Host == w.also:
		case err != nil || asked.Scheme+"://"+asked.Host != w.address:
			w.faults = append(w.faults, "asked another host: "+e.Request.URL)
		default:
			w.sent = append(w.sent, e.Request.Method+" "+asked.RequestURI())
		}
	case *log.EventEntryAdded:
		// An answer that is an error is the test's own affair.
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			w.faults = append(w.faults, "the browser complained: "+e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		w.faults = append(w.faults, fmt.Sprintf("the script failed: %s %v", e.ExceptionDetails.Text,
			e.ExceptionDetails.Exception))
	case *page.EventJavascriptDialogOpening:
		w.dialogs = append(w.dialogs, e.Message)
		go func() { // a call from here would wait for itself
			_, _ = chromedp.Call(w.ctx, page.HandleJavaScriptDialog,
				page.HandleJavaScriptDialogParams{Accept: !w.refuses})
		}()
	}
}

// seen returns the requests that were sent, and the questions that the page asked.
func (w *window) seen() (sent, dialogs []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.sent...), append([]string(nil), w.dialogs...)
}

func (w *window) must(err error) {
	w.t.Helper()
	if err == nil {
		return
	}
	w.keep("failed")
	w.t.Fatal(err)
}

// do takes steps, and ends the test where one fails or takes longer than patience. Where the page was replaced after a
// step had found its node, the step is taken again.
func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	w.must(chromedp.Do(w.ctx)) // the window opens, with no end
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	for _, step := range steps {
		err := chromedp.Do(ctx, step)
		for gone(err) {
			err = chromedp.Do(ctx, step)
		}
		w.must(err)
	}
}

// gone tells whether an error says that the document of a node was replaced.
func gone(err error) bool {
	var refused *cdproto.Error
	return errors.As(err, &refused) && refused.Message == "Could not find node with given id"
}

// visit opens a path and waits until the page is there.
func (w *window) visit(path string) {
	w.t.Helper()
	w.do(chromedp.Navigate(w.address + path))
}

// ask evaluates an expression of script in the page, which has one even where the page itself may run none.
func ask[T any](w *window, expression string, arguments ...any) T {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](fmt.Sprintf(expression, arguments...),
		chromedp.EvalAwaitPromise))
	w.must(err)
	return value
}

// await waits until an expression of script is true.
func (w *window) await(expression string, arguments ...any) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	for {
		true, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf("!!(%s)",
			fmt.Sprintf(expression, arguments...))))
		if err == nil && true {
			return
		}
		select {
		case <-ctx.Done():
			w.keep("failed")
			w.t.Fatalf("never: %s (%v)", fmt.Sprintf(expression, arguments...), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// keep writes a picture of the whole page to .local/browser.
func (w *window) keep(name string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if w.noScript {
		name += "-no-script"
	}
	w.write(name+".png", picture, err)
}

// write writes a file to .local/browser, unless there is an error.
func (w *window) write(name string, content []byte, err error) {
	w.t.Helper()
	folder := filepath.Join(checkout.Folder(w.t), ".local", "browser")
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		file := strings.ReplaceAll(w.t.Name(), "/", "-") + "-" + name
		err = os.WriteFile(filepath.Join(folder, file), content, 0o600)
	}
	if err != nil {
		w.t.Errorf("no picture: %v", err)
	}
}

// everyWidth keeps a picture of the page at each width, where it must fit and be accessible.
func (w *window) everyWidth(name string) {
	w.t.Helper()
	for _, width := range widths {
		w.do(chromedp.EmulateViewport(width, 800))
		w.keep(fmt.Sprintf("%s-%d", name, width))
		if wide := ask[int64](w, "document.documentElement.scrollWidth"); wide > width {
			w.t.Errorf("at %d pixels the page is %d wide", width, wide)
		}
		w.accessible()
	}
}

// axe is axe-core 4.14.1 of Deque Systems, as its package of npm has it: Mozilla Public License 2.0.
//
//go:embed testdata/axe/axe.min.js
var axe string

// accessible fails the test where axe-core finds something in the page, by the rules of WCAG 2.2 AA and its own best
// practices.
func (w *window) accessible() {
	w.t.Helper()
	w.script(true) // the page's own had its time
	defer func() { w.script(!w.noScript) }()
	ask[chromedp.Void](w, "%s", axe)
	type finding struct {
		ID, Help string
		Nodes    []struct {
			Target         []any
			FailureSummary string
		}
	}
	const run = `axe.run({resultTypes: ["violations"]}).then(({violations}) => violations)`
	for _, found := range ask[[]finding](w, run) {
		for i, node := range found.Nodes {
			if i == 5 {
				w.t.Errorf("%s: and %d more", found.ID, len(found.Nodes)-i)
				break
			}
			w.t.Errorf("%s: %s: %v %s", found.ID, found.Help, node.Target, node.FailureSummary)
		}
	}
}

// TestWindow_APageReplacedDuringAStep reloads a page while a step looks for its button.
func TestWindow_APageReplacedDuringAStep(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Button</title><link rel="icon" href="data:,"><button>Press</button>`)
	}))
	t.Cleanup(server.Close)
	w := open(t, options{at: server.URL})
	w.visit("/")
	for i := range 60 {
		w.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("setTimeout(() => location.reload(), %d)", i%12)),
			chromedp.Click(chromedp.CSS("button")))
	}
}
