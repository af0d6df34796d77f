/** `ledger statement` accepts the requested statement only. */
import { describe, expect, test } from 'vitest'
import type { Members } from '../../../support/client/client-keys.ts'
import { LEDGER_ID, ledgerUser } from '../replying-ledger.ts'
import { FIRST, JWKS, SECOND, signed } from './signed-statement.ts'

const JANUARY = ['--from', '2026-01-01T01:00:00+01:00', '--to', '2026-02-01T00:00:00Z']

/** The ledger sends these pages, whatever it is asked. */
async function statement(changes: Members, ...args: readonly string[]) {
  const [first, second] = [FIRST, SECOND].map((page) => signed({ ...page, ledger_id: LEDGER_ID, ...changes }))
  const user = await ledgerUser({
    '/.well-known/jwks.json': { ...JWKS, ledger_id: LEDGER_ID },
    '/v1/accounts/alice/statements': (query) =>
      query.has('page_token') ? { ...second, next_page_token: '' } : { ...first, next_page_token: 'second' },
  })
  return user.run('statement', 'alice', 'GOLD', ...args)
}

describe('ledger statement', () => {
  test('prints and accepts the requested one, in whatever offset the times are given', async () => {
    const { code, out, err } = await statement({}, ...JANUARY)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('statement of alice, GOLD, from 2026-01-01T00:00:00.000Z to 2026-02-01T00:00:00.000Z\n')
    expect(out).toContain('verified: signed by ledger')
  })

  test.for([
    [{ account_id: 'bob' }, JANUARY, 'its account_id is "bob", not "alice"'],
    [{ token_id: 'TIN' }, JANUARY, 'its token_id is "TIN", not "GOLD"'],
    [{ to: '2026-01-31T00:00:00.000Z' }, JANUARY, 'its to is "2026-01-31T00:00:00.000Z", not "2026-02-01T00:00:00Z"'],
    [{ from: '2026-01-02T00:00:00.000Z' }, JANUARY, 'its from is "2026-01-02T00:00:00.000Z"'],
    [{}, [], 'its from is "2026-01-01T00:00:00.000Z", not null'],
  ] as const)('refuses another one: %j %j', async ([changes, args, problem]) => {
    const { code, out, err } = await statement(changes, ...args)
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`UNEXPECTED: this is not the requested statement: ${problem}`),
    ])
    expect(out).not.toContain('verified')
  })

  test('accepts one up to now only if it ends now and was signed now', async () => {
    const nowMs = Date.now()
    const at = (durationMs: number): string => new Date(nowMs + durationMs).toISOString()
    const current = { from: null, to: at(0), generated_at: at(0) }
    expect(await statement(current)).toMatchObject({ code: 0, err: '' })
    for (const [changes, member] of [
      [{ to: at(-600_000) }, 'to'],
      [{ to: at(600_000) }, 'to'],
      [{ generated_at: at(-600_000) }, 'generated_at'],
    ] as const) {
      const { code, out, err } = await statement({ ...current, ...changes })
      const message = `UNEXPECTED: this is not the requested statement: its ${member} is ${Object.values(changes)[0]}`
      expect([code, err]).toEqual([1, expect.stringContaining(message)])
      expect(out).not.toContain('verified')
    }
  })

  test('escapes text of the pages', async () => {
    const { out, err } = await statement({ account_id: 'a\nverified: signed\u009b2J' }, ...JANUARY)
    expect(`${out}${err}`).not.toMatch(/^verified|\u009b/m)
  })
})
