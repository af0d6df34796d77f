/** Statements are verified offline, and every change is named (rules S1-S3). */
import { rmSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import type { Members } from '../../../support/client/client-keys.ts'
import { commandLine } from '../cli-fixture.ts'
import { FIRST, JWKS, SECOND, signed } from './signed-statement.ts'

const shell = commandLine()
afterAll(() => rmSync(shell.cwd, { recursive: true }))

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
