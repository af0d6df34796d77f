/** A token exists before its issuer receives the supply: the supply can change, and the name is taken. */
import { beforeEach, expect, test } from 'vitest'
import { classAddress, tokenAddress } from '../../../../actors/address.ts'
import { tokenActor } from '../../../../actors/token/machine.ts'
import type { TokenCommand, TokenState } from '../../../../actors/token/state.ts'
import { GROUP, STRANGER, World } from '../../../model/mini-clients.ts'
import { registerTokenCommand } from '../../../support/accounts.ts'
import { STAMP } from '../../../support/arriving-accounts.ts'
import { deliver } from '../group/agreed-groups.ts'

let crediting: TokenState

beforeEach(() => {
  const ledger = new World()
  ledger.open('ann')
  ledger.ask(tokenAddress('GOLD'), registerTokenCommand({ issuer: 'ann', registrationKey: 'key one' }))
  deliver(ledger, ['token gold', 'ann'], ['ann', 'token gold'])
  const token = ledger.token('GOLD')
  if (token?.status !== 'crediting') throw new Error('Its supply is on the way.')
  crediting = token
})

function step(command: TokenCommand, token = crediting) {
  return tokenActor.step('gold', token, command, {})
}

test('a retried registration waits, another client finds the name taken, and an import has no stage to drop', () => {
  const again = registerTokenCommand({ issuer: 'ann', registrationKey: 'key one' })
  expect(step(again)).toEqual({ kind: 'answered', answer: 'deferred' })
  expect(step({ ...again, caller: STRANGER })).toMatchObject({ answer: { code: 'token_exists' } })
  expect(step({ ...STAMP, type: 'drop_arrival', importId: 'import-1' })).toMatchObject({ answer: { state: 'dropped' } })
})

test('a token whose supply is in transit mints, and holds, settles and reverts legs of groups', () => {
  const mint = { txnId: 'txn_1', accountId: 'ann', change: 'mint', amount: '5' } as const
  expect(step({ ...STAMP, type: 'change_supply', ...mint })).toMatchObject({ state: { totalSupply: '1005' } })
  const leg = { groupId: GROUP, leg: 0, role: 'supply' } as const
  const held = step({ ...STAMP, type: 'hold_supply', ...leg, change: 'mint', amount: '5', clientId: 'client' })
  if (held.kind !== 'stepped' || held.state === null) throw new Error('The supply is on hold.')
  expect(Object.keys(held.state.held)).toHaveLength(1)
  const settled = step({ ...STAMP, type: 'settle_leg', ...leg }, held.state)
  expect(settled).toMatchObject({ state: { status: 'crediting', totalSupply: '1005', held: {} } })
  const reverted = step({ ...STAMP, type: 'revert_leg', ...leg }, held.state)
  expect(reverted).toMatchObject({ state: { status: 'crediting', totalSupply: '1000', held: {} } })
})

test('an import cannot take tokens and classes that were registered here', () => {
  const ledger = new World()
  ledger.open('ann')
  ledger.issue({ issuer: 'ann' })
  ledger.classify({ issuer: 'ann' })
  const taking = { ...STAMP, type: 'take_arrival', importId: 'import-1' } as const
  for (const actor of [tokenAddress('GOLD'), classAddress('Gems')]) {
    expect(ledger.ask(actor, taking)).toMatchObject({ code: 'arrival_not_held' })
  }
})
