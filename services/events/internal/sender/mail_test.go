package sender

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
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
