{{/* The environment of the services' containers. Three tables say which variables there are, one in each line:
       belfry.sharedVariables   those of all services
       belfry.ownVariables      those of one service
       belfry.secretVariables   those of one service that come from Secrets
     The first is the ConfigMap (belfry.sharedEnvironment). All three, with extraEnv, are the env list of a container
     (belfry.environment). "One service" is (dict "root" $ "name" "events" "service" VALUES) everywhere. */}}

{{- define "belfry.sharedVariables" -}}
{{- with .Values }}
BELFRY_LOG_LEVEL: {{ .logLevel | quote }}
BELFRY_TIMEZONE: {{ .timeZone | quote }}
MONGODB_DATABASE: {{ .mongodb.database | quote }}
BELFRY_REDIS_MODE: {{ .redis.mode | quote }}
BELFRY_REDIS_PREFIX: {{ .redis.prefix | quote }}
BELFRY_SECURE_COOKIES: {{ .secureCookies | quote }}
BELFRY_SESSION_IDLE: {{ .sessions.idle | quote }}
BELFRY_SESSION_ABSOLUTE: {{ .sessions.absolute | quote }}
BELFRY_REQUEST_TIMEOUT: {{ .requestTimeout | quote }}
BELFRY_PUPILS_SEE: {{ .pupilsSee | quote }}
BELFRY_PUPILS_SEE_STAFF: {{ .pupilsSeeStaff | quote }}
BELFRY_STAFF_SEE: {{ .staffSee | quote }}
BELFRY_GUESTS_SEE: {{ .guestsSee | quote }}
BELFRY_CHANGES_KEPT: {{ .changes.kept | quote }}
BELFRY_ACCESS_LOG_DAYS: {{ .accessLogDays | int | quote }}
BELFRY_DIRECTORY_MEMORY: {{ .directoryMemory | int | quote }}
BELFRY_DRAIN_DELAY: {{ .shutdown.drainSeconds | int }}s
BELFRY_STOP_DEADLINE: {{ .shutdown.stopSeconds | int }}s
{{- range $name := without (include "belfry.services" $ | fromJsonArray) "console" }}
BELFRY_{{ upper $name }}_URL: http://{{ include "belfry.fullname" $ }}-{{ $name }}:8081
{{- end }}
{{- if .trustedProxies }}
BELFRY_TRUSTED_PROXIES: {{ join "," .trustedProxies | quote }}
{{- end }}
{{- if .allowedOrigins }}
BELFRY_ALLOWED_ORIGINS: {{ join "," .allowedOrigins | quote }}
{{- end }}
{{- if .telemetry.endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ .telemetry.endpoint | quote }}
OTEL_EXPORTER_OTLP_PROTOCOL: {{ .telemetry.protocol | quote }}
{{- end }}
{{- if .certificateAuthority.configMap }}
SSL_CERT_FILE: /etc/belfry/ca/ca.crt
{{- end }}
{{- end }}
{{- end -}}

