/** A closed or erased account replays earlier replies and acknowledges late messages. It refuses new orders. */
import { describe, expect, test } from 'vitest'
import type { AccountCommand, MintCommand } from '../../../../actors/account/commands.ts'
import { type EarlierUse, originalAnswer } from '../../../../actors/account/outcome.ts'
import {
  ACCOUNT,
  afterSteps,
  CALLER,
  eraseCommand,
  KEY,
  mintCommand,
  refusalOf,
  registerCommand,
  rotateCommand,
  SIGNED,
  statusCommand,
  stepAccount,
  steppedOf,
} from '../../../support/accounts.ts'
import { ARRIVING, ask, drop, hold, LATER, note, STAMP, take, walked } from '../../../support/arriving-accounts.ts'
import { free, legOf, World } from '../../../model/mini-clients.ts'
import { agreed } from '../group/agreed-groups.ts'

const CLOSE = statusCommand({ status: 'closed' })
const CLOSED = afterSteps(registerCommand(), CLOSE)
const FROZEN = afterSteps(registerCommand(), statusCommand({ status: 'frozen' }))
const ERASED = afterSteps(registerCommand(), CLOSE, eraseCommand())
const MINT = mintCommand({ accountId: ACCOUNT, classId: 'cls_1', instanceId: 'ruby' })
const OF_THE_CLASS = { ...SIGNED, nftClass: () => ({ classId: 'cls_1', issuer: ACCOUNT }) }
const CONSENT = { clientId: CALLER.clientId, consentNeeded: false, payload: '{}', signature: '' }

function recorded(...commands: readonly AccountCommand[]): EarlierUse {
  const last = commands.at(-1) ?? CLOSE
  const before = afterSteps(...commands.slice(0, -1))
  for (const effect of steppedOf(stepAccount(before, last)).effects) {
    if (effect.kind !== 'operation_recorded') continue
    return { payloadHash: effect.operation.payloadHash, key: KEY, answer: originalAnswer(effect.operation) }
  }
  throw new Error('Not recorded.')
}

function mintedBy({ payloadHash }: MintCommand): EarlierUse {
  const instance = { classId: 'cls_1', instanceId: 'ruby', owner: ACCOUNT, status: 'active', metadata: {} } as const
  const answer = { kind: 'minted', txnId: 'txn_1', payloadHash, replayed: false, mismatch: false } as const
  return { payloadHash, key: KEY, answer: { ...answer, instance: { ...instance, mintedAtMs: 0 } } }
}

describe('a closed account', () => {
  const FREEZE = statusCommand({ status: 'frozen' })
  const ACTIVATE = statusCommand({ status: 'active', registrationKey: 'k' })

  test.for([
    ['mint', MINT, mintedBy(MINT), { kind: 'minted', replayed: true }],
    ['rotation', rotateCommand(), recorded(registerCommand(), rotateCommand()), { kind: 'rotated' }],
    ['change of status', ACTIVATE, recorded(registerCommand(), FREEZE, ACTIVATE), { account: { status: 'active' } }],
  ] as const)('and a frozen one replay a %s', ([, command, earlier, answer]) => {
    for (const account of [CLOSED, FROZEN]) {
      expect(stepAccount(account, command, { ...SIGNED, earlier })).toMatchObject({ kind: 'answered', answer })
    }
  })

  test.for([
    ['closed', CLOSED],
    ['frozen', FROZEN],
  ] as const)('or frozen one (%s) reports the error of an invalid order before its own status', ([, account]) => {
    expect(refusalOf(stepAccount(account, MINT))).toBe('class_not_found')
    expect(refusalOf(stepAccount(account, MINT, OF_THE_CLASS))).toBe('account_not_active')
    expect(refusalOf(stepAccount(account, rotateCommand({ ledgerId: 'another' })))).toBe('wrong_ledger')
    expect(refusalOf(stepAccount(account, rotateCommand()))).toBe('account_not_active')
  })

  test('from another ledger gives its import the same replies as before, and refuses other imports', () => {
    const arrival = { ...ARRIVING, status: 'closed', balances: {}, nfts: 0 } as const
    const closed = walked(hold(arrival), take())
    expect(
      [hold(arrival), hold(arrival, LATER), take(), note(0), drop()].map((command) => ask(closed, command)),
    ).toEqual(['present', 'present', 'taken', 'noted', 'dropped'].map((state) => `answered ${state}`))
    expect([take(LATER), note(0, [], LATER), drop(LATER)].map((command) => ask(closed, command))).toEqual([
      'answered arrival_not_held',
      'answered arrival_not_held',
      'answered dropped',
    ])
  })

  test('that an import created for an issuer does not become an imported account', () => {
    const closed = walked(hold(null), CLOSE)
    expect(ask(closed, hold(ARRIVING, LATER))).toBe('answered account_exists')
  })

  test('receives no value from a leg that it declined, although the sender has signed', () => {
    const ledger = new World()
    ledger.open('ann', 'bob', 'cyd')
    ledger.fund('ann', '4')
    const terms = agreed(
      ledger,
      { account_id: 'ann', type: 'transfer', amount: '4', to_account_id: 'bob' },
      { account_id: 'cyd', type: 'debit', amount: '1', boundary: true },
    )
    ledger.put({ ...ledger.account('bob'), registeredBy: 'another' })
    ledger.submission(legOf(terms, 0))
    expect(ledger.change('bob', { status: 'closed' })).toMatchObject({ kind: 'status_changed' })
    ledger.drain()
    expect(ledger.groupSeen(terms.groupId)).toMatchObject({ status: 'reverted', failure: { code: 'declined' } })
    expect([ledger.balance('ann'), ledger.account('bob').holds.size]).toEqual([free('4'), 0])
  })
})

test.for([
  ['closed', CLOSED],
  ['erased', ERASED],
] as const)('an account that is %s shows its actor and refuses to issue assets', ([state, account]) => {
  const { registrationKey: _, status: _status, incoming: _incoming, reason: _reason, ...stamp } = statusCommand()
  expect(stepAccount(account, { ...stamp, type: 'show_actor' })).toMatchObject({ answer: { actor: { state } } })
  const asked = { ...STAMP, accountId: ACCOUNT, shardId: 7, ...CONSENT }
  const orders = [
    { ...asked, type: 'prepare_issue', tokenId: 'GOLD', totalSupply: '1' },
    { ...asked, type: 'prepare_class', name: 'Gems' },
  ] as const
  for (const order of orders) {
    const { state: after, effects } = steppedOf(stepAccount(account, order))
    expect(after.status).toBe(state)
    expect(effects).toMatchObject([
      { envelope: { message: { type: 'issue_prepared', refused: { code: 'account_closed' } } } },
    ])
  }
})

test('an erased account refuses compensations', () => {
  const command = { ...STAMP, accountId: ACCOUNT, shardId: 7, type: 'compensate', groupId: 'group' } as const
  const { effects } = steppedOf(stepAccount(ERASED, { ...command, compensates: 'txn_1', asked: 'txn_2' }))
  const outcome = { kind: 'failed', failure: { code: 'not_compensable' } }
  expect(effects).toMatchObject([{ envelope: { message: { type: 'compensation_ended', asked: 'txn_2', outcome } } }])
})
