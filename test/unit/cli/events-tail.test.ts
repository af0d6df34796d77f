/** `ledger events tail` prints each event once, also over lost connections. */
import { getRequestListener } from '@hono/node-server'
import type { ServerResponse } from 'node:http'
import { beforeEach, expect, test } from 'vitest'
import { createSystemClock } from '../../../infra/system/clock-system.ts'
import type { LedgerEvent } from '../../../runtime/ports/ledger-events.ts'
import { clientOf, createEdgeFixture, type EdgeFixture, SECRET } from '../api/fakes/edge-fixture.ts'
import { accountEvent } from '../api/fakes/fake-events.ts'
import { commandLine, type Ran, serving } from './cli-fixture.ts'

const line = commandLine()
line.write('secret', SECRET)

let edge: EdgeFixture
let url: string
let streams: ServerResponse[]
/** The cursors behind which streams were requested. */
let cursors: (string | null)[]
/** Replies instead of the edge to a number of requests for a stream. */
let refusals: number[]

beforeEach(async () => {
  edge = createEdgeFixture({ clock: createSystemClock() })
  edge.access.clients.set('reader', clientOf('reader', 'viewer'))
  streams = []
  cursors = []
  refusals = []
  const listener = getRequestListener((request) => edge.app.fetch(request))
  ;({ url } = await serving((incoming, outgoing) => {
    if (incoming.headers.accept === 'text/event-stream') {
      cursors.push(new URL(incoming.url ?? '', 'http://edge').searchParams.get('after'))
      const status = refusals.shift()
      if (status !== undefined) {
        outgoing.writeHead(status).end('{"title":"Service Unavailable"}')
        return
      }
      streams.push(outgoing)
    }
    void listener(incoming, outgoing)
  }))
})

function add(accountId: string, over: Partial<LedgerEvent> = {}): void {
  edge.events.log.push(accountEvent(edge.events.log, accountId, over))
}

interface TailRun {
  /** Called with the number of lines so far. */
  readonly printed?: (lines: number) => void
  readonly stop?: AbortController
  /** Why it ends after `lines`. */
  readonly reason?: Error
}

/** Runs until `lines` are printed, or until the command ends. */
function tail(
  args: readonly string[],
  lines: number,
  { printed, stop = new AbortController(), reason }: TailRun = {},
): Promise<Ran> {
  const options = ['--url', url, '--client-id', 'reader', '--secret-file', 'secret']
  return line.run(
    ['events', 'tail', ...args, ...options],
    '',
    {},
    {
      stopSignal: () => {
        if (lines === 0) stop.abort()
        return stop.signal
      },
      printed: (out) => {
        const count = out.split('\n').length - 1
        printed?.(count)
        if (count === lines) stop.abort(reason)
      },
    },
  )
}

const subjectsIn = ({ out }: Ran): readonly string[] =>
  out
    .trim()
    .split('\n')
    .map((text) => (JSON.parse(text) as { readonly subject: string }).subject)

test('each event is one line of JSON, and the cursor of the last one is printed at the end', async () => {
  for (const id of ['alice', 'bob', 'carol']) add(id)
  const first = await tail(['--after', 'begin'], 2)
  expect([first.code, subjectsIn(first)]).toEqual([0, ['alice', 'bob']])
  expect(JSON.parse(first.out.split('\n')[0] ?? '')).toMatchObject({ specversion: '1.0', id: edge.events.log[0]?.id })
  const [, cursor = ''] = /^to continue behind the last event: --after (\S+)\n$/.exec(first.err) ?? []
  const second = await tail(['--after', cursor], 1)
  expect([second.code, subjectsIn(second)]).toEqual([0, ['carol']])
})

test('without --after it begins with the next event', async () => {
  add('alice')
  const running = tail([], 1)
  await expect.poll(() => streams.length).toBe(1)
  add('bob')
  expect(subjectsIn(await running)).toEqual(['bob'])
})

test('the filters are those of the edge', async () => {
  add('alice')
  add('bob')
  add('bob', { name: 'account.key_rotated' })
  const ran = await tail(['--after', 'begin', '--account', 'bob', '--types', 'ledger.account.key_*'], 1)
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('types') as string })
  const shown = await tail(['--after', 'begin', '--account', 'bob', '--types', 'ledger.account.key_rotated.v1'], 1)
  expect(JSON.parse(shown.out)).toMatchObject({ subject: 'bob', type: 'ledger.account.key_rotated.v1' })
})

test('T1: after lost connections it continues behind the last event, and prints that once', async () => {
  for (const id of ['a', 'b', 'c']) add(id)
  const ran = await tail(['--after', 'begin'], 5, {
    printed: (count) => {
      if (count !== 3 || streams.length > 1) return
      refusals.push(503, 502)
      add('d')
      streams[0]?.destroy()
      add('e')
    },
  })
  expect(subjectsIn(ran)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(cursors).toEqual([null, expect.any(String), expect.any(String), expect.any(String)])
  expect(ran.err).toMatch(/^the connection was lost; connecting again \(Ctrl-C ends it\)\nto continue [^\n]*\n$/)
})

test('T1: the end of an access token ends a stream, and no event is lost or repeated', async () => {
  add('a')
  const ran = await tail(['--after', 'begin'], 2, {
    printed: (count) => {
      if (count > 1 || streams.length > 1) return
      streams[0]?.end()
      add('b')
    },
  })
  expect([ran.code, subjectsIn(ran)]).toEqual([0, ['a', 'b']])
  expect(ran.err).not.toContain('lost')
})

test('T2: an unreachable address and a refusal end it', async () => {
  const refused = await tail(['--after', 'not a cursor'], 1)
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/^ledger events tail: 400 [^\n]*: after: [^\n]*\n$/),
  ])
  const options = ['--url', 'http://127.0.0.1:1', '--client-id', 'reader', '--secret-file', 'secret']
  const away = await line.run(['events', 'tail', '--after', 'begin', ...options])
  expect([away.code, away.err]).toEqual([1, expect.stringContaining('does not respond')])
})

test('Ctrl-C ends it while it waits for an event', async () => {
  const stop = new AbortController()
  const running = tail([], 1, { stop })
  await expect.poll(() => streams.length).toBe(1)
  stop.abort()
  const { code, out, err } = await running
  expect([code, out, err]).toEqual([0, '', expect.stringMatching(/^to continue [^\n]*\n$/)])
})

test('a closed pipe ends it, and any other failure of the output is reported', async () => {
  add('alice')
  const failing = (code: string): Error => Object.assign(new Error(`write ${code}`), { code })
  expect(await tail(['--after', 'begin'], 1, { reason: failing('EPIPE') })).toMatchObject({ code: 0 })
  const full = await tail(['--after', 'begin'], 1, { reason: failing('ENOSPC') })
  expect([full.code, full.err]).toEqual([1, expect.stringContaining('standard output cannot be written: write ENOSPC')])
})
