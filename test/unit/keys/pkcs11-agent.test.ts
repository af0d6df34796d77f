import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { runAgent } from '../../../infra/keys/pkcs11/agent.ts'
import { type Cryptoki, CryptokiFailed } from '../../../infra/keys/pkcs11/cryptoki.ts'

const PIN_INCORRECT = 0xa0
const DEVICE_ERROR = 0x30

/** A module with one token, `ledger`, whose login fails. */
function failingLogin(code: number): { readonly cryptoki: Cryptoki; readonly logins: () => number } {
  let logins = 0
  const call: Cryptoki['call'] = (name, ...[, second, third, , fifth]) => {
    if (name === 'slots') (third as number[])[0] = 1
    if (name === 'tokenInfo') (second as Buffer).write('ledger'.padEnd(32))
    if (name === 'open') (fifth as number[])[0] = 1
    if (name !== 'login') return
    logins += 1
    throw new CryptokiFailed('login', code)
  }
  const cryptoki: Cryptoki = {
    call,
    later: () => Promise.resolve(),
    attributesOf: () => [],
    mechanismOf: (mechanism) => ({ mechanism, pParameter: null, ulParameterLen: 0 }),
  }
  return { cryptoki, logins: () => logins }
}

/** Codes of the replies to requests that are there at the start. */
async function codesOf(cryptoki: Cryptoki, requests: number): Promise<readonly unknown[]> {
  const input = new PassThrough()
  const key = 'pkcs11:token=ledger;object=receipts-1'
  const lines = Array.from({ length: requests }, (_, id) => JSON.stringify({ id, op: 'sign', key, data: [''] }))
  input.end(`${lines.join('\n')}\n`)
  const replies: string[] = []
  await runAgent({ cryptoki, pin: '1', sessions: 1, input, write: (line) => void replies.push(line) })
  return replies.map((line) => (JSON.parse(line) as { readonly error?: string }).error)
}

test('A3: a refused PIN is tried once, however many requests wait', async () => {
  const { cryptoki, logins } = failingLogin(PIN_INCORRECT)
  const codes = await codesOf(cryptoki, 5)
  expect([logins(), new Set(codes)]).toEqual([1, new Set(['login_refused'])])
})

test('A3: a login that the device did not judge is no refusal, so that it is tried again', async () => {
  const { cryptoki } = failingLogin(DEVICE_ERROR)
  expect(await codesOf(cryptoki, 1)).toEqual(['ckr_30'])
})
