/** Arbitrary paths, queries and bodies of every operation get a documented reply and never a 5xx. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'
import { DocumentedInterface } from '../../../support/documented-interface.ts'
import { createEdgeFixture } from '../fakes/edge-fixture.ts'
import type { ManualClock } from '../http/waiting-clock.ts'

const DESCRIBED = new DocumentedInterface(createOpenApiDocument('https://ledger.example/errors'))
const NUMBER_OF_RUNS = 2_000
const ODD = ['', '.', '..', '%', '%00', '\0', '-1', '1e3', 'NaN', '\u202e', '😀', "' OR 1=1 --", '${x}', '__proto__']

/** Valid-looking and arbitrary texts. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 200 }),
  fc.constantFrom(...ODD),
  fc.stringMatching(/^[0-9]{1,25}(\.[0-9]{1,25})?$/),
  fc.stringMatching(/^[A-Za-z0-9_.:@-]{1,130}$/),
  fc.constantFrom(
    'true',
    'asc',
    'credit',
    'BASE',
    '100',
    '2026-01-01T00:00:00Z',
    '3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a',
  ),
)
const member = fc.oneof(text, fc.jsonValue({ maxDepth: 6 }))

/** A request for an operation of the document, with known and unknown members and parameters. */
const request = fc.constantFrom(...DESCRIBED.operations).chain((operation) => {
  const { path, members } = operation
  const parameters = (members.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name)
  const { properties = {} } = bodySchemaOf(members)
  const named = (names: readonly string[]) => fc.oneof(fc.constantFrom(...names, 'page_token'), text)
  return fc.record({
    operation: fc.constant(operation),
    segments: fc.array(text, { minLength: path.split('{').length, maxLength: path.split('{').length }),
    query: fc.array(fc.tuple(named(parameters), text), { maxLength: 4 }),
    body: fc.oneof(
      fc.jsonValue({ maxDepth: 6 }),
      fc.array(fc.tuple(named(Object.keys(properties)), member)).map((all) => Object.fromEntries(all)),
    ),
  })
})

const [events] = DESCRIBED.operations.filter(({ id }) => id === 'listEvents')
/** Waits for events, of which there are none. */
const LONG_POLL = {
  operation: events ?? expect.unreachable(),
  segments: [],
  query: [['wait', '100']] satisfies [string, string][],
  body: {},
}

function bodySchemaOf({ requestBody }: (typeof DESCRIBED.operations)[number]['members']) {
  const schema = requestBody?.content['application/json']?.schema
  return (schema ?? {}) as { readonly properties?: Readonly<Record<string, unknown>> }
}

/** The result of work that may wait for time to pass. */
async function advancingUntil<T>(work: Promise<T>, clock: ManualClock): Promise<T> {
  const progress = { isOver: false }
  const over = work.finally(() => {
    progress.isOver = true
  })
  while (!progress.isOver) await clock.advance(1_000)
  return over
}

test('arbitrary input gets a documented reply, and no 5xx', async () => {
  const edge = createEdgeFixture()
  const answer = { kind: 'refused', code: 'account_not_found', detail: 'No.', field: 'account_id' } as const
  edge.gateway.outcome = { kind: 'answered', answer }
  const asked = new Set<string>()
  await fc.assert(
    fc.asyncProperty(request, async ({ operation, segments, query, body }) => {
      const { method, path, members } = operation
      let place = 0
      const filled = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(segments[place++] ?? ''))
      const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
      const bodied = members.requestBody === undefined ? {} : { body: JSON.stringify(body) }
      const headers = { authorization: `Bearer ${await edge.tokenFor('admin')}`, 'content-type': 'application/json' }
      const answered = Promise.resolve(edge.app.request(`${filled}?${search}`, { method, headers, ...bodied }))
      const response = await advancingUntil(answered, edge.clock)
      asked.add(operation.id)
      expect(response.status).toBeLessThan(500)
      const found = DESCRIBED.find(method, new URL(response.url || filled, 'http://edge').pathname)
      if (found?.id !== operation.id) return
      const reply = {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      }
      expect(DESCRIBED.faultsOfAnswer(operation, reply)).toEqual([])
    }),
    { numRuns: NUMBER_OF_RUNS, examples: [[LONG_POLL]] },
  )
  expect(asked.size).toBe(DESCRIBED.operations.length)
})
