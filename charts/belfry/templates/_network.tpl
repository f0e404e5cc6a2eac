{{/* A rule of a network policy. Takes (dict "peers" LIST "ports" LIST "direction" "to"); no peers are all of them. */}}
{{- define "belfry.opening" -}}
- ports:
    {{- range .ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
  {{- with .peers }}
  {{ $.direction }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The peers that are components of the release. Takes (dict "root" $ "components" LIST), gives a JSON list. */}}
{{- define "belfry.peers" -}}
{{- $peers := list -}}
{{- range .components -}}
{{- $labels := include "belfry.selector" (dict "root" $.root "component" .) | fromYaml -}}
{{- $peers = append $peers (dict "podSelector" (dict "matchLabels" $labels)) -}}
{{- end -}}
{{- toJson $peers -}}
{{- end -}}

{{/* The openings that every pod needs to look names up. */}}
{{- define "belfry.egressDNS" -}}
- ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
  {{- with .Values.networkPolicy.dns }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The openings to what all services use: names, stores and the collector. */}}
{{- define "belfry.egressShared" -}}
{{- $policy := .Values.networkPolicy -}}
{{ include "belfry.egressDNS" . }}
{{ include "belfry.opening" (dict "peers" $policy.mongodb.to "ports" $policy.mongodb.ports "direction" "to") }}
{{ include "belfry.opening" (dict "peers" $policy.redis.to "ports" $policy.redis.ports "direction" "to") }}
{{- if .Values.telemetry.endpoint }}
{{ include "belfry.opening" (dict "peers" $policy.telemetry.to "ports" $policy.telemetry.ports "direction" "to") }}
{{- end }}
{{- end -}}
