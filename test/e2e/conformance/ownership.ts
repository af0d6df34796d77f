/** The fields of an entry in the history of ownership. */
import { expect } from 'vitest'
import { textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { moved } from '../../support/client-moves.ts'
import { historyOf, mintedTo } from '../../support/client-nfts.ts'
import { TXN_ID } from './forms.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

export function ownershipChapter(suite: Suite): void {
  const row = suite.chapter('Ownership history entry')

  row('from', 'account ID; null for the mint', async (stage) => {
    const { mint, transfer } = await entries(stage)
    expect([mint['from'], transfer['from']]).toEqual([null, stage.cast.alice.accountId])
  })

  row('to', 'account ID', async (stage) => {
    const { mint, transfer } = await entries(stage)
    expect([mint['to'], transfer['to']]).toEqual([stage.cast.alice.accountId, stage.cast.bob.accountId])
  })

  row('txn_id', 'string, the transaction that did it', async (stage) => {
    const { viewer, cast } = stage
    const { mint, transfer } = await entries(stage)
    expect(mint['txn_id']).toMatch(TXN_ID)
    expect(transfer['txn_id']).toBe(cast.handedOver['txn_id'])
    expect(await viewer.read(`/v1/transactions/${textOf(mint, 'txn_id')}`)).toMatchObject({
      type: 'mint',
      account_id: cast.alice.accountId,
      class_id: cast.classId,
      instance_id: cast.deed.instance_id,
    })
  })

  row('type', 'mint, then transfer; burn ends it', async (stage) => {
    const { transactor, cast } = stage
    const { mint, transfer } = await entries(stage)
    expect([mint['type'], transfer['type']]).toEqual(['mint', 'transfer'])
    const nft = await mintedTo(transactor, cast.alice, { class_id: cast.classId, instance_id: 'to-burn' })
    await moved(transactor, cast.alice, { type: 'burn', ...nft })
    const history = await historyOf(transactor, nft)
    expect(history.map(({ type, from, to }) => [type, from, to])).toEqual([
      ['mint', null, cast.alice.accountId],
      ['burn', cast.alice.accountId, cast.alice.accountId],
    ])
  })

  row('timestamp', 'timestamp, of the change', async (stage) => {
    const { mint, transfer } = await entries(stage)
    for (const entry of [mint, transfer]) expectTimeOfRun(entry['timestamp'])
    const { minted_at: mintedAt } = await stage.viewer.read(
      `/v1/nft-classes/${stage.cast.classId}/instances/${stage.cast.deed.instance_id}`,
    )
    expect(mint['timestamp']).toBe(mintedAt)
    expect(Date.parse(textOf(transfer, 'timestamp'))).toBeGreaterThanOrEqual(Date.parse(textOf(mint, 'timestamp')))
  })
}

/** Of the deed: minted to alice, handed to bob. */
async function entries({ viewer, cast }: Stage): Promise<Readonly<Record<'mint' | 'transfer', Members>>> {
  const [mint = {}, transfer = {}, ...more] = await historyOf(viewer, cast.deed)
  expect(more).toEqual([])
  return { mint, transfer }
}
