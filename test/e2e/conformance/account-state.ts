/** The fields of an account's state. */
import { expect } from 'vitest'
import { textOf } from '../../support/client.ts'
import { moved } from '../../support/client-moves.ts'
import { chained } from './chained.ts'
import { NO_HASH, SHA_256 } from './forms.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

export function accountStateChapter(suite: Suite): void {
  const row = suite.chapter('Account state')

  row('account_id', 'string, the account of the path', async ({ viewer, cast }) => {
    const { accountId } = cast.alice
    expect(await viewer.read(`/v1/accounts/${accountId}/state`)).toMatchObject({ account_id: accountId })
  })

  row('audit_hash', 'sha256:<hex>, the latest of the chain', async ({ transactor, cast }) => {
    const path = `/v1/accounts/${cast.alice.accountId}`
    const detail = await moved(transactor, cast.alice, { type: 'credit', amount: '1' })
    const state = await transactor.read(`${path}/state`)
    expect(state['audit_hash']).toMatch(SHA_256)
    expect(state['audit_hash']).toBe(detail['audit_hash'])
    const entries = await transactor.readAll(`${path}/audit-chain`, 'entries')
    const tip = entries.reduce((previous, entry) => chained(previous, textOf(entry, 'payload')), NO_HASH)
    expect(state['audit_hash']).toBe(tip)
  })

  row('updated_at', 'timestamp of the last change', async ({ transactor, cast }) => {
    const path = `/v1/accounts/${cast.alice.accountId}/state`
    const before = textOf(await transactor.read(path), 'updated_at')
    const detail = await moved(transactor, cast.alice, { type: 'credit', amount: '1' })
    const after = textOf(await transactor.read(path), 'updated_at')
    expectTimeOfRun(after)
    expect(after).toBe(detail['processed_at'])
    expect(Date.parse(after)).toBeGreaterThanOrEqual(Date.parse(before))
  })
}
