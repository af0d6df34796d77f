/** An OTLP receiver over HTTP, for tests. It reads the JSON form (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface KeyValue {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string }
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly { readonly spans: readonly WrittenSpan[] }[]
  }[]
}

interface WrittenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly KeyValue[]
  readonly status?: { readonly code?: number }
}

/** `service`, `instance`: of the process that exported it. */
export interface ReceivedSpan extends Omit<WrittenSpan, 'attributes'> {
  readonly service: unknown
  readonly instance: unknown
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface Collector {
  readonly endpoint: string
  readonly spans: ReceivedSpan[]
  /** Bodies as they came, and paths with headers. */
  readonly bodies: Buffer[]
  readonly requests: { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[]
  readonly close: () => Promise<void>
}

/** `reply`: what is done after a request was read; by default it is accepted. */
export async function startCollector(reply: (response: ServerResponse) => void = accept): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const bodies: Buffer[] = []
  const requests: Collector['requests'] = []
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      bodies.push(body)
      requests.push({ path: request.url ?? '', headers: request.headers })
      spans.push(...spansOf(JSON.parse(body.toString('utf8')) as ExportRequest))
      reply(response)
    })
  }
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    requests,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function accept(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}

function spansOf({ resourceSpans }: ExportRequest): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const process = valuesOf(resource.attributes)
    const [service, instance] = [process['service.name'], process['service.instance.id']]
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => Object.assign({}, span, { service, instance, attributes: valuesOf(span.attributes) })),
    )
  })
}

function valuesOf(attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? (value.intValue && Number(value.intValue))]),
  )
}
