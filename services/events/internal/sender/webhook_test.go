package sender

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// attempt sends a delivery to a receiver that answers with the text and keeps the connection open.
func attempt(t *testing.T, answer string) (code int, fault string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	errortest.None(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = connection.Close() })
		_, _ = connection.Read(make([]byte, 1<<16))
		_, _ = connection.Write([]byte(answer))
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w := notice.Webhook{URL: "http://" + listener.Addr().String(), Secret: settings.NewSecret("whsec_c2VjcmV0")}
		code, fault = NewWebhooks([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}).
			Attempt(t.Context(), w, notice.Delivery{NoticeID: "1", Body: []byte("{}")})
	}()
	select {
	case <-done:
	case <-time.After(3 * attemptTimeout):
		t.Fatal("the attempt does not end")
	}
	return code, fault
}

// The text of an answer that is not HTTP, up to 10 MB, was kept as what was wrong, and logged.
func TestWebhook_WhatAReceiverSaysDoesNotFillTheLog(t *testing.T) {
	for name, answer := range map[string]string{
		"a status":   "HTTP/1.1 \x00\x1b" + strings.Repeat("A", 10_000) + "\r\n\r\n",
		"a header":   "HTTP/1.1 200 OK\r\n" + strings.Repeat("A", 10_000) + "\r\n\r\n",
		"a megabyte": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("A", 1<<20) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			code, fault := attempt(t, answer)
			if code != 0 || fault == "" || len([]rune(fault)) > maxFault {
				t.Errorf("code %d, a fault of %d bytes: %.300q", code, len(fault), fault)
			}
		})
	}
}

// After 101 the timeout no longer ended the connection, so the webhook's queue and the end of the process waited for
// the receiver.
func TestWebhook_AReceiverThatSwitchesProtocolsHoldsUpNothing(t *testing.T) {
	code, fault := attempt(t, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	valuetest.Same(t, code, 101, "code")
	valuetest.Same(t, fault, "answered 101", "fault")
}
