// Package browser opens Belfry's pages in Debian's Chromium, as a person does, on real services and stores behind the
// real front door: at the widths of a phone, a tablet and a desk, with and without script. On each page axe-core must
// find nothing, the page's policy must refuse nothing, and no other host is asked for anything. Pictures of the pages
// go into the checkout's .local/browser.
package browser
