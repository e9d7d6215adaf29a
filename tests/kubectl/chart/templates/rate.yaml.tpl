apiVersion: rates.example.com/v1
kind: ExchangeRate
metadata:
  name: {{ .Release.Name }}
spec:
  currency: {{ .Values.currency }}
