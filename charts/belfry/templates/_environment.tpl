{{/* The variables that all services share, except secrets, as NAME: value. */}}
{{- define "belfry.sharedEnvironment" -}}
{{- $v := .Values -}}
{{- $env := dict
  "BELFRY_LOG_LEVEL" $v.logLevel
  "BELFRY_TIMEZONE" $v.timeZone
  "MONGODB_DATABASE" $v.mongodb.database
  "BELFRY_REDIS_MODE" $v.redis.mode
  "BELFRY_REDIS_PREFIX" $v.redis.prefix
  "BELFRY_SECURE_COOKIES" (toString $v.secureCookies)
  "BELFRY_SESSION_IDLE" $v.sessions.idle
  "BELFRY_SESSION_ABSOLUTE" $v.sessions.absolute
  "BELFRY_REQUEST_TIMEOUT" $v.requestTimeout
  "BELFRY_DRAIN_DELAY" (printf "%ds" (int $v.shutdown.drainSeconds))
  "BELFRY_STOP_DEADLINE" (printf "%ds" (int $v.shutdown.stopSeconds)) -}}
{{- range $name, $_ := $v.services -}}
{{- $url := printf "http://%s-%s:8081" (include "belfry.fullname" $) $name -}}
{{- $_ := set $env (printf "BELFRY_%s_URL" (upper $name)) $url -}}
{{- end -}}
{{- with $v.trustedProxies }}{{ $_ := set $env "BELFRY_TRUSTED_PROXIES" (join "," .) }}{{ end -}}
{{- with $v.allowedOrigins }}{{ $_ := set $env "BELFRY_ALLOWED_ORIGINS" (join "," .) }}{{ end -}}
{{- if $v.telemetry.endpoint -}}
{{- $_ := set $env "OTEL_EXPORTER_OTLP_ENDPOINT" $v.telemetry.endpoint -}}
{{- $_ := set $env "OTEL_EXPORTER_OTLP_PROTOCOL" $v.telemetry.protocol -}}
{{- end -}}
{{- if $v.certificateAuthority.configMap }}{{ $_ := set $env "SSL_CERT_FILE" "/etc/belfry/ca/ca.crt" }}{{ end -}}
{{- mergeOverwrite $env (deepCopy $v.extraEnv) | toYaml -}}
{{- end -}}

{{/* A service's own variables, except secrets, as NAME: value. Takes
     (dict "root" $ "name" "events" "service" VALUES). */}}
{{- define "belfry.ownEnvironment" -}}
{{- $v := .root.Values -}}
{{- $env := dict "GOMEMLIMIT" (include "belfry.goMemoryLimit" .service.resources.limits.memory) -}}
{{- if and $v.telemetry.endpoint (not (hasKey $v.extraEnv "OTEL_RESOURCE_ATTRIBUTES")) -}}
{{- $pod := "service.instance.id=$(POD_NAME),k8s.pod.name=$(POD_NAME)" -}}
{{- $_ := set $env "OTEL_RESOURCE_ATTRIBUTES" (printf "%s,k8s.namespace.name=%s" $pod .root.Release.Namespace) -}}
{{- end -}}
{{- if eq .name "events" -}}
{{- $_ := set $env "BELFRY_CLASH_NOTES_AT" $v.clashNotes.at -}}
{{- $_ := set $env "BELFRY_CLASH_DAYS" (toString (int $v.clashNotes.days)) -}}
{{- with include "belfry.publicUrl" .root }}{{ $_ := set $env "BELFRY_PUBLIC_URL" . }}{{ end -}}
{{- with $v.webhooks.networks }}{{ $_ := set $env "BELFRY_WEBHOOK_NETWORKS" (join "," .) }}{{ end -}}
{{- if $v.mail.host -}}
{{- $_ := set $env "BELFRY_SMTP_HOST" $v.mail.host -}}
{{- $_ := set $env "BELFRY_SMTP_PORT" (toString (int $v.mail.port)) -}}
{{- $_ := set $env "BELFRY_SMTP_TLS" $v.mail.tls -}}
{{- $_ := set $env "BELFRY_MAIL_FROM" $v.mail.from -}}
{{- $_ := set $env "BELFRY_MAIL_DIGEST" $v.mail.digest -}}
{{- with $v.mail.username }}{{ $_ := set $env "BELFRY_SMTP_USERNAME" . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if eq .name "notes" }}{{ $_ := set $env "BELFRY_ORPHANED_NOTES_EVERY" $v.orphanedNotes.every }}{{ end -}}
{{- mergeOverwrite $env (deepCopy .service.extraEnv) | toYaml -}}
{{- end -}}

