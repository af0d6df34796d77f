/** `ledger import` sends a whole file, continues after an interruption, and names the refused record. */
import { getRequestListener } from '@hono/node-server'
import { beforeEach, expect, test } from 'vitest'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { uuidOf } from '../../../actors/identifiers.ts'
import { createImportTakeup } from '../../../infra/portability/import-takeup.ts'
import { createSystemClock } from '../../../infra/system/clock-system.ts'
import { type ImportPart, type LedgerImports, LedgerImportsUnavailable } from '../../../runtime/ports/ledger-imports.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import { createMemoryImportStore } from '../../support/memory/import-store-memory.ts'
import { clientOf, createEdgeFixture, SECRET } from '../api/fakes/edge-fixture.ts'
import { createFakeHomes } from '../portability/fake-homes.ts'
import { anAccount, createKeys, ledgerBody } from '../portability/export-scene.ts'
import { fileOf, intakeOf, wholeFile } from '../portability/import-scene.ts'
import { commandLine, type Ran, serving } from './cli-fixture.ts'

const QUIET: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const keys = createKeys()
const small = await fileOf(wholeFile, keys)
/** More than one part. */
const large = await fileOf(
  () => [
    ledgerBody(),
    ...Array.from({ length: 3_000 }, (_, at) => anAccount(`account-${String(at).padStart(4, '0')}`)),
  ],
  keys,
)

let url: string
let proxied: ReturnType<typeof getRequestListener>
let taken: ImportPart[]
let before: (part: ImportPart) => void
let homes: ReturnType<typeof createFakeHomes>
let imports: LedgerImports
const line = commandLine()

beforeEach(async () => {
  const clock = createSystemClock()
  const store = createMemoryImportStore({ nowMs: clock.monotonic })
  homes = createFakeHomes()
  const attestations = { look: async () => 'absent' as const, add: async () => undefined, close: async () => undefined }
  const takeup = createImportTakeup({ store, gateway: homes, attestations, clock, log: QUIET })
  const intake = intakeOf(keys, { store, clock, drive: takeup.drive })
  taken = []
  before = () => undefined
  imports = {
    ...intake,
    take: async (part) => {
      before(part)
      taken.push(part)
      return intake.take(part)
    },
  }
  const edge = createEdgeFixture({ imports })
  edge.access.clients.set('operations', clientOf('operations', 'admin'))
  proxied = getRequestListener((request) => edge.app.fetch(request))
  ;({ url } = await serving((incoming, outgoing) => void proxied(incoming, outgoing)))
  line.write('secret', SECRET)
})

function importing(records: readonly JsonObject[]): Promise<Ran> {
  line.write('export.ndjson', records.map((record) => `${canonicalJson(record)}\n`).join(''))
  return runImport('export.ndjson')
}

function runImport(name: string): Promise<Ran> {
  return line.run(['import', name, '--url', url, '--client-id', 'operations', '--secret-file', 'secret'])
}

test('a file is imported, and a second import changes nothing', async () => {
  const first = await importing(small.records)
  expect([first.err, first.code]).toEqual(['11 of 11 lines sent\n', 0])
  expect(JSON.parse(first.out)).toMatchObject({ accounts: 2, tokens: 1, nft_instances: 2, present: 0 })
  const asked = homes.asked.length
  const again = await importing(small.records)
  expect(again.err).toBe('this file is already imported: nothing was changed\n')
  expect([again.out, again.code]).toEqual([first.out, 0])
  expect(homes.asked).toHaveLength(asked)
})

test('a large file is sent in ordered parts below the size limit', async () => {
  const { code, out } = await importing(large.records)
  expect([code, JSON.parse(out)]).toMatchObject([0, { accounts: 3_000 }])
  expect(taken.length).toBeGreaterThan(1)
  expect(taken.map(({ part, last }) => [part, last])).toEqual(taken.map((_, at) => [at, at === taken.length - 1]))
  for (const { records } of taken) expect(JSON.stringify(records).length).toBeLessThan(1_000_000)
})

test('it retries while the ledger is unavailable, and prints that', async () => {
  let failures = 1
  before = () => {
    failures -= 1
    if (failures >= 0) throw new LedgerImportsUnavailable('away')
  }
  const { code, out, err } = await importing(small.records)
  expect([code, JSON.parse(out)]).toMatchObject([0, { accounts: 2 }])
  expect(err).toMatch(/^the ledger at \S+ is not ready \(503\); trying again \(Ctrl-C ends it\)\n11 of 11/)
  expect(failures).toBeLessThan(0)
})

