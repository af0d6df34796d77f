/** Goal: who sends a file for an hour is not stopped by a moment's interruption, and never waits without knowing for what. */
import { expect, test } from 'vitest'
import {
  type HttpAnswer,
  type HttpClient,
  LedgerNotReady,
  LedgerUnreachable,
} from '../../../infra/cli/common/http-client.ts'
import { createPatientClient } from '../../../infra/cli/common/patient-client.ts'

const OK: HttpAnswer = { status: 200, body: {}, retryAfterS: null }
const AWAY: HttpAnswer = { status: 503, body: {}, retryAfterS: null }
const GONE = new LedgerUnreachable('the ledger at http://there does not answer')

/** A ledger that answers so, and last for ever. */
function clientThat(answers: readonly (HttpAnswer | Error)[], longestMs = 60_000) {
  let asked = 0
  let said = ''
  const client: HttpClient = {
    send: () => Promise.reject(new Error('not sent')),
    ask: () => {
      const answer = answers[Math.min(asked, answers.length - 1)] ?? OK
      asked += 1
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
  }
  const io = {
    env: {},
    cwd: '/',
    readInput: () => Promise.reject(new Error('nothing')),
    out: () => undefined,
    err: (text: string) => void (said += text),
  }
  const { ask } = createPatientClient(client, io, { longestMs, pauseMs: 0 })
  return { ask: () => ask('GET', '/v1/imports/x'), asked: () => asked, said: () => said }
}

test('P1: where nobody has answered yet it does not wait', async () => {
  const { ask, asked, said } = clientThat([GONE, OK])
  await expect(ask()).rejects.toBe(GONE)
  expect([asked(), said()]).toEqual([1, ''])
})

test('P2: an interruption is waited for, and said once, with until when', async () => {
  const { ask, said } = clientThat([OK, GONE, GONE, AWAY, OK])
  await ask()
  expect(await ask()).toBe(OK)
  expect(said()).toMatch(
    /^the ledger at http:\/\/there does not answer; trying again until \d\d:\d\d \(Ctrl-C ends it\)\n$/,
  )
})

test('P2: a ledger that is there and not ready is waited for from the first', async () => {
  for (const answer of [AWAY, new LedgerNotReady('no token yet')]) {
    const { ask, said } = clientThat([answer, OK])
    expect(await ask()).toBe(OK)
    expect(said()).toContain('trying again until')
  }
})

test('it is not waited for longer than was said: then what came last is the answer', async () => {
  const away = clientThat([AWAY], 0)
  expect(await away.ask()).toBe(AWAY)
  const gone = clientThat([OK, GONE], 0)
  await gone.ask()
  await expect(gone.ask()).rejects.toBe(GONE)
})

test('any other error is not waited for', async () => {
  const broken = new Error('broken')
  const { ask, asked } = clientThat([OK, broken])
  await ask()
  await expect(ask()).rejects.toBe(broken)
  expect(asked()).toBe(2)
})
