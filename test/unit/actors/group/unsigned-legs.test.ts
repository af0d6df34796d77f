/**
 * An unsigned leg reserves, reveals and blocks nothing of its account (D10). Another client registers groups that
 * name every account; they do not affect the account.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import type { DeclineCommand } from '../../../../actors/account/commands.ts'
import { Holds } from '../../../../actors/account/holds.ts'
import { MAX_EXPECTATIONS } from '../../../../actors/account/legs.ts'
import { MAX_PENDING } from '../../../../actors/account/submission.ts'
import type { LegHold } from '../../../../actors/account/state.ts'
import { accountAddress } from '../../../../actors/address.ts'
import type { Terms } from '../../../../actors/group/terms.ts'
import { CALLER, eraseCommand, statusCommand } from '../../../support/accounts.ts'
import { codeOf, free, GROUP, type LegFields, legOf, STRANGER, termsOf, World } from '../../../model/mini-clients.ts'
import { FORGED } from '../../../model/mini-ledger.ts'

const FULL = '999999999999999999.999999999999999999'

let ledger: World
let groups = 0

beforeEach(() => {
  groups = 0
  ledger = new World()
  ledger.open('victim', 'mallory')
  ledger.fund('victim', '1234.56')
})

/** Registers another group of the other client, with any outcome. */
function expected(...legs: readonly LegFields[]): {
  readonly terms: Terms
  readonly answer: ReturnType<World['agree']>
} {
  groups += 1
  const groupId = `2f0c2c1e-7d35-4b4e-9d2a-${`${groups}`.padStart(12, '0')}`
  const terms = termsOf(legs, { groupId, timeoutSeconds: 86_400 })
  return { terms, answer: ledger.agree(terms, STRANGER) }
}

function brings(amount: string): readonly LegFields[] {
  return [
    { account_id: 'victim', type: 'credit', amount },
    { account_id: 'mallory', type: 'debit', amount },
  ]
}

function decline(groupId: string, changes: Partial<DeclineCommand> = {}) {
  const hold = [...ledger.account('victim').holds.values()].find((one) => one.kind === 'leg' && one.groupId === groupId)
  const termsHash = hold?.kind === 'leg' ? hold.termsHash : '0'.repeat(64)
  const given = { accountId: 'victim', groupId, termsHash, ledgerId: null, payload: '{}', signature: 'good' }
  const stamp = { atMs: ledger.nowMs, salt: '0'.repeat(32), newTxnId: `txn_${'0'.repeat(26)}` }
  return ledger.asked(accountAddress('victim'), {
    type: 'decline_legs',
    caller: CALLER,
    ...stamp,
    ...given,
    ...changes,
  })
}

describe('the reply to another client that registers a group', () => {
  test('does not depend on a balance: bisection by amounts that do not fit always gets the same reply', () => {
    const answers = new Set<string>()
    for (let amount = 999_999_999_999_999_999n; amount > 0n; amount /= 10n) {
      answers.add(expected(...brings(`${amount}`)).answer.kind)
    }
    expect([...answers, expected(...brings(FULL)).answer.kind]).toEqual(['group_registered', 'group_registered'])
  })

  test.for([
    ['is frozen', () => ledger.change('victim', { status: 'frozen' })],
    ['holds all it can', () => ledger.fund('victim', '999999999999990000')],
    ['has nothing', () => ledger.settled({ accountId: 'victim', type: 'debit', amount: '1234.56' })],
  ] as const)('is the same where the account %s', ([, make]) => {
    make()
    const kinds = ['debit', 'credit'].map((type) => {
      const other = { account_id: 'mallory', type: type === 'debit' ? 'credit' : 'debit', amount: '9' }
      return expected({ account_id: 'victim', type, amount: '9' }, other).answer.kind
    })
    expect(kinds).toEqual(['group_registered', 'group_registered'])
  })
})

