/** The home of an imported account stages or refuses it. A staged account has no effect, and is applied once. */
import { describe, expect, test } from 'vitest'
import { usedKeyHash } from '../../../../actors/account/used-key.ts'
import { chainHash } from '../../../../actors/audit-chain.ts'
import { BASE_UNIT, formatQuantity, parseQuantity } from '../../../../actors/money.ts'
import { type AccountHead, arrivalFact, ChainWalk } from '../../../../runtime/audit/chain-walk.ts'
import {
  ACCOUNT,
  CALLER,
  eraseCommand,
  KEY,
  OTHER_KEY,
  registerCommand,
  rotateCommand,
  SIGNED,
  START_MS,
  statusCommand,
  submitCommand,
} from '../../../support/accounts.ts'
import {
  ABSENT,
  accountOf,
  ADMIN,
  ARRIVING,
  ask,
  balancesOf,
  drop,
  FROM,
  HASH,
  hold,
  KEY_SALT,
  LATER,
  note,
  OF_ACCOUNT,
  received,
  STAMP,
  take,
  walked,
} from '../../../support/arriving-accounts.ts'

describe('an account', () => {
  test.for([
    ['active', walked(hold())],
    ['frozen', walked(hold(), statusCommand({ status: 'frozen', caller: ADMIN }))],
  ] as const)('that is %s is asked the same while it is held', ([, held]) => {
    expect([
      ask(held, hold()),
      ask(held, note(0, ['x'])),
      ask(held, note(1, ['x'])),
      ask(held, drop()),
      ask(held, drop(LATER)),
      ask(held, take()),
      ask(held, take(LATER)),
    ]).toEqual([
      'answered held',
      'stepped noted',
      'answered arrival_out_of_order',
      'stepped dropped',
      'answered dropped',
      'stepped taken',
      'answered arrival_not_held',
    ])
  })

  test('is staged without its key, value and NFTs, with room for all of them', () => {
    const held = walked(hold())
    const account = accountOf(held)
    expect(account).toMatchObject({ key: null, status: 'active', version: 1, sequence: 0, nftCount: 0, nftRoom: 2 })
    expect(balancesOf(account)).toEqual({ [BASE_UNIT]: '0', GOLD: '0' })
    expect(account.balances.get('GOLD')?.room).toBe(parseQuantity('3'))
    expect(held.effects.map(({ kind }) => kind)).not.toContain('boundary_crossed')
    expect(ask(held, submitCommand())).toBe('answered account_keyless')
  })

  test('is taken in one entry, with its key, its value from outside of the ledger, and its NFTs', () => {
    const taken = walked(hold(), take())
    const account = accountOf(taken)
    expect(account).toMatchObject({ key: KEY, status: 'active', sequence: 1, nftCount: 2, nftRoom: 0, version: 2 })
    expect(balancesOf(account)).toEqual({ [BASE_UNIT]: '12.5', GOLD: '3' })
    expect([...account.balances.values()].every(({ room, incoming }) => room === 0n && incoming === 0n)).toBe(true)
    expect(account.holds.size).toBe(0)
    const crossed = taken.effects.flatMap((effect) =>
      effect.kind === 'boundary_crossed' ? [[effect.tokenId, formatQuantity(effect.quantity)]] : [],
    )
    expect(crossed).toEqual([
      [BASE_UNIT, '12.5'],
      ['GOLD', '3'],
    ])
    expect(taken.effects).toContainEqual({ kind: 'key_registered', key: KEY, fromSequence: 1, atMs: START_MS })
    const [, entry] = taken.effects.flatMap((effect) => (effect.kind === 'entry_appended' ? [effect.entry] : []))
    expect(JSON.parse(entry?.payload ?? '')).toMatchObject({
      kind: 'arrival',
      balances: { [BASE_UNIT]: '12.5', GOLD: '3' },
      ledger_id: 'there',
      there: { audit_hash: HASH, txn_count: 41 },
    })
    expect(account.tip).toBe(chainHash(entry?.previousHash ?? '', entry?.payload ?? ''))
  })

  test('keeps its status frozen or closed', () => {
    expect(accountOf(walked(hold({ ...ARRIVING, status: 'frozen' }), take())).status).toBe('frozen')
    const closed = { ...ARRIVING, status: 'closed', balances: {}, nfts: 0 } as const
    expect(accountOf(walked(hold(closed), take())).status).toBe('closed')
    expect(ask(ABSENT, hold({ ...closed, nfts: 1 }))).toBe('answered arrival_not_empty')
    expect(ask(ABSENT, hold({ ...closed, balances: { GOLD: '1' } }))).toBe('answered arrival_not_empty')
  })

  test('that comes closed and was given something meanwhile comes frozen: what is closed has nothing', () => {
    const closed = { ...ARRIVING, status: 'closed', balances: {}, nfts: 0 } as const
    const given = {
      ...STAMP,
      ...OF_ACCOUNT,
      type: 'receive_transfer',
      txnId: 'txn_1',
      fromAccountId: 'giver',
      tokenId: BASE_UNIT,
      amount: '1',
      groupId: null,
      metadata: null,
      expiresAtMs: null,
      compensates: null,
    } as const
    const account = accountOf(walked(hold(closed), given, take()))
    expect({ status: account.status, balances: balancesOf(account) }).toEqual({
      status: 'frozen',
      balances: { [BASE_UNIT]: '1' },
    })
  })

  test('stays frozen if it was frozen here on its way, unless it comes closed', () => {
    const freeze = statusCommand({ status: 'frozen' })
    const closed = { ...ARRIVING, status: 'closed', balances: {}, nfts: 0 } as const
    expect(accountOf(walked(hold(closed), freeze, take())).status).toBe('closed')
    expect(accountOf(walked(hold(), freeze, take())).status).toBe('frozen')
  })

  test('handles repeated requests once', () => {
    const held = walked(hold())
    expect(ask(held, hold())).toBe('answered held')
    const noted = walked(hold(), note(0, ['x']))
    expect(ask(noted, note(0, ['x']))).toBe('answered noted')
    expect(ask(noted, note(2, ['y']))).toBe('answered arrival_out_of_order')
    const taken = walked(hold(), take())
    expect(ask(taken, take())).toBe('answered taken')
    expect(ask(taken, hold())).toBe('answered present')
    expect(ask(taken, note(0, ['x']))).toBe('answered noted')
    expect(ask(taken, drop())).toBe('answered dropped')
    expect(ask(ABSENT, drop())).toBe('answered dropped')
    expect(ask(ABSENT, take())).toBe('answered arrival_not_held')
  })

  test('answers what comes late as before, though it was erased meanwhile', () => {
    const closed = { ...ARRIVING, status: 'closed', balances: {}, nfts: 0 } as const
    const erased = walked(hold(closed), take(), eraseCommand({ caller: ADMIN }))
    expect(accountOf(erased)).toMatchObject({ status: 'erased' })
    expect(accountOf(erased)).not.toHaveProperty('arrived')
    expect(ask(erased, take())).toBe('answered taken')
    expect(ask(erased, note(0, ['x']))).toBe('answered noted')
    expect(ask(erased, drop())).toBe('answered dropped')
    expect(ask(erased, hold(closed, LATER))).toBe('answered account_exists')
  })

  test('is here already when the same record comes in another import, whatever it did since', () => {
    const taken = walked(
      hold(),
      take(),
      submitCommand({ type: 'debit', amount: '1', tokenId: BASE_UNIT, ledgerId: SIGNED.ledgerId }),
    )
    expect(ask(taken, hold(ARRIVING, LATER))).toBe('answered present')
    expect(ask(taken, hold(ARRIVING, { ...LATER, recordHash: 'b'.repeat(64) }))).toBe('answered account_exists')
    expect(ask(taken, hold(ARRIVING, { ...LATER, ledgerId: 'elsewhere' }))).toBe('answered account_exists')
  })

  test('is refused where there is one, held by another import or of this ledger', () => {
    expect(ask(walked(hold()), hold(ARRIVING, LATER))).toBe('answered account_exists')
    expect(ask(walked(registerCommand()), hold())).toBe('answered account_exists')
  })

  test('is dropped without a trace but its name, and may come again', () => {
    const dropped = walked(hold(), drop())
    const account = accountOf(dropped)
    expect(account).toMatchObject({ key: null, nftCount: 0, nftRoom: 0 })
    expect(account.holds.size).toBe(0)
    expect([...account.balances.values()].every(({ balance, room }) => balance === 0n && room === 0n)).toBe(true)
    expect(ask(dropped, take())).not.toContain('stepped')
    expect(balancesOf(accountOf(walked(hold(), drop(), hold(ARRIVING, LATER), take(LATER))))).toMatchObject({
      GOLD: '3',
    })
  })

  test('is unclaimed once it was dropped, unless it was used', () => {
    const stranger = registerCommand({ caller: { ...CALLER, clientId: 'stranger' }, key: OTHER_KEY })
    const claimed = walked(hold(), drop(), stranger)
    expect(accountOf(claimed)).toMatchObject({ key: OTHER_KEY, registeredBy: 'stranger' })
    expect(ask(claimed, submitCommand({ type: 'credit', amount: '1', tokenId: BASE_UNIT }))).toBe('stepped accepted')
    const elsewhere = { ...LATER, ledgerId: 'elsewhere' }
    expect(ask(walked(hold(), drop()), hold(ARRIVING, elsewhere))).toBe('stepped held')
    expect(ask(walked(hold(), drop()), hold(null, elsewhere))).toBe('stepped present')
    expect(accountOf(walked(hold(), drop(), hold(null, elsewhere))).arrived?.ledgerId).toBe('elsewhere')
    const paid = walked(hold(), received('3'), drop())
    expect(ask(paid, stranger)).toBe('answered public_key_conflict')
    expect(ask(paid, registerCommand({ caller: ADMIN }))).toBe('stepped registered')
  })

  test('that was frozen while it only stood for what it issued still comes, and stays frozen', () => {
    const frozen = walked(hold(null), statusCommand({ status: 'frozen' }))
    expect(ask(frozen, hold(ARRIVING, LATER))).toBe('stepped held')
    const taken = walked(hold(null), statusCommand({ status: 'frozen' }), hold(ARRIVING, LATER), take(LATER))
    expect(accountOf(taken)).toMatchObject({ status: 'frozen', key: KEY })
  })

  test('keeps refusing incoming transfers if that was ordered here', () => {
    const taken = walked(hold(), statusCommand({ status: null, incoming: 'refuse' }), take())
    expect(accountOf(taken).incoming).toBe('refuse')
    const entry = taken.effects.findLast((effect) => effect.kind === 'entry_appended')
    expect(JSON.parse(entry?.entry.payload ?? '')).toMatchObject({ kind: 'arrival', incoming: 'refuse' })
  })

  test('gets no key from anybody while it is held, and from an administrator once it was dropped', () => {
    expect(ask(walked(hold()), registerCommand({ caller: ADMIN, key: OTHER_KEY }))).toBe('answered public_key_conflict')
    expect(ask(walked(hold(), drop()), registerCommand({ caller: ADMIN, key: OTHER_KEY }))).toBe('stepped registered')
  })

  test('is imported by administrators only', () => {
    for (const command of [hold(), take(), drop(), note(0)]) {
      expect(ask(walked(hold()), { ...command, caller: CALLER })).toBe('answered not_allowed')
    }
  })

  test('of a mere issuer is created without a key, and its own record claims it', () => {
    expect(ask(ABSENT, hold(null))).toBe('stepped present')
    const standing = walked(hold(null))
    expect(accountOf(standing)).toMatchObject({ key: null, sequence: 0 })
    expect(ask(standing, hold(null, LATER))).toBe('answered present')
    expect(ask(walked(registerCommand()), hold(null))).toBe('answered account_exists')
    expect(ask(standing, hold(null, { ...LATER, ledgerId: 'elsewhere' }))).toBe('answered account_exists')
    expect(ask(walked(hold(), take()), hold(null, LATER))).toBe('answered present')
    expect(accountOf(walked(hold(null), hold(ARRIVING, LATER), take(LATER))).key).toEqual(KEY)
    expect(ask(standing, hold(ARRIVING, { ...LATER, ledgerId: 'elsewhere' }))).toBe('answered account_exists')
  })

  test('that only stands for what it issued accepts only what names this ledger', () => {
    const claimed = walked(hold(null), registerCommand({ caller: ADMIN }))
    const credit = { type: 'credit', amount: '1', tokenId: BASE_UNIT } as const
    expect(ask(claimed, submitCommand(credit))).toBe('answered wrong_ledger')
    expect(ask(claimed, submitCommand({ ...credit, ledgerId: 'ledger-1' }))).toBe('stepped accepted')
    expect(ask(claimed, rotateCommand())).toBe('answered wrong_ledger')
  })

  test('is refused with more assets than an account may have', () => {
    expect(ask(ABSENT, hold({ ...ARRIVING, nfts: 9_998 }))).toBe('stepped held')
    expect(ask(ABSENT, hold({ ...ARRIVING, nfts: 9_999 }))).toBe('answered asset_limit')
  })
})

