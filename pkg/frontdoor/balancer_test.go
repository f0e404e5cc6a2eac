package frontdoor_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// asked returns what a balancer answers to a question, or why there is no answer.
func asked(t *testing.T, b *frontdoor.Balancer) (string, error) {
	t.Helper()
	answer, err := http.Post("http://"+b.Address+"/internal/users", "application/json", strings.NewReader("ids"))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	return string(text), err
}

func TestBalancer_QuestionsGoToAllReplicasAndPastADeadOne(t *testing.T) {
	b, err := frontdoor.Balance([]string{replica(t, "first"), closedAddress(t), replica(t, "third")})
	errortest.None(t, err)
	defer b.Close()
	answers := map[string]int{}
	for range 30 {
		text, err := asked(t, b)
		errortest.None(t, err)
		answers[text]++
	}
	if len(answers) != 2 || answers["first POST /internal/users ids "] < 10 ||
		answers["third POST /internal/users ids "] < 10 {
		t.Errorf("answers %v", answers)
	}
}

// TestBalancer_AQuestionWithoutAnswerHasNone: the caller repeats a question whose connection ended, and accepts a 503.
func TestBalancer_AQuestionWithoutAnswerHasNone(t *testing.T) {
	dying := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer dying.Close()
	b, err := frontdoor.Balance([]string{dying.Listener.Addr().String(), dying.Listener.Addr().String()})
	errortest.None(t, err)
	defer b.Close()
	if text, err := asked(t, b); err == nil {
		t.Errorf("the answer is %q", text)
	}
}

func TestBalancer_OneReplicaIsAskedItself(t *testing.T) {
	address := closedAddress(t)
	b, err := frontdoor.Balance([]string{address})
	if err != nil || b.Address != address {
		t.Errorf("%v, %v", b, err)
	}
	b.Close()
}