{{/* A service's variables from Secrets, as NAME: {name, key, optional}. Takes what belfry.ownEnvironment takes. */}}
{{- define "belfry.secretEnvironment" -}}
{{- $s := .root.Values.secrets -}}
{{- $env := dict "MONGODB_URI" $s.mongodbUri "REDIS_URL" $s.redisUrl "BELFRY_INTERNAL_TOKEN" $s.internalToken -}}
{{- if eq .name "identity" -}}
{{- $_ := set $env "BOOTSTRAP_ADMIN_UUID" (merge (dict "optional" true) $s.adminUuid) -}}
{{- end -}}
{{- if and (eq .name "events") .root.Values.mail.username -}}
{{- $_ := set $env "BELFRY_SMTP_PASSWORD" $s.smtpPassword -}}
{{- end -}}
{{- mergeOverwrite (deepCopy $env) (deepCopy .root.Values.secretEnv) (deepCopy .service.secretEnv) | toYaml -}}
{{- end -}}

{{/* The env list of a service's container. Each name is there once, because server-side apply refuses a second. The
     shared variables come from the ConfigMap. With "inline" true they stand in the list, because a hook runs before
     there is a ConfigMap. Takes (dict "root" $ "name" "events" "service" VALUES "inline" false). */}}
{{- define "belfry.environment" -}}
{{- $plain := include "belfry.ownEnvironment" . | fromYaml -}}
{{- $shared := include "belfry.sharedEnvironment" .root | fromYaml -}}
{{- $secret := include "belfry.secretEnvironment" . | fromYaml -}}
{{- range $name, $_ := $secret -}}
{{- if or (hasKey $plain $name) (hasKey $shared $name) -}}
{{- fail (printf "extraEnv: %s comes from a Secret; set secretEnv or secrets instead" $name) -}}
{{- end -}}
{{- end -}}
{{- if .inline }}{{ $plain = merge $plain $shared }}{{ end -}}
{{- if contains "$(POD_NAME)" (toJson $plain) -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
{{ end -}}
{{- $root := .root -}}
{{- range $name := concat (keys $plain) (keys $secret) | sortAlpha -}}
- name: {{ $name }}
{{- with get $secret $name }}
  valueFrom: {secretKeyRef: {{ include "belfry.secretKeyRef" (dict "root" $root "secret" .) }}}
{{- else }}
  value: {{ get $plain $name | quote }}
{{- end }}
{{ end -}}
{{- end -}}

{{/* A reference to an entry of secrets. Takes (dict "root" $ "secret" ENTRY). */}}
{{- define "belfry.secretKeyRef" -}}
{name: {{ default .root.Values.secrets.name .secret.name }}, key: {{ .secret.key }}
{{- if .secret.optional }}, optional: true{{ end }}}
{{- end -}}

{{/* Nine tenths of a memory limit in Mi or Gi, in the form of GOMEMLIMIT. The rest is for memory that Go does not
     count. */}}
{{- define "belfry.goMemoryLimit" -}}
{{- $number := regexFind "^[0-9]+" . | int -}}
{{- printf "%dMiB" (div (mul $number (ternary 1024 1 (hasSuffix "Gi" .)) 9) 10) -}}
{{- end -}}

{{/* A memory limit in Mi or Gi as a number of bytes. */}}
{{- define "belfry.bytes" -}}
{{- regexFind "^[0-9]+" . | int | mul 1048576 (ternary 1024 1 (hasSuffix "Gi" .)) -}}
{{- end -}}
