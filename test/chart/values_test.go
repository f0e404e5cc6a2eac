package chart_test

import (
	"strings"
	"testing"
)

// Invalid values are refused, and the message names the value.
func TestWrongValuesAreRefused(t *testing.T) {
	wantRefused(t, map[string]string{
		"replicas=3":                                    "additional properties 'replicas' not allowed",
		"defaults.replica=3":                            "additional properties 'replica' not allowed",
		"services.pupils.replicas=2":                    "additional properties 'pupils' not allowed",
		"services.notes=null":                           "missing property 'notes'",
		"defaults.replicas=0":                           "/defaults/replicas",
		"services.events.replicas=many":                 "/services/events/replicas",
		"defaults.resources.limits.memory=256M":         "/defaults/resources/limits/memory",
		"defaults.resources.limits.memory=32Mi":         "/defaults/resources/limits/memory",
		"services.notes.resources.limits.memory=":       "/services/notes/resources/limits/memory",
		"image.pullPolicy=Sometimes":                    "value must be one of 'IfNotPresent', 'Always', 'Never'",
		"image.registry=https://registry.example":       "/image/registry",
		"global.imageRegistry=https://registry.example": "/global/imageRegistry",
		"enabled=false":                                 "/enabled",
		"anchor.a=b":                                    "additional properties 'anchor' not allowed",
		"services.events.digest=1234":                   "/services/events/digest",
		"host=https://belfry.school.example":            "/host",
		"publicUrl=belfry.school.example":               "/publicUrl",
		"timeZone=BST":                                  "/timeZone",
		"logLevel=debug":                                "value must be one of 'DEBUG', 'INFO', 'WARN', 'ERROR'",
		"secureCookies=yes please":                      "/secureCookies",
		"trustedProxies[0]=10.0.0.1":                    "/trustedProxies/0",
		"allowedOrigins[0]=timetable.example":           "/allowedOrigins/0",
		"notesImageHosts[0]=https://img.example":        "/notesImageHosts/0",
		"sessions.idle=2 hours":                         "/sessions/idle",
		"changes.kept=30 days":                          "/changes/kept",
		"shutdown.drainSeconds=5s":                      "/shutdown/drainSeconds",
		"shutdown.stopSeconds=0":                        "/shutdown/stopSeconds",
		"mongodb.uri=mongodb://x":                       "additional properties 'uri' not allowed",
		"redis.prefix=":                                 "/redis/prefix",
		"secrets.mongodbUri=mongodb://x":                "/secrets/mongodbUri",
		"mail.host=smtp.school.example":                 "/mail/from",
		"mail.tls=starttls": "value must be one of 'mandatory', 'opportunistic', 'implicit', " +
			"'none'",
		"mail.port=0":                                    "/mail/port",
		"dateOrder=ymd":                                  "/dateOrder",
		"pupilsSee=public":                               "/pupilsSee",
		"staffSee=own":                                   "/staffSee",
		"guestsSee=own":                                  "/guestsSee",
		"accessLogDays=-1":                               "/accessLogDays",
		"clashNotes.at=3:00":                             "/clashNotes/at",
		"clashNotes.days=93":                             "/clashNotes/days",
		"webhooks.networks[0]=10.20.0.0":                 "/webhooks/networks/0",
		"telemetry.endpoint=collector:4318":              "/telemetry/endpoint",
		"extraEnv.A-B=x":                                 "invalid propertyName 'A-B'",
		"extraEnv.A=1":                                   "got number, want string",
		"commonLabels.team=a team":                       "/commonLabels/team",
		`commonLabels.helm\.sh/chart=x`:                  "invalid propertyName 'helm.sh/chart'",
		"extraHosts[0]=https://a.example":                "/extraHosts/0",
		"extraVolumes[0].emptyDir.medium=Memory":         "missing property 'name'",
		"extraVolumeMounts[0].name=a":                    "missing property 'mountPath'",
		"extraObjects[0].kind=Secret":                    "missing properties 'apiVersion', 'metadata'",
		"services.notes.appProtocol=HTTP 1":              "/services/notes/appProtocol",
		"defaults.serviceAnnotations.a=1":                "/defaults/serviceAnnotations/a",
		"defaults.autoscaling.behavior.scaleSideways=x":  "additional properties 'scaleSideways' not allowed",
		"defaults.spread.zone=Sometimes":                 "/defaults/spread/zone",
		"httpRoute.timeouts.request=1.5s":                "/httpRoute/timeouts/request",
		"networkPolicy.extraEgress[0]=all":               "/networkPolicy/extraEgress/0",
		"secretEnv.A.name=x":                             "missing property 'key'",
		"networkPolicy.mongodb.ports[0]=mongo":           "/networkPolicy/mongodb/ports/0",
		"prometheusRule.errorBudget=0.1":                 "/prometheusRule/errorBudget",
		"test.url=belfry":                                "/test/url",
		"podSecurity.runAsUser=0":                        "/podSecurity/runAsUser",
		"podSecurity.user=1":                             "additional properties 'user' not allowed",
		"networkPolicy.dnsPorts[0]=dns":                  "/networkPolicy/dnsPorts/0",
		"defaults.lostNodeSeconds=60s":                   "/defaults/lostNodeSeconds",
		"fullnameOverride=school.north":                  "/fullnameOverride",
		"fullnameOverride=2026":                          "/fullnameOverride",
		"nameOverride=belfry.north":                      "/nameOverride",
		"migration.requests.cpu=true":                    "/migration/requests/cpu",
		`migration.podLabels.app\.kubernetes\.io/name=x`: "invalid propertyName 'app.kubernetes.io/name'",
		`migration.annotations.helm\.sh/hook=x`:          "invalid propertyName 'helm.sh/hook'",
		"test.labels.a=a b":                              "/test/labels/a",

		// The templates find these.
		"ingress.enabled=true": "ingress: set host, the DNS name at " +
			"which clients reach this deployment",
		"httpRoute.enabled=true,host=a.example": "httpRoute: set httpRoute.parentRefs",
		"httpRoute.enabled=true,httpRoute.parentRefs[0].name=a," +
			"trustedProxies[0]=10.42.0.0/16": "httpRoute: set host",
		"extraEnv.MONGODB_URI=mongodb://x": "extraEnv: MONGODB_URI comes from a " +
			"Secret; set secretEnv or secrets instead",
		"services.events.extraEnv.REDIS_URL=redis://x": "extraEnv: REDIS_URL comes from a " +
			"Secret",
		"defaults.autoscaling.enabled=true," +
			"defaults.autoscaling.maxReplicas=1": "maxReplicas (1) is below minReplicas (2)",
	})
}

