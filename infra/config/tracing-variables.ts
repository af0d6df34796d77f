/**
 * The variables of OpenTelemetry that the ledger reads, with their meaning there
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/ and .../configuration/sdk-environment-variables/): collectors and
 * operators' tools set these. Without the endpoint, tracing is off.
 */
import * as v from 'valibot'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { isUrl } from './is-url.ts'
import { isLoopbackHost } from './loopback-host.ts'
import { readBy } from './read-by.ts'

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof SAMPLERS)[number]

const MAX_NAME = 255
const MAX_HEADERS = 32
const HEADERS_RULE = 'headers such as api-key=secret, separated by commas, with percent-encoded values'
const RATIO_RULE = 'a number from 0 to 1'
/** RFC 9110, 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
const HEADER_VALUE = /^[\x20-\x7e]{0,4096}$/

const headers = readBy((text): Result<Readonly<Record<string, string>>, string> => {
  const pairs = text.split(',').map((pair) => readPair(pair))
  const read = pairs.filter((pair) => pair !== undefined)
  return read.length === pairs.length && read.length <= MAX_HEADERS
    ? ok(Object.fromEntries(read))
    : refuse(HEADERS_RULE)
})

function readPair(text: string): readonly [string, string] | undefined {
  const at = text.indexOf('=')
  try {
    const name = decodeURIComponent(text.slice(0, at).trim())
    const value = decodeURIComponent(text.slice(at + 1).trim())
    return at > 0 && HEADER_NAME.test(name) && HEADER_VALUE.test(value) ? [name, value] : undefined
  } catch {
    return undefined
  }
}

export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: v.optional(
    v.pipe(
      v.string(),
      // A slash at the end is usual.
      v.check(
        (text) => isUrl(text.replace(/\/$/, ''), ['http:', 'https:'], true),
        'a URL such as http://collector:4318',
      ),
    ),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: v.optional(headers),
  OTEL_SERVICE_NAME: v.optional(v.pipe(v.string(), v.maxLength(MAX_NAME, `at most ${MAX_NAME} characters`))),
  OTEL_TRACES_SAMPLER: v.optional(v.picklist(SAMPLERS, `one of ${SAMPLERS.join(', ')}`), 'parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[0-9.]{1,20}$/, RATIO_RULE),
      v.transform(Number),
      v.minValue(0, RATIO_RULE),
      v.maxValue(1, RATIO_RULE),
    ),
    '1',
  ),
}

type TracingVariables = v.InferOutput<v.ObjectSchema<typeof tracingVariables, undefined>>

export interface TracingSettings {
  /** Spans are sent to its `/v1/traces`. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  /** undefined: of the part. */
  readonly serviceName: string | undefined
  readonly sampler: SamplerName
  /** Share of traces that the samplers `traceidratio` take, from 0 to 1. */
  readonly ratio: number
}

/** undefined: tracing is off. */
export function tracingOf(variables: TracingVariables): TracingSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = variables
  if (endpoint === undefined) return undefined
  return {
    endpoint,
    headers: variables.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: variables.OTEL_SERVICE_NAME,
    sampler: variables.OTEL_TRACES_SAMPLER,
    ratio: variables.OTEL_TRACES_SAMPLER_ARG,
  }
}

/** A warning if headers for the collector, which may be a secret, cross a network in the clear. */
export function openCollector({
  environment,
  tracing,
}: {
  readonly environment: string
  readonly tracing: TracingSettings | undefined
}): readonly string[] {
  if (environment !== 'production' || tracing === undefined || Object.keys(tracing.headers).length === 0) return []
  const { protocol, hostname } = new URL(tracing.endpoint)
  return protocol === 'https:' || isLoopbackHost(hostname)
    ? []
    : ['OTEL_EXPORTER_OTLP_ENDPOINT is without TLS, and OTEL_EXPORTER_OTLP_HEADERS may be a secret: use https://.']
}
