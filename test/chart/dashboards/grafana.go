package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// board is one dashboard.
type board struct {
	uid, title string
	panels     []panel
}

// panel is one graph, with a line for each series of its queries.
type panel struct {
	title, unit string // the unit is one of Grafana's: reqps, s, bytes, percentunit, short
	about       string // what it shows, and when to worry
	queries     []query
}

// query is an expression of Prometheus. OURS in it selects what the dashboard's variables say.
type query struct{ expr, legend string }

// Grafana's grid is 24 wide; three panels lie in a row.
const (
	width, height, perRow = 8, 8, 3
	// schema is the version of Grafana's format that is written; later ones read it.
	schema = 39
)

// source is the Prometheus that is chosen above the dashboard.
var source = map[string]any{"type": "prometheus", "uid": "${datasource}"}

// json returns the dashboard as Grafana imports it.
func (b board) json() ([]byte, error) {
	panels := make([]map[string]any, len(b.panels))
	for i, p := range b.panels {
		panels[i] = p.json(i)
	}
	text, err := json.MarshalIndent(map[string]any{
		"uid": b.uid, "title": b.title, "tags": []string{"belfry"}, "schemaVersion": schema, "editable": false,
		"refresh": "30s", "time": map[string]any{"from": "now-3h", "to": "now"}, "panels": panels,
		"templating": map[string]any{"list": []map[string]any{
			{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
			variable("namespace", "belfry_store_up", false),
			variable("service", `belfry_store_up{namespace="$namespace"}`, true),
		}},
		"links": []map[string]any{{"type": "dashboards", "title": "Belfry", "tags": []string{"belfry"},
			"keepTime": true, "includeVars": true}},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.uid, err)
	}
	return append(text, '\n'), nil
}

// variable is a choice among the values that a label of a metric has. Many: several may be chosen, and all are at
// first.
func variable(label, metric string, many bool) map[string]any {
	v := map[string]any{
		"name": label, "label": label, "type": "query", "datasource": source, "refresh": 2, "sort": 1,
		"query":      map[string]any{"query": "label_values(" + metric + ", " + label + ")", "refId": "values"},
		"definition": "label_values(" + metric + ", " + label + ")",
		"includeAll": many, "multi": many,
	}
	if many {
		v["current"] = map[string]any{"text": []string{"All"}, "value": []string{"$__all"}}
	}
	return v
}

func (p panel) json(i int) map[string]any {
	targets := make([]map[string]any, len(p.queries))
	for j, q := range p.queries {
		targets[j] = map[string]any{
			"refId": string(rune('A' + j)), "datasource": source, "legendFormat": q.legend,
			"expr": strings.ReplaceAll(q.expr, "OURS", `namespace="$namespace",service=~"$service"`),
		}
	}
	return map[string]any{
		"id": i + 1, "type": "timeseries", "title": p.title, "description": p.about, "datasource": source,
		"gridPos": map[string]int{"w": width, "h": height, "x": i % perRow * width, "y": i / perRow * height},
		"fieldConfig": map[string]any{
			"defaults":  map[string]any{"unit": p.unit, "min": 0, "custom": map[string]any{"fillOpacity": 10}},
			"overrides": []any{},
		},
		"options": map[string]any{
			"legend":  map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true},
			"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
		},
		"targets": targets,
	}
}
