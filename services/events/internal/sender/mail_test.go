package sender

import (
	"bufio"
	"errors"
	"net"
	netmail "net/mail"
	"strings"
	"testing"

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

// A server that closed the connection left the recipient's address in the log.
func TestMail_ABrokenConnectionIsReportedWithoutTheAddress(t *testing.T) {
	for _, last := range []string{"RCPT", "DATA"} {
		t.Run(last, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			errortest.None(t, err)
			t.Cleanup(func() { _ = listener.Close() })
			go func() {
				connection, err := listener.Accept()
				if err != nil {
					return
				}
				defer func() { _ = connection.Close() }()
				_, _ = connection.Write([]byte("220 mail.test\r\n"))
				lines := bufio.NewScanner(connection)
				for lines.Scan() && !strings.HasPrefix(lines.Text(), last) {
					_, _ = connection.Write([]byte("250 ok\r\n"))
				}
			}()
			m, err := NewMail(&Settings{
				SMTPHost: "127.0.0.1", SMTPPort: listener.Addr().(*net.TCPAddr).Port, SMTPTLS: "none",
				MailFrom: "belfry@school.example",
			})
			errortest.None(t, err)
			to := netmail.Address{Name: "Kim Keeper", Address: "kim@school.example"}
			err = m.Send(t.Context(), to, []notice.Item{{Mail: "M.1"}})
			if err == nil || errors.As(err, &notice.RefusedError{}) {
				t.Fatalf("got %v", err)
			}
			valuetest.Has(t, err.Error(), last, "the error")
			valuetest.Lacks(t, err.Error(), "@", "the error")
		})
	}
}
