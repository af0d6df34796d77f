/** The variables of OpenTelemetry, of which the endpoint switches tracing on. */
import { expect, test } from 'vitest'
import { readConfiguration } from '../../../infra/config/configuration.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example:4318/' }

function tracingOf(env: Record<string, string>) {
  const read = readConfiguration(env, '/')
  return read.ok ? read.value.configuration.tracing : read.error
}

test('tracing is off without an endpoint', () => {
  expect(tracingOf({})).toBeUndefined()
  expect(tracingOf({ OTEL_TRACES_SAMPLER: 'always_on', OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined()
})

test('with an endpoint every request is recorded, or as the client or the sampler says', () => {
  const settings = { endpoint: 'https://collector.example:4318/', headers: {}, serviceName: undefined }
  expect(tracingOf(ENDPOINT)).toEqual({ ...settings, sampler: 'parentbased_always_on', ratio: 1 })
  expect(
    tracingOf({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%2Cb, other = c=d',
      OTEL_SERVICE_NAME: 'bank',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
    }),
  ).toEqual({
    ...settings,
    headers: { 'api-key': 'a,b', other: 'c=d' },
    serviceName: 'bank',
    sampler: 'traceidratio',
    ratio: 0.01,
  })
})

test.for([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'a URL such as http://collector:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@collector', 'a URL such as http://collector:4318'],
  ['OTEL_TRACES_SAMPLER', 'xray', 'one of always_on, always_off, traceidratio'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.2.3', 'a number from 0 to 1'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', 'headers such as api-key=secret'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=secret', 'headers such as api-key=secret'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=secret%0d%0ab: c', 'headers such as api-key=secret'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz', 'headers such as api-key=secret'],
] as const)('%s=%s is refused', ([name, value, allowed]) => {
  expect(tracingOf({ ...ENDPOINT, [name]: value })).toEqual([expect.stringContaining(`it must be ${allowed}`)])
})

test('headers for the collector are a secret that no error shows', () => {
  expect(tracingOf({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'secret' })).toEqual([
    expect.stringMatching(/^OTEL_EXPORTER_OTLP_HEADERS is not valid:/),
  ])
})

test.for([
  ['http://collector.example:4318', 'a=b', 1],
  ['http://collector.example:4318', '', 0],
  ['https://collector.example', 'a=b', 0],
  ['http://127.0.0.1:4318', 'a=b', 0],
] as const)(
  'in production a collector at %s with the headers %j causes %d warnings',
  ([endpoint, headers, warnings]) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers }
    const read = readConfiguration({ ...env, LEDGER_ENVIRONMENT: 'production' }, '/')
    expect(read.ok && read.value.warnings.filter((text) => text.startsWith('OTEL_'))).toHaveLength(warnings)
  },
)
