/** The fields of an NFT instance. */
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { fieldsOf, moved, outcomeOf } from '../../support/client-moves.ts'
import { mint, mintedTo } from '../../support/client-nfts.ts'
import { sorted } from './sorted.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

export function nftInstanceChapter(suite: Suite): void {
  const row = suite.chapter('NFT instance')

  row('class_id', 'string, on the instance and around the list', async (stage) => {
    const { viewer, cast } = stage
    const list = await viewer.read(`/v1/nft-classes/${cast.classId}/instances`)
    expect([membersOf(cast.minted)['class_id'], list['class_id']]).toEqual([cast.classId, cast.classId])
    expect((await read(stage))['class_id']).toBe(cast.classId)
    expect(await listed(stage)).not.toHaveProperty('class_id')
  })

  row('instance_id', 'string, chosen by the minter, unique in its class', async (stage) => {
    const { transactor, cast } = stage
    for (const shown of await everywhere(stage)) expect(shown['instance_id']).toBe('deed-1')
    const again = await mint(transactor, cast.alice, cast.classId, { instance_id: 'deed-1' })
    expect(outcomeOf(again)).toBe('409 ERR_CONFLICT')
  })

  row('owner', 'string, the account that has it now', async (stage) => {
    const { transactor, cast } = stage
    const { alice, bob, classId } = cast
    expect(membersOf(cast.minted)['owner']).toBe(alice.accountId)
    for (const shown of [await read(stage), await listed(stage)]) expect(shown['owner']).toBe(bob.accountId)
    const nft = await mintedTo(transactor, alice, { class_id: classId, instance_id: 'for-carol' }, cast.carol)
    const path = `/v1/nft-classes/${classId}/instances/for-carol`
    expect((await transactor.read(path))['owner']).toBe(cast.carol.accountId)
    await moved(transactor, cast.carol, { type: 'transfer', to_account_id: alice.accountId, ...nft })
    expect((await transactor.read(path))['owner']).toBe(alice.accountId)
  })

  row('metadata', 'object that the schema of the class admits', async (stage) => {
    const { transactor, cast } = stage
    for (const shown of await everywhere(stage)) expect(shown['metadata']).toEqual({ colour: 'blue', weight: 2.5 })
    const wrong = { instance_id: 'wrong', metadata: { weight: -1, size: 3 } }
    const reply = await mint(transactor, cast.alice, cast.classId, wrong)
    expect(outcomeOf(reply)).toBe('400 ERR_INVALID_FIELD')
    expect(sorted(fieldsOf(reply))).toEqual(['metadata.colour', 'metadata.size', 'metadata.weight'])
  })

  row('minted_at', 'timestamp', async (stage) => {
    const mintedAt = textOf(membersOf(stage.cast.minted), 'minted_at')
    expectTimeOfRun(mintedAt)
    for (const shown of await everywhere(stage)) expect(shown['minted_at']).toBe(mintedAt)
  })
}

function read({ viewer, cast }: Stage): Promise<Members> {
  return viewer.read(`/v1/nft-classes/${cast.classId}/instances/${cast.deed.instance_id}`)
}

async function listed({ viewer, cast }: Stage): Promise<Members> {
  const instances = await viewer.readAll(`/v1/nft-classes/${cast.classId}/instances`, 'instances')
  return instances.find((one) => one['instance_id'] === cast.deed.instance_id) ?? {}
}

/** As it was minted, as it is read, and in the list. */
async function everywhere(stage: Stage): Promise<readonly Members[]> {
  return [membersOf(stage.cast.minted), await read(stage), await listed(stage)]
}