describe('an order signed for the exporting ledger', () => {
  const taken = walked(hold(), take())
  const credit = submitCommand({ type: 'credit', amount: '1', tokenId: BASE_UNIT, ledgerId: SIGNED.ledgerId })
  const rotation = rotateCommand({ ledgerId: SIGNED.ledgerId })

  test('is not applied here', () => {
    expect(ask(taken, credit, { ...SIGNED, usedElsewhere: true })).toBe('answered key_used_elsewhere')
    expect(ask(taken, rotation, { ...SIGNED, usedElsewhere: true })).toBe('answered key_used_elsewhere')
    expect(ask(taken, credit, { ...SIGNED, usedElsewhere: false })).toBe('stepped accepted')
  })

  test('is not applied before its key was looked up', () => {
    expect(ask(taken, credit, { ...SIGNED, usedElsewhere: undefined })).toBe('stale_look_up stale_look_up')
  })

  test('is not taken for meant for this one unless it says so, whatever its key', () => {
    const evidence = { ...SIGNED, usedElsewhere: false }
    const silent = submitCommand({ type: 'credit', amount: '1', tokenId: BASE_UNIT })
    expect(ask(taken, silent, evidence)).toBe('answered wrong_ledger')
    expect(ask(taken, rotateCommand(), evidence)).toBe('answered wrong_ledger')
    expect(ask(taken, rotateCommand({ ledgerId: 'there' }), evidence)).toBe('answered wrong_ledger')
    expect(ask(taken, rotateCommand({ ledgerId: SIGNED.ledgerId }), evidence)).toBe('stepped rotated')
    expect(ask(walked(registerCommand()), rotateCommand({ ledgerId: 'there' }))).toBe('answered wrong_ledger')
  })

  test('is distinguished from what another key signed', () => {
    const evidence = { ...SIGNED, usedElsewhere: true, verdict: () => false }
    expect(ask(taken, credit, evidence)).toBe('answered signature_mismatch')
  })

  test('is noted under hashes, each once', () => {
    const hashes = ['one', 'two', 'one'].map((idempotencyKey) =>
      usedKeyHash(KEY_SALT, ACCOUNT, { operation: 'transaction', idempotencyKey }),
    )
    const noted = walked(hold(), note(0, hashes))
    const recorded = noted.effects.flatMap((effect) => (effect.kind === 'operation_recorded' ? [effect.operation] : []))
    expect(recorded.map(({ operation, idempotencyKey }) => [operation, idempotencyKey])).toEqual([
      ['elsewhere', hashes[0]],
      ['elsewhere', hashes[1]],
    ])
  })

  test('hashes to something else for another salt, account, operation or key', () => {
    const one = usedKeyHash(KEY_SALT, ACCOUNT, { operation: 'transaction', idempotencyKey: 'k' })
    expect(one).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const others = [
      usedKeyHash('1'.repeat(32), ACCOUNT, { operation: 'transaction', idempotencyKey: 'k' }),
      usedKeyHash(KEY_SALT, 'bob', { operation: 'transaction', idempotencyKey: 'k' }),
      usedKeyHash(KEY_SALT, ACCOUNT, { operation: 'mint', idempotencyKey: 'k' }),
      usedKeyHash(KEY_SALT, ACCOUNT, { operation: 'transaction', idempotencyKey: 'l' }),
    ]
    expect(new Set([one, ...others]).size).toBe(5)
  })
})

