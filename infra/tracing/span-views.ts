/**
 * Names and attributes of spans, after the semantic conventions of OpenTelemetry for HTTP, messaging and databases
 * (https://opentelemetry.io/docs/specs/semconv/).
 *   N1. Two attributes that the conventions require of HTTP servers are left out. `url.path` names accounts; `http.route` does
 *       not. `url.scheme` is known only to the proxy before the edge.
 */
import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { Work } from '../../runtime/ports/tracing.ts'

export interface SpanView {
  readonly name: string
  readonly kind: SpanKind
  readonly attributes: Attributes
  readonly failed: boolean
}

const MESSAGING = { 'messaging.system': 'nats' }
/** Verdicts without a reply of the ledger. */
const ANSWERED = 'answered'

export function viewOf(work: Work): SpanView {
  switch (work.kind) {
    case 'http':
      return httpView(work)
    case 'request': {
      const attributes = { 'ledger.operation': work.operation, 'ledger.verdict': work.verdict }
      return processed('requests', { ...attributes, ...errorType(work.verdict === ANSWERED ? null : work.verdict) })
    }
    case 'message':
      return processed('deliveries', {})
    case 'step':
      return { name: 'step', kind: SpanKind.INTERNAL, attributes: {}, failed: false }
    case 'commit':
      return {
        name: 'commit',
        kind: SpanKind.CLIENT,
        attributes: {
          'db.system.name': 'postgresql',
          'db.operation.name': 'commit',
          'ledger.commit.commands': work.commands,
          ...errorType(work.result === 'applied' ? null : work.result),
        },
        failed: work.result !== 'applied',
      }
    case 'delivery':
      return {
        name: 'send deliveries',
        kind: SpanKind.PRODUCER,
        attributes: {
          ...MESSAGING,
          'messaging.operation.name': 'send',
          'messaging.operation.type': 'send',
          'messaging.destination.name': 'deliveries',
        },
        failed: false,
      }
    case 'webhook':
      return {
        name: 'POST webhook',
        kind: SpanKind.CLIENT,
        attributes: {
          'http.request.method': 'POST',
          ...(work.status === null ? {} : { 'http.response.status_code': work.status }),
          ...errorType(work.error === 'status' ? String(work.status) : work.error),
        },
        failed: work.error !== null,
      }
  }
}

function httpView({ method, route, status }: Extract<Work, { readonly kind: 'http' }>): SpanView {
  const isRouted = method !== UNROUTED_METHOD
  const failed = status >= FIRST_SERVER_ERROR
  return {
    name: isRouted ? `${method} ${route}` : 'HTTP',
    kind: SpanKind.SERVER,
    attributes: {
      'http.request.method': isRouted ? method : '_OTHER',
      ...(isRouted ? { 'http.route': route } : {}),
      'http.response.status_code': status,
      ...errorType(failed ? String(status) : null),
    },
    failed,
  }
}

/** As in `UNROUTED` of api/frame.ts. */
const UNROUTED_METHOD = 'any'
const FIRST_SERVER_ERROR = 500

function processed(destination: string, more: Attributes): SpanView {
  return {
    name: `process ${destination}`,
    kind: SpanKind.CONSUMER,
    attributes: {
      ...MESSAGING,
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': destination,
      ...more,
    },
    failed: 'error.type' in more,
  }
}

function errorType(type: string | null): Attributes {
  return type === null ? {} : { 'error.type': type }
}
