/** Statements are verified offline, and every change is named (rules S1-S3). */
import { generateKeyPairSync, sign } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { canonical, type Members } from '../../support/client/client-keys.ts'
import { commandLine } from './cli-fixture.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { x, y } = publicKey.export({ format: 'jwk' })
const KEY = { kid: 'K'.repeat(43), purpose: 'assertion', x, y, nbf: Date.parse('2026-01-01T00:00:00Z') / 1000 }
const JWKS = { ledger_id: 'this-ledger', keys: [KEY] }

const shell = commandLine()
afterAll(() => rmSync(shell.cwd, { recursive: true }))

const RANGE = {
  account_id: 'alice',
  token_id: 'GOLD',
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-02-01T00:00:00.000Z',
}
const FIRST: Members = {
  ...RANGE,
  opening: '100',
  opening_sequence: 4,
  movements: [
    { sequence: 5, txn_id: 'txn_1', type: 'credit', amount: '+0.5', balance_after: '100.5' },
    { sequence: 9, txn_id: 'txn_2', type: 'transfer', amount: '-100', balance_after: '0.5' },
  ],
  closing: '0.5',
  closing_sequence: 9,
  first_page: true,
  last_page: false,
}
const SECOND: Members = {
  ...RANGE,
  opening: '0.5',
  opening_sequence: 9,
  movements: [],
  closing: '0.5',
  closing_sequence: 9,
  first_page: false,
  last_page: true,
}

function signed(page: Members): Members {
  const content = {
    ...page,
    ledger_id: 'this-ledger',
    generated_at: '2026-02-01T12:00:00.000Z',
    key_id: KEY.kid,
    ...page,
  }
  const signature = sign('sha256', Buffer.from(canonical(content)), privateKey).toString('base64')
  return { ...content, signature, next_page_token: 'any' }
}

async function verified(...pages: readonly Members[]) {
  shell.write('jwks.json', JWKS)
  shell.write('statement.json', pages)
  const { code, out } = await shell.run(['verify', '--jwks', 'jwks.json', 'statement.json'])
  return { code, out }
}

describe('ledger verify', () => {
  test('accepts all pages of a statement in any order', async () => {
    expect(await verified(signed(SECOND), signed(FIRST))).toEqual({
      code: 0,
      out:
        'ok: statement of "alice", "GOLD", from "2026-01-01T00:00:00.000Z" to "2026-02-01T00:00:00.000Z": ' +
        'opens with "100", closes with "0.5"\n',
    })
  })

  test.for([
    ['S1', { closing: '0.6' }, 'its signature does not verify'],
    ['S1', { key_id: 'L'.repeat(43) }, 'it names key'],
    ['S1', { ledger_id: 'another' }, 'it is of ledger another'],
  ] as const)('%s: a page that was changed after it was signed is not accepted: %j', async ([, change, problem]) => {
    const { code, out } = await verified({ ...signed(FIRST), ...change }, signed(SECOND))
    expect([code, out]).toEqual([1, expect.stringContaining(problem)])
  })

  test.for([
    [{ closing: '0.6' }, 'its opening and movements do not add up to its closing'],
    [{ opening: '99' }, 'the balance after movement 5 does not add up'],
    [{ opening_sequence: 5 }, 'movement 5 is out of order'],
    [{ opening: '-1' }, 'it is malformed'],
  ] as const)('S2: a signed page that does not add up is not accepted: %j', async ([change, problem]) => {
    const { code, out } = await verified(signed({ ...FIRST, ...change }), signed(SECOND))
    expect([code, out]).toEqual([1, expect.stringContaining(`: ${problem}`)])
  })

  test('S3: a missing page is named', async () => {
    expect((await verified(signed(FIRST))).out).toContain('INCOMPLETE: statement of "alice"')
    expect((await verified(signed(FIRST))).out).toContain('its last page is missing')
    expect((await verified(signed(SECOND))).out).toContain('its first page is missing')
    const third = { ...SECOND, opening: '7', closing: '7', opening_sequence: 12, closing_sequence: 12 }
    const { code, out } = await verified(signed(FIRST), signed(third))
    expect([code, out]).toEqual([1, expect.stringContaining('no page continues after entry 9')])
  })

  test('an assertion key that is not yet in use signs nothing', async () => {
    const { code, out } = await verified(signed({ ...FIRST, generated_at: '2025-01-01T00:00:00.000Z' }), signed(SECOND))
    expect([code, out]).toEqual([1, expect.stringContaining('its key was not in use at its generated_at')])
  })
})
