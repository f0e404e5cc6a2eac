{{/* The beginning of every pod's spec. Takes (dict "root" $ "account" NAME "service" VALUES). An empty account is the
     namespace's default, without its token. Of the values it uses those that say where the pod may run, and
     hostAliases. */}}
{{- define "belfry.podSpec" -}}
automountServiceAccountToken: false
{{- with .account }}
serviceAccountName: {{ . }}
{{- end }}
enableServiceLinks: false
{{- with concat .root.Values.image.pullSecrets .root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ toYaml . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile: {type: RuntimeDefault}
  {{- range $name, $id := .root.Values.podSecurity }}
  {{- with $id }}
  {{ $name }}: {{ int64 . }}
  {{- end }}
  {{- end }}
{{- with .service.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .service.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
tolerations:
  {{- $seconds := .service.lostNodeSeconds }}
  {{- range list "not-ready" "unreachable" }}
  - {key: node.kubernetes.io/{{ . }}, operator: Exists, effect: NoExecute, tolerationSeconds: {{ $seconds }}}
  {{- end }}
  {{- with .service.tolerations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .service.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .service.priorityClassName }}
priorityClassName: {{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The security context of every container: the restricted standard and a read-only root. */}}
{{- define "belfry.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{/* A service's container, without ports and probes, which only serving needs. Takes
     (dict "root" $ "name" "events" "service" VALUES "inline" false). */}}
{{- define "belfry.container" -}}
{{- $asked := dig "requests" "memory" "" .service.resources | toString }}
{{- if regexMatch "^[0-9]+[MG]i$" $asked }}
{{- if gt (include "belfry.bytes" $asked | int64) (include "belfry.bytes" .service.resources.limits.memory | int64) }}
{{- fail (printf "services.%s.resources: limits.memory is below requests.memory, %s" .name $asked) }}
{{- end }}
{{- end }}
{{- $limit := .service.resources.limits.memory }}
{{- $kept := .root.Values.directoryMemory | int64 }}
{{- if and (not .inline) (ne .name "console") (gt (mul $kept 2 1048576) (include "belfry.bytes" $limit | int64)) }}
{{- $reason := "directoryMemory: %d MiB are more than half of services.%s.resources.limits.memory, %s" }}
{{- fail (printf $reason $kept .name $limit) }}
{{- end }}
name: {{ .name }}
image: {{ include "belfry.image" (dict "root" .root "name" .name "digest" .service.digest) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{ include "belfry.containerSecurity" . }}
resources:
  {{- toYaml .service.resources | nindent 2 }}
{{- if not .inline }}
envFrom:
  - configMapRef: {name: {{ include "belfry.fullname" .root }}}
{{- end }}
env:
  {{- include "belfry.environment" . | trim | nindent 2 }}
{{- with .root.Values }}
{{- if or .certificateAuthority.configMap .extraVolumeMounts }}
volumeMounts:
  {{- if .certificateAuthority.configMap }}
  - {name: ca, mountPath: /etc/belfry/ca, readOnly: true}
  {{- end }}
  {{- with .extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The volumes of a service's pod. */}}
{{- define "belfry.volumes" -}}
{{- with .Values }}
{{- if or .certificateAuthority.configMap .extraVolumes }}
volumes:
  {{- with .certificateAuthority }}
  {{- if .configMap }}
  - name: ca
    configMap:
      name: {{ toYaml .configMap }}
      items: [{key: {{ toYaml .key }}, path: ca.crt}]
  {{- end }}
  {{- end }}
  {{- with .extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}
