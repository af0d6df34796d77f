/** An NFT accepts the messages of its state; others break an invariant. A burned NFT stays burned (O1, O2). */
import { expect, test } from 'vitest'
import { failure } from '../../../../actors/account/transaction.ts'
import type { InstanceMessage } from '../../../../actors/message.ts'
import type { InstanceState } from '../../../../actors/nft-instance/state.ts'
import { instanceActor } from '../../../../actors/nft-instance/machine.ts'
import { BrokenInvariant } from '../../../../actors/result.ts'
import { SALT, START_MS } from '../../../support/accounts.ts'

const NFT = 'cls_00000000000000000000000001/ruby'
const LEG = { groupId: 'group-1', leg: 0, role: 'instance' } as const
const TERMS = { groupId: null, metadata: null, expiresAtMs: null, compensates: null }

/** Ann sends the NFT to Bob by the transfer `away`, the exchange `swap` and the leg `leg`. */
const SAID = {
  mint: { type: 'mint_nft', txnId: 'mint', issuer: 'ann', owner: 'ann', metadata: {} },
  received: { type: 'nft_received', txnId: 'mint', failure: null, counterTxnId: null },
  refused: { type: 'nft_received', txnId: 'mint', failure: failure('account_closed'), counterTxnId: null },
  move: { type: 'move_nft', txnId: 'away', accountId: 'ann', toAccountId: 'bob', ...TERMS },
  moved: { type: 'nft_received', txnId: 'away', failure: null, counterTxnId: null },
  burn: { type: 'burn_nft', txnId: 'burn', accountId: 'ann' },
  hold: { type: 'hold_nft', txnId: 'swap', accountId: 'ann', leg: null, toAccountId: null },
  release: { type: 'release_nft', txnId: 'swap', accountId: 'ann', leg: null },
  deliver: { type: 'deliver_nft', txnId: 'swap', toAccountId: 'bob', exchangeId: 'group-3' },
  holdLeg: { type: 'hold_nft', txnId: 'leg', accountId: 'ann', leg: LEG, toAccountId: 'bob' },
  releaseLeg: { type: 'release_nft', txnId: 'leg', accountId: 'ann', leg: LEG },
  settleLeg: { type: 'settle_leg', ...LEG },
} as const satisfies Readonly<Record<string, InstanceMessage>>
type Said = keyof typeof SAID

function after(state: InstanceState | null, said: Said, atMs = START_MS): InstanceState | null {
  const result = instanceActor.step(NFT, state, { ...SAID[said], atMs, salt: SALT, newTxnId: '' }, undefined)
  if (result.kind !== 'stepped') throw new Error('a message is consumed')
  return result.state
}

function isBroken(attempt: () => unknown): boolean {
  try {
    attempt()
    return false
  } catch (error) {
    if (error instanceof BrokenInvariant) return true
    throw error
  }
}

const ORDERS = ['move', 'burn', 'hold', 'holdLeg'] as const
const ALWAYS = ['mint', ...ORDERS] as const

test.for<[string, readonly Said[], readonly Said[]]>([
  ['absent', [], ['mint']],
  ['minting', ['mint'], ['mint', 'received', 'refused']],
  ['active', ['mint', 'received'], ALWAYS],
  ['transferred', ['mint', 'received', 'move'], [...ALWAYS, 'moved']],
  ['offered', ['mint', 'received', 'hold'], [...ALWAYS, 'release', 'deliver']],
  ['in a leg', ['mint', 'received', 'holdLeg'], [...ALWAYS, 'releaseLeg', 'settleLeg']],
  ['burned', ['mint', 'received', 'burn'], ALWAYS],
])('an NFT in the state %s accepts the messages of that state only', ([name, said, heard]) => {
  const state = said.reduce<InstanceState | null>((before, one) => after(before, one), null)
  const stored = JSON.stringify(state)
  const all = Object.keys(SAID) as Said[]
  expect(all.filter((one) => isBroken(() => after(state, one)))).toEqual(all.filter((one) => !heard.includes(one)))
  for (const one of heard) {
    const next = after(state, one, START_MS - 5)
    if (state === null || next === null) continue
    const isOver = name === 'burned' || one === 'burn'
    expect([one, next.lastTimeMs]).toEqual([one, state.lastTimeMs])
    expect([one, next.status === 'burned']).toEqual([one, isOver && state.status !== 'held'])
  }
  expect(JSON.stringify(state)).toBe(stored)
})