describe('its chain', () => {
  const { account, effects } = walked(hold(), take())
  const entries = effects.flatMap((effect) => (effect.kind === 'entry_appended' ? [effect.entry] : []))
  const { key, status, incoming, sequence, tip, balances, holds } = accountOf({ account })
  const head: AccountHead = {
    sequence,
    tip,
    lastEntry: sequence,
    facts: {
      keyId: key?.keyId ?? null,
      publicKey: key?.publicKey ?? null,
      status,
      incoming,
      arrival: arrivalFact(FROM),
    },
    balances: [...balances].map(([tokenId, { balance, reserved, incoming: coming }]) => ({
      tokenId,
      balance: formatQuantity(balance),
      reserved: formatQuantity(reserved),
      incoming: formatQuantity(coming),
    })),
    holds: [...holds.values()],
  }
  const problemsOf = (end: AccountHead): readonly unknown[] => {
    const walk = new ChainWalk(ACCOUNT)
    const found = entries.map((entry) => walk.take(entry))
    return [...found.filter((finding) => finding !== undefined), ...walk.finish(end)]
  }

  test('records the imported contents', () => {
    expect(problemsOf(head)).toEqual([])
  })

  test('does not let more, less or another key be there than it says', () => {
    const changed = head.balances.map((parts) => ({ ...parts, balance: '12.6' }))
    expect(problemsOf({ ...head, balances: changed })).toHaveLength(2)
    expect(problemsOf({ ...head, balances: head.balances.slice(1) })).toHaveLength(1)
    expect(problemsOf({ ...head, facts: { ...head.facts, keyId: 'another' } })).toHaveLength(1)
    expect(problemsOf({ ...head, facts: { ...head.facts, status: 'frozen' } })).toHaveLength(1)
    expect(problemsOf({ ...head, facts: { ...head.facts, arrival: undefined } })).toHaveLength(1)
    expect(problemsOf({ ...head, facts: { ...head.facts, arrival: arrivalFact(LATER) } })).toHaveLength(1)
  })
})
