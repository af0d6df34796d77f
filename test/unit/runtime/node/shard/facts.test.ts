/** F1: a fact that was known at the look-up of a command is known at its step. */
import { expect, test } from 'vitest'
import type { ClassFacts } from '../../../../../actors/nft-class/state.ts'
import { createFacts, createFactsOfLookUp } from '../../../../../runtime/node/shard/facts.ts'

const address = { shardId: 3, accountId: 'ann' }
const issued: ClassFacts = { classId: 'class', issuer: 'ann' }
const found = {
  tokens: new Map(),
  classes: new Map([['class', issued]]),
  existing: new Set(['3 ann']),
  instances: new Set(['class/one']),
}

test('a look-up knows what the node knew when it was asked, though the node forgets it later', () => {
  let isForgotten = false
  const node = createFacts({ takes: () => isForgotten })
  const lookUp = createFactsOfLookUp(node)
  node.note(found)
  const known = () => [lookUp.minted('class/one'), lookUp.exists(address), lookUp.nftClass('class')]
  expect(known()).toEqual([true, true, issued])
  isForgotten = true
  node.note({ ...found, classes: new Map(), existing: new Set(), instances: new Set() })
  expect([node.minted('class/one'), node.exists(address), node.nftClass('class')]).toEqual([false, false, undefined])
  expect(known()).toEqual([true, true, issued])
})

test('what was never found is not known, and what is found later is', () => {
  const node = createFacts({ takes: () => false })
  const lookUp = createFactsOfLookUp(node)
  expect([lookUp.minted('class/one'), lookUp.exists(address)]).toEqual([false, false])
  lookUp.note(found)
  expect([lookUp.minted('class/one'), lookUp.exists(address)]).toEqual([true, true])
  expect(node.minted('class/one')).toBe(false)
})