describe('a group that another client registers blocks', () => {
  test('neither incoming nor outgoing value, nor the limit of digits', () => {
    expected(...brings(FULL))
    const transfer = { account_id: 'mallory', type: 'transfer', amount: FULL, to_account_id: 'victim' }
    expected(transfer, { account_id: 'victim', type: 'debit', amount: '1', boundary: true })
    expect(ledger.account('victim').balances.get('BASE')?.room === 0n).toBe(true)
    expect(ledger.transaction(ledger.fund('victim', '999999999999990000')).status).toBe('completed')
    expect(ledger.settled({ accountId: 'victim', type: 'debit', amount: '999999999999990000' }).status).toBe(
      'completed',
    )
    ledger.fund('mallory', '5')
    const sent = { accountId: 'mallory', type: 'transfer', toAccountId: 'victim', amount: '5' } as const
    expect(ledger.settled(sent).status).toBe('completed')
    expect(ledger.balance('victim')).toEqual(free('1239.56'))
  })

  test('no token: its supply is put on hold once the account that mints or burns has signed', () => {
    ledger.issue({ tokenId: 'GOLD', issuer: 'victim', totalSupply: '10' })
    const mint = { account_id: 'victim', type: 'mint', token_id: 'GOLD' }
    const { terms, answer } = expected(
      { ...mint, amount: '999999999999999989' },
      { ...mint, type: 'burn', amount: '10' },
    )
    expect(answer.kind).toBe('group_registered')
    expect(ledger.token('GOLD')?.held).toEqual({})
    const plain = { accountId: 'victim', tokenId: 'GOLD', amount: '5' } as const
    expect(ledger.settled({ ...plain, type: 'mint' }).status).toBe('completed')
    expect(ledger.settled({ ...plain, type: 'burn' }).status).toBe('completed')
    expect(ledger.settled(legOf(terms, 0)).status).toBe('completed')
    expect(Object.values(ledger.token('GOLD')?.held ?? {})).toMatchObject([{ change: 'mint' }])
  })

  test('no orders: legs that other clients expect do not count as pending', () => {
    ledger.open('idle')
    expected({ account_id: 'idle', type: 'credit', amount: '1' }, { account_id: 'mallory', type: 'debit', amount: '1' })
    const [leg] = [...ledger.account('idle').holds.values()]
    if (leg === undefined) throw new Error('the leg is expected')
    const holds = Holds.of(Array.from({ length: MAX_PENDING }, (_, index) => [`${index}`, leg] as const))
    ledger.put({ ...ledger.account('idle'), holds })
    expect(codeOf(ledger.submission({ accountId: 'idle', type: 'debit', amount: '1' }))).toBe(undefined)
    const signed = Holds.of([...holds].map(([id, hold]) => [id, { ...hold, state: 'completed' } as const]))
    ledger.put({ ...ledger.account('idle'), holds: signed })
    expect(codeOf(ledger.submission({ accountId: 'idle', type: 'debit', amount: '1' }))).toBe('pending_limit')
  })

  test('no orders by received value: it counts against the same limit, and is not pending', () => {
    ledger.open('poor', 'bystander')
    ledger.fund('mallory', '1000')
    const sends = { account_id: 'mallory', type: 'transfer', amount: '1', to_account_id: 'poor' }
    const never = { account_id: 'bystander', type: 'transfer', amount: '1', to_account_id: 'mallory' }
    const register = () => expected(...Array.from({ length: 20 }, () => sends), never)
    for (let times = 0; times < MAX_EXPECTATIONS / 20; times += 1) {
      const { terms } = register()
      for (let leg = 0; leg < 20; leg += 1) ledger.submission(legOf(terms, leg))
      ledger.drain()
    }
    expect(codeOf(register().answer)).toBe('expectation_limit')
    const held = [...ledger.account('poor').holds]
    expect(new Set(held.map(([, hold]) => hold.kind === 'leg' && hold.state))).toEqual(new Set(['completed']))
    const copies = Array.from({ length: MAX_PENDING / MAX_EXPECTATIONS + 1 }, (_, copy) =>
      held.map(
        ([id, hold]) => [`${copy} ${id}`, { ...hold, terms: { ...(hold as LegHold).terms, amount: '0' } }] as const,
      ),
    )
    const holds = Holds.of([...held, ...copies.flat()])
    expect(holds.size).toBeGreaterThan(MAX_PENDING)
    ledger.put({ ...ledger.account('poor'), holds })
    expect(codeOf(ledger.submission({ accountId: 'poor', type: 'debit', amount: '1' }))).toBe(undefined)
  })

  test('no closing: legs of other clients are declined, legs of its own client are not', () => {
    const empty = { accountId: 'victim', type: 'debit', amount: '1234.56' } as const
    ledger.settled(empty)
    const { terms } = expected(...brings('7'))
    ledger.agree(termsOf(brings('7')), CALLER)
    expect(codeOf(ledger.change('victim', { status: 'closed' }))).toBe('account_not_empty')
    expect(ledger.groupSeen(terms.groupId)?.status).toBe('open')
    decline(GROUP)
    const closed = ledger.ask(accountAddress('victim'), statusCommand({ accountId: 'victim', status: 'closed' }))
    expect(closed).toMatchObject({ kind: 'status_changed', account: { status: 'closed' } })
    const erase = eraseCommand({ accountId: 'victim' })
    expect(ledger.ask(accountAddress('victim'), erase)).toMatchObject({ code: 'account_not_empty' })
    ledger.drain()
    expect(ledger.groupSeen(terms.groupId)).toMatchObject({ status: 'reverted', failure: { code: 'declined' } })
    expect(ledger.account('victim').holds.size).toBe(0)
    expect(ledger.ask(accountAddress('victim'), erase)).toMatchObject({ kind: 'status_changed' })
  })
})

