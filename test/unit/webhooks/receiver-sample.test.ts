/** The receiver in the guide of the API accepts what the ledger signs, and nothing else. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { signaturesOf } from '../../../infra/webhooks/message-signature.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const NOW_MS = 1_760_000_000_000

type EventOf = (headers: Readonly<Record<string, string>>, body: string, nowMs: number) => unknown

function sample(): EventOf {
  const guide = readFileSync(new URL('../../../api/README.md', import.meta.url), 'utf8')
  const code = /```javascript\nimport [\s\S]*?\n\n([\s\S]*?)\ncreateServer\(/.exec(guide)?.[1] ?? ''
  const globals = { Buffer, createHmac, timingSafeEqual, process: { env: { WEBHOOK_SECRET: SECRET } } }
  return runInNewContext(`${code.replace('export ', '')}\neventOf`, globals) as EventOf
}

function messageOf(secrets: readonly string[], body: string, atMs = NOW_MS): Readonly<Record<string, string>> {
  const seconds = Math.floor(atMs / 1_000)
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(seconds),
    'webhook-signature': signaturesOf({ id: 'evt_1', body }, seconds, secrets),
  }
}

test('the sample accepts a message that its secret signed, alone or beside another one', () => {
  const eventOf = sample()
  for (const secrets of [[SECRET], [OTHER, SECRET]]) {
    expect(JSON.stringify(eventOf(messageOf(secrets, '{"a":"é"}'), '{"a":"é"}', NOW_MS))).toBe('{"a":"é"}')
  }
})

test('the sample refuses another secret, another body, an old message and one without a signature', () => {
  const eventOf = sample()
  const signed = messageOf([SECRET], '{}')
  const { 'webhook-signature': _, ...unsigned } = signed
  expect(eventOf(messageOf([OTHER], '{}'), '{}', NOW_MS)).toBeUndefined()
  expect(eventOf(signed, '{ }', NOW_MS)).toBeUndefined()
  expect(eventOf({ ...signed, 'webhook-id': 'evt_2' }, '{}', NOW_MS)).toBeUndefined()
  expect(eventOf(messageOf([SECRET], '{}', NOW_MS - 301_000), '{}', NOW_MS)).toBeUndefined()
  expect(eventOf(unsigned, '{}', NOW_MS)).toBeUndefined()
  expect(eventOf({}, '{}', NOW_MS)).toBeUndefined()
})
