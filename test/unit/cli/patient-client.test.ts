/** A short outage does not end a long command, and the command prints why it waits. */
import { expect, test } from 'vitest'
import {
  type HttpReply,
  type HttpClient,
  LedgerNotReady,
  LedgerUnreachable,
} from '../../../infra/cli/common/http-client.ts'
import { createPatientClient } from '../../../infra/cli/common/patient-client.ts'
import { silentIo } from './silent-io.ts'

const OK: HttpReply = { status: 200, body: {}, retryAfterS: null }
const AWAY: HttpReply = { status: 503, body: {}, retryAfterS: null }
const GONE = new LedgerUnreachable('the ledger at http://there does not respond')

/** A client with these outcomes in order; the last one repeats. */
function clientWith(outcomes: readonly (HttpReply | Error)[], longestMs = 60_000) {
  let requests = 0
  let printed = ''
  const client: HttpClient = {
    send: () => Promise.reject(new Error('not sent')),
    request: () => {
      const outcome = outcomes[Math.min(requests, outcomes.length - 1)] ?? OK
      requests += 1
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome)
    },
  }
  const io = silentIo({ err: (text) => void (printed += text) })
  const { request } = createPatientClient(client, io, { longestMs, pauseMs: 0 })
  return { request: () => request('GET', '/v1/imports/x'), requests: () => requests, printed: () => printed }
}

test('P1: it does not wait before the first response', async () => {
  const { request, requests, printed } = clientWith([GONE, OK])
  await expect(request()).rejects.toBe(GONE)
  expect([requests(), printed()]).toEqual([1, ''])
})

test('P2: it waits during an outage, and prints once why and until when', async () => {
  const { request, printed } = clientWith([OK, GONE, GONE, AWAY, OK])
  await request()
  expect(await request()).toBe(OK)
  expect(printed()).toMatch(
    /^the ledger at http:\/\/there does not respond; trying again until \d\d:\d\d \(Ctrl-C ends it\)\n$/,
  )
})

test('P2: it waits for a ledger that is not ready, even before the first response', async () => {
  for (const answer of [AWAY, new LedgerNotReady('no token yet')]) {
    const { request, printed } = clientWith([answer, OK])
    expect(await request()).toBe(OK)
    expect(printed()).toContain('trying again until')
  }
})

test('after the longest time it returns the last outcome', async () => {
  const away = clientWith([AWAY], 0)
  expect(await away.request()).toBe(AWAY)
  const gone = clientWith([OK, GONE], 0)
  await gone.request()
  await expect(gone.request()).rejects.toBe(GONE)
})

test('it throws any other error at once', async () => {
  const broken = new Error('broken')
  const { request, requests } = clientWith([OK, broken])
  await request()
  await expect(request()).rejects.toBe(broken)
  expect(requests()).toBe(2)
})