test('it does not wait for an address at which nothing responds', async () => {
  line.write('export.ndjson', small.records.map((record) => `${canonicalJson(record)}\n`).join(''))
  const { url: closed, stop } = await serving(() => undefined)
  await stop()
  const options = ['--url', closed, '--client-id', 'operations', '--secret-file', 'secret']
  const { code, err } = await line.run(['import', 'export.ndjson', ...options])
  expect([code, err]).toEqual([1, `ledger import: The ledger at ${closed} does not respond.\n`])
})

test.for([200, 404] as const)(
  'it sends no secret to an address at which a page (%i) is in place of a ledger',
  async (status) => {
    line.write('export.ndjson', small.records.map((record) => `${canonicalJson(record)}\n`).join(''))
    const paths: (string | undefined)[] = []
    const { url: other } = await serving((request, response) => {
      paths.push(request.url)
      response.writeHead(status, { 'content-type': 'text/html' }).end('<html>')
    })
    const { code, err } = await line.run([
      'import',
      'export.ndjson',
      '--url',
      other,
      '--client-id',
      'operations',
      '--secret-file',
      'secret',
    ])
    expect([code, err, paths]).toEqual([
      1,
      expect.stringContaining(`nothing at ${other} is a ledger`),
      ['/.well-known/jwks.json'],
    ])
  },
)

test('it waits for a ledger behind a proxy that says that it is away', async () => {
  line.write('export.ndjson', small.records.map((record) => `${canonicalJson(record)}\n`).join(''))
  let isAway = true
  const { url: proxy } = await serving((incoming, outgoing) => {
    if (isAway) outgoing.writeHead(502).end('<html>')
    else void proxied(incoming, outgoing)
    isAway = false
  })
  const { code } = await line.run([
    'import',
    'export.ndjson',
    '--url',
    proxy,
    '--client-id',
    'operations',
    '--secret-file',
    'secret',
  ])
  expect(code).toBe(0)
})

test('a file with other bytes than the hashed ones is refused, and nothing is imported', async () => {
  const texts = small.records.map((record) => canonicalJson(record))
  line.write('crlf.ndjson', texts.map((text) => `${text}\r\n`).join(''))
  const refused = await runImport('crlf.ndjson')
  expect([refused.code, refused.err]).toEqual([1, 'ledger import: line 10 is not canonical JSON\n'])
  line.write('spaced.ndjson', texts.map((text, at) => `${at === 3 ? text.replace(':', ': ') : text}\n`).join(''))
  expect((await runImport('spaced.ndjson')).err).toContain('line 3 is not canonical JSON')
  expect(taken).toEqual([])
})

test('after an interruption it continues after the last imported line', async () => {
  const { records } = large
  const importId = uuidOf(`import ${String(records.at(-1)?.['proof_hash'])}`)
  const caller = { clientId: 'operations', role: 'admin', boundary: true } as const
  const sent = records.slice(0, 100).map((record) => ({ record, wellFormed: true }))
  await imports.take({ importId, part: 0, records: sent, last: false, caller })
  const { code, out, err } = await importing(records)
  expect([code, JSON.parse(out)]).toMatchObject([0, { accounts: 3_000 }])
  expect(err).toContain(`continuing after 100 of ${records.length} lines`)
  expect(taken[1]?.records[0]?.record['line']).toBe(100)
})

test('a refusal exits with 1 and names the line', async () => {
  homes.fate = ({ operation, actor }) =>
    operation.kind === 'hold_arrival' && actor.id === 'bob' ? 'refused' : 'answered'
  const refused = await importing(small.records)
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.err).toContain('  line 9: There is another.')
})

test('a file that is not an export is refused without a request', async () => {
  line.write('empty', '')
  line.write('text', 'no JSON\n')
  for (const [name, message] of [
    ['empty', 'does not end'],
    ['text', 'is not a record'],
    ['missing', 'cannot be read'],
  ] as const) {
    const ran = await runImport(name)
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(message)])
  }
  expect((await line.run(['import'])).code).toBe(2)
  expect(taken).toEqual([])
})