{{- define "belfry.ownVariables" -}}
{{- $release := .root.Release }}
{{- $url := include "belfry.publicUrl" .root }}
GOMEMLIMIT: {{ include "belfry.goMemoryLimit" .service.resources.limits.memory }}
{{- with .root.Values }}
{{- if .telemetry.endpoint }}
OTEL_RESOURCE_ATTRIBUTES: {{ print "service.instance.id=$(POD_NAME),k8s.pod.name=$(POD_NAME),k8s.namespace.name="
  $release.Namespace }}
{{- end }}
{{- if eq $.name "events" }}
BELFRY_DATE_ORDER: {{ .dateOrder | quote }}
BELFRY_STREAMS: {{ .changes.streams | int | quote }}
BELFRY_STREAMS_OF_ONE: {{ .changes.streamsOfOne | int | quote }}
BELFRY_CLASH_NOTES_AT: {{ .clashNotes.at | quote }}
BELFRY_CLASH_DAYS: {{ .clashNotes.days | int | quote }}
{{- if $url }}
BELFRY_PUBLIC_URL: {{ $url | quote }}
{{- end }}
{{- if .webhooks.networks }}
BELFRY_WEBHOOK_NETWORKS: {{ join "," .webhooks.networks | quote }}
{{- end }}
{{- if .mail.host }}
BELFRY_SMTP_HOST: {{ .mail.host | quote }}
BELFRY_SMTP_PORT: {{ .mail.port | int | quote }}
BELFRY_SMTP_TLS: {{ .mail.tls | quote }}
BELFRY_MAIL_FROM: {{ .mail.from | quote }}
BELFRY_MAIL_DIGEST: {{ .mail.digest | quote }}
{{- end }}
{{- if and .mail.host .mail.username }}
BELFRY_SMTP_USERNAME: {{ .mail.username | quote }}
{{- end }}
{{- end }}
{{- if eq $.name "identity" }}
BELFRY_UUID_LOGIN: {{ .oidc.uuidLogin | quote }}
{{- with .oidc.providers }}
{{- $list := list }}
{{- range . }}{{ $list = omit . "clientSecret" | append $list }}{{ end }}
BELFRY_OIDC_PROVIDERS: {{ toJson $list | quote }}
BELFRY_PUBLIC_URL: {{ required "oidc.providers: set host or publicUrl, where the providers send browsers back to" $url |
  quote }}
{{- end }}
{{- end }}
{{- if and (eq $.name "identity") .securityTxt.contacts }}
BELFRY_SECURITY_CONTACTS: {{ join "," .securityTxt.contacts | quote }}
BELFRY_SECURITY_EXPIRES: {{ .securityTxt.expires | quote }}
{{- end }}
{{- if eq $.name "console" }}
{{- $routes := list }}
{{- range include "belfry.routes" $.root | fromJsonArray }}
{{- if ne .service "console" }}
{{- $routes = append $routes (printf "%s=http://%s-%s:8080" .prefix (include "belfry.fullname" $.root) .service) }}
{{- end }}
{{- end }}
BELFRY_API_ROUTES: {{ join "," $routes | quote }}
BELFRY_SCHOOL_NAME: {{ .console.schoolName | quote }}
{{- end }}
{{- if eq $.name "notes" }}
BELFRY_ORPHANED_NOTES_EVERY: {{ .orphanedNotes.every | quote }}
{{- if .notesImageHosts }}
BELFRY_NOTES_IMAGE_HOSTS: {{ join "," .notesImageHosts | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "belfry.secretVariables" -}}
{{- with .root.Values }}
{{- if ne $.name "console" }}
MONGODB_URI: {{ toJson .secrets.mongodbUri }}
REDIS_URL: {{ toJson .secrets.redisUrl }}
{{- end }}
BELFRY_INTERNAL_TOKEN: {{ toJson .secrets.internalToken }}
{{- if eq $.name "identity" }}
BOOTSTRAP_ADMIN_UUID: {{ merge (dict "optional" true) .secrets.adminUuid | toJson }}
{{- range .oidc.providers }}
{{- if .clientSecret }}
BELFRY_OIDC_SECRET_{{ upper .name }}: {{ toJson .clientSecret }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (eq $.name "events") .mail.username }}
BELFRY_SMTP_PASSWORD: {{ toJson .secrets.smtpPassword }}
{{- end }}
{{- if and (eq $.name "console") .secrets.publicToken.key }}
BELFRY_PUBLIC_TOKEN: {{ toJson .secrets.publicToken }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The shared variables in the order of their names, as NAME: value. */}}
{{- define "belfry.sharedEnvironment" -}}
{{- include "belfry.sharedVariables" . | fromYaml | toYaml -}}
{{- end -}}

{{/* The env list of one service's container. With "inline" true the shared variables stand in it, because a hook runs
     before there is a ConfigMap. A variable is there once, because server-side apply refuses a second. The kubelet
     expands $(NAME) in this list alone, so extraEnv is here, and only by what stands before, so such values come
     last. */}}
{{- define "belfry.environment" -}}
{{- $shared := include "belfry.sharedEnvironment" .root | fromYaml }}
{{- $plain := mergeOverwrite (include "belfry.ownVariables" . | fromYaml) (deepCopy .root.Values.extraEnv)
  (deepCopy .service.extraEnv) }}
{{- $secret := mergeOverwrite (include "belfry.secretVariables" . | fromYaml) (deepCopy .root.Values.secretEnv)
  (deepCopy .service.secretEnv) }}
{{- range $name, $_ := $secret }}
{{- if or (hasKey $plain $name) (hasKey $shared $name) }}
{{- fail (printf "extraEnv: %s comes from a Secret; set secretEnv or secrets instead" $name) }}
{{- end }}
{{- end }}
{{- if .inline }}{{ $plain = merge $plain $shared }}{{ end }}
{{- if and (contains "$(POD_NAME)" (toJson $plain)) (not (hasKey $plain "POD_NAME")) }}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
{{- end }}
{{- range $names := list false true }}
{{- range $name, $value := merge $plain $secret }}
{{- if eq $names (contains "$(" (toString $value)) }}
- name: {{ $name }}
{{- if hasKey $secret $name }}
  valueFrom: {secretKeyRef: {{ include "belfry.secretKeyRef" (dict "root" $.root "secret" $value) }}}
{{- else }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A reference to an entry of secrets. Takes (dict "root" $ "secret" ENTRY). */}}
{{- define "belfry.secretKeyRef" -}}
{name: {{ default .root.Values.secrets.name .secret.name | toYaml }}, key: {{ toYaml .secret.key }}
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
