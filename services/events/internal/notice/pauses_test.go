package notice

import (
	"testing"
	"time"
)

func TestWebhook_PausesDoubleFromTwoSecondsToAnHourGiveOrTakeAQuarter(t *testing.T) {
	attempts, passed := 0, time.Duration(0)
	for want := 2 * time.Second; passed < deliveryPatience; want = min(2*want, time.Hour) {
		attempts++
		least, most := 2*want, time.Duration(0)
		for range 200 {
			got := deliveryWait(attempts)
			least, most = min(least, got), max(most, got)
		}
		if least < want*3/4 || most > want*5/4 || most-least < want/4 {
			t.Errorf("after attempt %d: %v to %v, want about %v", attempts, least, most, want)
		}
		passed += want
	}
	if attempts < 30 || attempts > 40 {
		t.Errorf("%d attempts in a day", attempts)
	}
	if got := deliveryWait(1 << 40); got < 45*time.Minute || got > 75*time.Minute {
		t.Errorf("after very many attempts: %v", got)
	}
}

func TestMail_PausesAreHalfTheMailsAgeFromTenSecondsToHalfAnHour(t *testing.T) {
	for age, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 15 * time.Second: 10 * time.Second, time.Minute: 30 * time.Second,
		30 * time.Minute: 15 * time.Minute, 72 * time.Hour: 30 * time.Minute,
	} {
		for range 100 {
			if got := mailWait(age); got < want*3/4 || got > want*5/4 {
				t.Fatalf("at %v: %v, want about %v", age, got, want)
			}
		}
	}
}