// TestHardToBreak_Row05_NoWayInWithoutTrustedProxies: without them all clients count as one, in the audit and
// for the limit on wrong logins; with all addresses each client chooses its own.
func TestHardToBreak_Row05_NoWayInWithoutTrustedProxies(t *testing.T) {
	wantRefused(t, map[string]string{
		"ingress.enabled=true,host=a.example": "ingress: set trustedProxies, the networks of the pods " +
			"that connect to Belfry",
		"httpRoute.enabled=true,host=a.example,httpRoute.parentRefs[0].name=a": "httpRoute: set trustedProxies",
		"trustedProxies[0]=0.0.0.0/0":                                          "/trustedProxies/0",
		"trustedProxies[0]=::/0":                                               "/trustedProxies/0",
		"trustedProxies[0]=10.0.0.0/00":                                        "/trustedProxies/0",
	})
}

// wantRefused fails the test unless each of the settings is refused with its message.
func wantRefused(t *testing.T, messages map[string]string) {
	t.Helper()
	for set, want := range messages {
		for _, version := range []string{"helm 3", "helm 4"} {
			_, errs, err := template(version, "--set", set)
			if err == nil || !strings.Contains(errs, want) {
				t.Errorf("%s, --set %s: want %q, got %v\n%s", version, set, want, err, errs)
			}
		}
	}
}
