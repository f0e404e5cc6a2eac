// Package chart tests charts/belfry: what it renders, with both kinds of Helm, and what it refuses. No cluster
// takes part; deploy/verify/cluster has one. What the tests need is fetched by .ci/chart.
package chart
