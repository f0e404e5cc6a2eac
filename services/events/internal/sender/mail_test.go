package sender

import (
	"context"
	"errors"
	"net"
	netmail "net/mail"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// TestMail_AnIPv6AddressHasItsPort: without brackets, no connection could be made.
func TestMail_AnIPv6AddressHasItsPort(t *testing.T) {
	for host, dialled := range map[string]string{
		"fd00::25": "[fd00::25]:587", "[fd00::25]": "[fd00::25]:587", "10.20.0.1": "10.20.0.1:587",
	} {
		m, err := NewMail(&Settings{
			SMTPHost: host, SMTPPort: 587, SMTPTLS: "mandatory", MailFrom: "belfry@school.example",
		})
		errortest.None(t, err)
		valuetest.Same(t, m.(*Mail).client.ServerAddr(), dialled, host)
	}
}

// startServer returns a Mail whose server takes one connection and answers each command, until one begins with last.
// Then it calls end, and closes the connection when end returns.
func startServer(t *testing.T, last string, end func()) notice.Mail {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	errortest.None(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		accepted, err := listener.Accept()
		if err != nil {
			return
		}
		connection := textproto.NewConn(accepted)
		defer func() { _ = connection.Close() }()
		_ = connection.PrintfLine("220 mail.test")
		for {
			command, err := connection.ReadLine()
			switch {
			case err != nil:
				return
			case strings.HasPrefix(command, last):
				end()
				return
			case command == "DATA":
				_ = connection.PrintfLine("354 go on")
				_, _ = connection.ReadDotLines()
			}
			_ = connection.PrintfLine("250 ok")
		}
	}()
	m, err := NewMail(&Settings{
		SMTPHost: "127.0.0.1", SMTPPort: listener.Addr().(*net.TCPAddr).Port, SMTPTLS: "none",
		MailFrom: "belfry@school.example",
	})
	errortest.None(t, err)
	return m
}

var kim = netmail.Address{Name: "Kim Keeper", Address: "kim@school.example"}

// A server that closed the connection left the recipient's address in the log.
func TestMail_ABrokenConnectionIsReportedWithoutTheAddress(t *testing.T) {
	for _, last := range []string{"RCPT", "DATA"} {
		t.Run(last, func(t *testing.T) {
			err := startServer(t, last, func() {}).Send(t.Context(), kim, []notice.Item{{Mail: "M.1"}})
			valuetest.MustHold(t, err != nil && !errors.As(err, &notice.RefusedError{}), "got %v", err)
			valuetest.Has(t, err.Error(), last, "the error")
			valuetest.Lacks(t, err.Error(), "@", "the error")
		})
	}
}

// A server that took a mail and then answered nothing held up all other mail for five minutes. If the process stopped
// meanwhile, the mail was sent again.
func TestMail_AServerThatDoesNotTakeLeaveHoldsUpNothing(t *testing.T) {
	for _, last := range []string{"RSET", "QUIT"} {
		for name, stop := range map[string]bool{"": false, " when the process stops": true} {
			t.Run(last+name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				over := make(chan struct{})
				defer close(over)
				m := startServer(t, last, func() {
					if stop {
						cancel()
					}
					<-over
				})
				sent := make(chan error, 1)
				go func() { sent <- m.Send(ctx, kim, []notice.Item{{Mail: "M.1"}}) }()
				select {
				case err := <-sent:
					errortest.None(t, err)
				case <-time.After(time.Minute):
					t.Fatal("the mail is not sent after a minute")
				}
			})
		}
	}
}
