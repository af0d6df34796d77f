/** The fields of an entry of provenance. */
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { historyOf } from '../../support/client-nfts.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

type Events = Readonly<Record<'mint' | 'transfer' | 'attestation', Members>>

export function provenanceChapter(suite: Suite): void {
  const row = suite.chapter('Provenance entry')

  row('depth', 'integer from 0, which is the mint; counts changes of owner', async (stage) => {
    const { mint, transfer, attestation } = await entries(stage)
    expect([mint, transfer, attestation].map(({ depth }) => depth)).toEqual([0, 1, 1])
  })

  row('event', 'mint, transfer, attestation, in the order of what happened', async (stage) => {
    const { mint, transfer, attestation } = await entries(stage)
    expect([mint, transfer, attestation].map(({ event }) => event)).toEqual(['mint', 'transfer', 'attestation'])
  })

  row('actor', 'account ID of whoever did or stated it', async (stage) => {
    const { mint, transfer, attestation } = await entries(stage)
    const { accountId } = stage.cast.alice
    expect([mint, transfer, attestation].map(({ actor }) => actor)).toEqual([
      accountId,
      accountId,
      'land-registry@london',
    ])
  })

  row('txn_id', 'string, on what a transaction did', async (stage) => {
    const { mint, transfer, attestation } = await entries(stage)
    const history = await historyOf(stage.viewer, stage.cast.deed)
    expect([mint, transfer].map(({ txn_id: txnId }) => txnId)).toEqual(history.map(({ txn_id: txnId }) => txnId))
    for (const [entry, type] of [
      [mint, 'mint'],
      [transfer, 'transfer'],
    ] as const) {
      const detail = await stage.viewer.read(`/v1/transactions/${textOf(entry, 'txn_id')}`)
      expect(detail).toMatchObject({ type, instance_id: stage.cast.deed.instance_id })
    }
    expect(attestation).not.toHaveProperty('txn_id')
  })

  row('attestation_id', 'string, on what was stated', async (stage) => {
    const { mint, attestation } = await entries(stage)
    const stated = await stage.viewer.read(`/v1/attestations/${textOf(attestation, 'attestation_id')}`)
    expect(stated['statement']).toBe('Entered in the register.')
    expect(mint).not.toHaveProperty('attestation_id')
  })

  row('timestamp', 'timestamp, of the event', async (stage) => {
    const { mint, transfer, attestation } = await entries(stage)
    const history = await historyOf(stage.viewer, stage.cast.deed)
    expect([mint, transfer].map(({ timestamp }) => timestamp)).toEqual(history.map(({ timestamp }) => timestamp))
    expectTimeOfRun(attestation['timestamp'])
    expect(attestation['timestamp']).toBe(textOf(membersOf(stage.cast.attestation), 'created_at'))
  })

  row('details', 'string, on what was stated: the statement', async (stage) => {
    const { mint, attestation } = await entries(stage)
    expect(attestation['details']).toBe('Entered in the register.')
    expect(mint).not.toHaveProperty('details')
  })
}

async function entries({ viewer, cast }: Stage): Promise<Events> {
  const path = `/v1/nft-classes/${cast.classId}/instances/${cast.deed.instance_id}/provenance`
  const [mint = {}, transfer = {}, attestation = {}] = await viewer.readAll(path, 'provenance')
  return { mint, transfer, attestation }
}