describe('an account that declines', () => {
  test('may be frozen, and gets an error for other terms', () => {
    const { terms } = expected(...brings('7'))
    ledger.change('victim', { status: 'frozen' })
    expect(decline(terms.groupId, { termsHash: 'f'.repeat(64) })).toMatchObject({ code: 'group_not_found' })
    expect(decline(terms.groupId)).toEqual({ kind: 'legs_declined', groupId: terms.groupId })
    expect(ledger.groupSeen(terms.groupId)?.status).toBe('reverted')
  })

  test('reverts the group: completed legs are undone, and the group has the reason', () => {
    ledger.fund('mallory', '7')
    const { terms } = expected(...brings('7'))
    ledger.settled(legOf(terms, 1))
    expect(decline(terms.groupId)).toEqual({ kind: 'legs_declined', groupId: terms.groupId })
    expect(ledger.groupSeen(terms.groupId)).toMatchObject({
      status: 'reverted',
      failure: { code: 'declined' },
      legs: [{ status: 'failed', txnId: null }, { status: 'compensated' }],
    })
    expect(ledger.balance('mallory')).toEqual(free('7'))
    for (const { holds } of ledger.accounts()) expect(holds.size).toBe(0)
  })

  test('as the receiver of a transfer, before or after its sender has signed, receives nothing', () => {
    ledger.fund('mallory', '7')
    for (const isSigned of [false, true]) {
      const transfer = { account_id: 'mallory', type: 'transfer', amount: '7', to_account_id: 'victim' }
      const { terms } = expected(transfer, { account_id: 'victim', type: 'debit', amount: '1', boundary: true })
      // The receiver gets the message about the value after it has declined.
      if (isSigned) ledger.submission(legOf(terms, 0))
      decline(terms.groupId)
      expect(ledger.groupSeen(terms.groupId)?.status).toBe('reverted')
      expect([ledger.balance('mallory'), ledger.balance('victim')]).toEqual([free('7'), free('1234.56')])
    }
  })

  test('declines once; it cannot decline a signed leg, an absent group or other terms', () => {
    const { terms } = expected(...brings('7'))
    expect(codeOf(decline(terms.groupId, { termsHash: '0'.repeat(64) }))).toBe('group_not_found')
    expect(codeOf(decline(GROUP))).toBe('group_not_found')
    expect(codeOf(decline(terms.groupId, { signature: FORGED }))).toBe('signature_mismatch')
    expect(codeOf(decline(terms.groupId, { ledgerId: 'another' }))).toBe('wrong_ledger')
    expect(ledger.groupSeen(terms.groupId)?.status).toBe('open')
    ledger.settled(legOf(terms, 0))
    expect(codeOf(decline(terms.groupId))).toBe('leg_signed')
    const other = expected(...brings('8')).terms
    const first = decline(other.groupId, { termsHash: other.termsHash })
    expect(first.kind).toBe('legs_declined')
    expect(codeOf(decline(other.groupId))).toBe('group_not_found')
  })
})
