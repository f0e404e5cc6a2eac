{{/* The name that all objects of the release begin with. It leaves room for a service's name and for the suffix that
     Kubernetes appends to pods' names. Names of Services have no dots and begin with a letter; names of releases
     need not. */}}
{{- define "belfry.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $release := replace "." "-" .Release.Name -}}
{{- $full := printf "%s-%s" $release $name -}}
{{- if contains $name $release }}{{ $full = $release }}{{ end -}}
{{- if regexMatch "^[0-9]" $full }}{{ $full = printf "%s-%s" $name $release }}{{ end -}}
{{- default $full .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels that select all pods of the release; with a component, those of the component. Never change them:
     Deployments could not be upgraded. Takes (dict "root" $ "component" "events"). */}}
{{- define "belfry.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* The labels of a component's pods. None of them tells of a version: a change would restart the pods. Takes what
     belfry.selector takes, and further "labels". */}}
{{- define "belfry.podLabels" -}}
{{ include "belfry.selector" . }}
app.kubernetes.io/part-of: belfry
{{- with merge (dict) (default dict .labels) .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* All labels of an object. Takes what belfry.podLabels takes. */}}
{{- define "belfry.labels" -}}
{{ include "belfry.podLabels" . }}
app.kubernetes.io/version: {{ include "belfry.version" . | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The version that a component runs, as a label: the beginning of its digest, else the images' tag. Takes what
     belfry.selector takes. */}}
{{- define "belfry.version" -}}
{{- $component := toString .component -}}
{{- $digests := dict "test" .root.Values.test.digest "oneroster" .root.Values.oneRoster.digest -}}
{{- $digest := get $digests $component -}}
{{- if hasKey .root.Values.services $component -}}
{{- $digest = (include "belfry.service" (dict "root" .root "name" $component) | fromYaml).digest -}}
{{- end -}}
{{- $version := default .root.Chart.AppVersion .root.Values.image.tag -}}
{{- with $digest }}{{ $version = trimPrefix "sha256:" . | trunc 12 }}{{ end -}}
{{- $version | trunc 63 | trimAll "-_." -}}
{{- end -}}

{{/* The metadata of an object of a service or other component. Takes what belfry.podLabels takes, and
     "annotations". */}}
{{- define "belfry.metadata" -}}
name: {{ include "belfry.fullname" .root }}{{ with .component }}-{{ . }}{{ end }}
namespace: {{ toYaml .root.Release.Namespace }}
labels:
  {{- include "belfry.labels" . | nindent 2 }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* An image's reference. Takes (dict "root" $ "name" "events" "digest" ""). */}}
{{- define "belfry.image" -}}
{{- $image := .root.Values.image -}}
{{- with default .root.Values.global.imageRegistry $image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- $image.prefix }}{{ .name -}}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ default .root.Chart.AppVersion $image.tag }}{{ end -}}
{{- end -}}

{{/* A service's values: those of services.NAME, else those of defaults. Takes (dict "root" $ "name" "events"), returns
     YAML. */}}
{{- define "belfry.service" -}}
{{- $own := index .root.Values.services .name | default dict -}}
{{- mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own) | toYaml -}}
{{- end -}}

{{/* The names of the services that run, as a JSON list in their order. The console keeps no data, and may be off. */}}
{{- define "belfry.services" -}}
{{- $names := keys .Values.services | sortAlpha -}}
{{- ternary $names (without $names "console") .Values.console.enabled | toJson -}}
{{- end -}}

{{/* The table of public paths of these services, as a JSON list. An unknown path gets its 404 in Belfry's form, from
     the console or, without it, from identity. */}}
{{- define "belfry.routes" -}}
{{- $rows := list -}}
{{- range (.Files.Get "files/routes.yaml" | fromYaml).routes -}}
{{- $off := and (eq .service "console") (not $.Values.console.enabled) -}}
{{- $rows = append $rows (ternary (dict "prefix" .prefix "service" "identity") . $off) -}}
{{- end -}}
{{- toJson $rows -}}
{{- end -}}

{{/* The address at which clients reach the deployment; empty when it is not known. */}}
{{- define "belfry.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{- .Values.publicUrl -}}
{{- else if .Values.host -}}
{{- ternary "https" "http" .Values.secureCookies }}://{{ .Values.host -}}
{{- end -}}
{{- end -}}
