/** The fields of an NFT as its owner's account shows it. */
import { expect } from 'vitest'
import type { Members } from '../../support/client-keys.ts'
import { historyOf } from '../../support/client-nfts.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

export function ownedNftChapter(suite: Suite): void {
  const row = suite.chapter('Owned NFT')

  row('class_id', 'string', async (stage) => {
    expect((await owned(stage))['class_id']).toBe(stage.cast.classId)
  })

  row('instance_id', 'string', async (stage) => {
    expect((await owned(stage))['instance_id']).toBe('deed-1')
  })

  row('class_name', 'string, the name of the class', async (stage) => {
    expect((await owned(stage))['class_name']).toBe(stage.cast.className)
  })

  row('metadata', 'object, that of the instance', async (stage) => {
    expect((await owned(stage))['metadata']).toEqual({ colour: 'blue', weight: 2.5 })
  })

  row('acquired_at', 'timestamp: when it came to this owner, not when it was minted', async (stage) => {
    const { acquired_at: acquiredAt } = await owned(stage)
    expectTimeOfRun(acquiredAt)
    const history = await historyOf(stage.viewer, stage.cast.deed)
    expect(history).toHaveLength(2)
    expect(acquiredAt).toBe(history.at(-1)?.['timestamp'])
  })
}

/** The only one that bob has. */
async function owned({ viewer, cast }: Stage): Promise<Members> {
  const nfts = await viewer.readAll(`/v1/accounts/${cast.bob.accountId}/nfts`, 'nfts')
  expect(nfts).toHaveLength(1)
  return nfts[0] ?? {}
}
