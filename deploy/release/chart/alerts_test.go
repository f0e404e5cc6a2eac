package chart_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// rules are the expressions of the PrometheusRule, by the name of the record or alert.
func rules(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, group := range list(only(render(t, "--set", "prometheusRule.enabled=true"), "PrometheusRule")["belfry"].at(
		"spec", "groups")) {
		for _, rule := range list(walk(group, "rules")) {
			name := walk(rule, "alert")
			if name == nil {
				name = walk(rule, "record")
			}
			found[fmt.Sprint(name)] = append(found[fmt.Sprint(name)], fmt.Sprint(walk(rule, "expr")))
		}
	}
	return found
}

// Alerts use metrics and labels that running services have. Labels that Prometheus adds itself are left out.
func TestAlertsAskForMetricsThatExist(t *testing.T) {
	system := servicetest.Start(t,
		servicetest.Options{Env: map[string]string{"BELFRY_WEBHOOK_NETWORKS": "127.0.0.0/8"}})
	endpoint := receivers.NewEndpoint(t)
	admin := system.Admin(t)
	var made struct{ Webhook struct{ ID int64 } }
	admin.Post(t, "/api/admin/webhooks", map[string]any{"webhook": map[string]any{"url": endpoint.URL}}).Decode(t,
		&made)
	admin.Post(t, fmt.Sprintf("/api/admin/webhooks/%d/test", made.Webhook.ID), nil)

	deadline, text := time.Now().Add(10*time.Second), ""
	for !strings.Contains(text, "belfry_notice_attempts_total{") {
		if time.Now().After(deadline) {
			t.Fatalf("no notice was counted:\n%s", text)
		}
		time.Sleep(50 * time.Millisecond)
		text = system.Metrics(t, "events", 0)
	}
	rules := rules(t)
	if len(rules) < 10 {
		t.Fatalf("only %d rules", len(rules))
	}
	for name, expressions := range rules {
		for _, expression := range expressions {
			tree, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
				if s, ok := n.(*parser.VectorSelector); ok && s.Name != "up" && rules[s.Name] == nil {
					if fault := unknown(s, text); fault != "" {
						t.Errorf("%s: %s", name, fault)
					}
				}
				return nil
			})
		}
	}
}

// unknown lists what a selector needs and a service's metrics do not have, "" when they have it all.
func unknown(s *parser.VectorSelector, metrics string) string {
	sample := regexp.MustCompile("(?m)^" + s.Name + `(\{.*\})? `).FindString(metrics)
	if sample == "" {
		return "no service has " + s.Name
	}
	for _, label := range s.LabelMatchers {
		if !slices.Contains([]string{"__name__", "namespace", "service"}, label.Name) &&
			!strings.Contains(sample, label.Name+`="`) {
			return "no label " + label.Name + " in " + sample
		}
	}
	return ""
}

// The guide explains every alert.
func TestTheGuideExplainsEveryAlert(t *testing.T) {
	guide := checkout.Read(t, "docs/operate.md")
	for name := range rules(t) {
		if strings.HasPrefix(name, "Belfry") && !strings.Contains(guide, "`"+name+"`") {
			t.Errorf("docs/operate.md does not explain %s", name)
		}
	}
}
