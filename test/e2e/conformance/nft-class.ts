/** The fields of an NFT class. */
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { outcomeOf } from '../../support/client-moves.ts'
import { COLOURED, registerClass } from '../../support/client-nfts.ts'
import { CLASS_ID } from './forms.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

export function nftClassChapter(suite: Suite): void {
  const row = suite.chapter('NFT class')

  row('class_id', 'string, cls_ and an ID', async (stage) => {
    expect(stage.cast.classId).toMatch(CLASS_ID)
    for (const shown of await everywhere(stage)) expect(shown['class_id']).toBe(stage.cast.classId)
  })

  row('name', 'string, unique; a duplicate is 409', async (stage) => {
    const { transactor, cast } = stage
    for (const shown of await everywhere(stage)) expect(shown['name']).toBe(cast.className)
    for (const name of [cast.className, cast.className.toUpperCase()]) {
      expect(outcomeOf(await registerClass(transactor, { name, issuer: cast.bob.accountId }))).toBe('409 ERR_CONFLICT')
    }
  })

  row('description', 'string', async (stage) => {
    for (const shown of await whole(stage)) expect(shown['description']).toBe('a class of the tests')
  })

  row('issuer', 'string, an account ID', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['issuer']).toBe(stage.cast.alice.accountId)
  })

  row('metadata_schema', 'object, a JSON Schema, as it came', async (stage) => {
    for (const shown of await whole(stage)) expect(shown['metadata_schema']).toEqual(COLOURED)
  })

  row('created_at', 'timestamp', async (stage) => {
    const created = textOf(membersOf(stage.cast.nftClass), 'created_at')
    expectTimeOfRun(created)
    for (const shown of await everywhere(stage)) expect(shown['created_at']).toBe(created)
  })

  row('list form', 'class_id, name, issuer and created_at, and nothing else', async (stage) => {
    expect(Object.keys(await listedClass(stage)).toSorted()).toEqual(['class_id', 'created_at', 'issuer', 'name'])
  })
}

async function listedClass({ viewer, cast }: Stage): Promise<Members> {
  const classes = await viewer.readAll('/v1/nft-classes', 'classes')
  return classes.find((one) => one['class_id'] === cast.classId) ?? {}
}

/** As it was registered, and as it is read. */
async function whole({ viewer, cast }: Stage): Promise<readonly Members[]> {
  return [membersOf(cast.nftClass), await viewer.read(`/v1/nft-classes/${cast.classId}`)]
}

async function everywhere(stage: Stage): Promise<readonly Members[]> {
  return [...(await whole(stage)), await listedClass(stage)]
}
