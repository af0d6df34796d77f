/** A symbol names one token, whose issuer has consented; the supply is issued plus minted less burned (T1, T2, P3). */
import { beforeEach, describe, expect, test } from 'vitest'
import { accountAddress, tokenAddress } from '../../../../actors/address.ts'
import type { TokenState } from '../../../../actors/token/state.ts'
import { tokenActor } from '../../../../actors/token/machine.ts'
import { MAX_HELD_LEGS } from '../../../../actors/token/supply.ts'
import { ADMIN, codeOf, free, GROUP, STRANGER, World } from '../../../model/mini-clients.ts'
import { registerCommand, registerTokenCommand } from '../../../support/accounts.ts'

const FULL = '999999999999999999'

let ledger: World

beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob')
})

describe('the registration of a token', () => {
  test('credits the supply to the issuer as a mint of the ledger, then replies', () => {
    const answer = ledger.issue({ issuer: 'ann', totalSupply: '1000.50' })
    expect(answer).toMatchObject({
      kind: 'token_registered',
      token: { tokenId: 'GOLD', decimals: 2, issuer: 'ann', totalSupply: '1000.5' },
      replayed: false,
    })
    expect(ledger.balance('ann', 'GOLD')).toEqual(free('1000.5'))
    expect([...ledger.transactions.values()]).toMatchObject([
      { accountId: 'ann', type: 'mint', amount: '1000.50', tokenId: 'GOLD', origin: 'ledger', status: 'completed' },
    ])
  })

  test('with a supply of zero credits no account', () => {
    expect(ledger.issue({ issuer: 'ann', totalSupply: '0' })).toMatchObject({ kind: 'token_registered' })
    expect(ledger.transactions.size).toBe(0)
    expect(ledger.account('ann').balances.size).toBe(0)
    expect(ledger.supply('GOLD')).toBe('0')
  })

  test('is not readable before its issuer consents', () => {
    ledger.ask(tokenAddress('GOLD'), registerTokenCommand({ issuer: 'ann' }))
    expect(codeOf(ledger.submission({ accountId: 'bob', tokenId: 'GOLD' }))).toBe('token_not_found')
    ledger.drain()
    expect(codeOf(ledger.submission({ accountId: 'bob', tokenId: 'GOLD' }))).toBe(undefined)
    expect(codeOf(ledger.submission({ accountId: 'bob', tokenId: 'gold' }))).toBe('token_not_found')
  })

  test('of the base unit’s symbol is refused in any case', () => {
    expect(codeOf(ledger.issue({ tokenId: 'base', issuer: 'ann' }))).toBe('token_exists')
  })

  test('is refused if the issuer refuses incoming value, and the symbol stays free', () => {
    ledger.change('ann', { incoming: 'refuse' })
    expect(codeOf(ledger.issue({ issuer: 'ann', totalSupply: '1' }))).toBe('account_refuses')
    expect(ledger.token('GOLD')).toBe(undefined)
    expect(ledger.issue({ issuer: 'bob', caller: STRANGER })).toMatchObject({ kind: 'token_registered' })
  })

  test('reserves room for its supply from the consent of its issuer', () => {
    ledger.ask(tokenAddress('GOLD'), registerTokenCommand({ issuer: 'ann', totalSupply: FULL }))
    ledger.deliver()
    expect(codeOf(ledger.change('ann', { status: 'closed' }))).toBe('account_not_empty')
    ledger.deliver()
    const inTheWay = ledger.submit({ accountId: 'ann', amount: '1', tokenId: 'GOLD' })
    expect(ledger.transaction(inTheWay).failure?.code).toBe('balance_limit')
    ledger.drain()
    expect(ledger.balance('ann', 'GOLD')).toEqual(free(FULL))
  })
})

describe('an unknown issuer', () => {
  beforeEach(() => void ledger.issue({ issuer: 'new', totalSupply: '7' }))

  test('is created without a key: it receives value and cannot submit orders', () => {
    expect(ledger.account('new')).toMatchObject({ key: null, status: 'active', registeredBy: 'client-1', version: 2 })
    expect(ledger.balance('new', 'GOLD')).toEqual(free('7'))
    expect(codeOf(ledger.submission({ accountId: 'new', type: 'debit', tokenId: 'GOLD' }))).toBe('account_keyless')
    ledger.fund('bob', '5')
    expect(ledger.settled({ accountId: 'bob', type: 'transfer', toAccountId: 'new', amount: '5' }).status).toBe(
      'completed',
    )
  })

  test.for([
    ['the client that brought it into being', registerCommand().caller],
    ['an administrator', ADMIN],
  ] as const)('gets its key from %s, once, and keeps what it has', ([, caller]) => {
    const claimed = ledger.ask(accountAddress('new'), registerCommand({ accountId: 'new', caller }))
    expect(claimed).toMatchObject({ kind: 'registered', created: true, account: { sequence: 2 } })
    const debit = ledger.settled({ accountId: 'new', type: 'debit', tokenId: 'GOLD', amount: '3' })
    expect(debit.status).toBe('completed')
    expect(ledger.balance('new', 'GOLD')).toEqual(free('4'))
    const other = registerCommand({ accountId: 'new', caller, key: { keyId: 'key-3', publicKey: 'public-3' } })
    expect(ledger.ask(accountAddress('new'), other)).toMatchObject({ code: 'public_key_conflict' })
  })

  test('gets no key from another client', () => {
    const command = registerCommand({ accountId: 'new', caller: STRANGER })
    expect(ledger.ask(accountAddress('new'), command)).toMatchObject({ code: 'public_key_conflict' })
    expect(ledger.account('new').key).toBe(null)
  })
})

describe('mint and burn', () => {
  const MINT = { accountId: 'ann', type: 'mint', tokenId: 'GOLD', amount: '5' } as const
  const BURN = { ...MINT, type: 'burn' } as const

  beforeEach(() => void ledger.issue({ issuer: 'ann', totalSupply: '10' }))

  test('wait for the token, and change the balance and the supply by the same amount', () => {
    const txnId = ledger.submit(MINT)
    expect(ledger.transaction(txnId).status).toBe('pending')
    expect(ledger.balance('ann', 'GOLD')).toEqual(free('10'))
    ledger.drain()
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'completed', origin: 'client' })
    expect([ledger.balance('ann', 'GOLD'), ledger.supply('GOLD')]).toEqual([free('15'), '15'])
    const burn = ledger.submit(BURN)
    expect(ledger.balance('ann', 'GOLD')).toEqual({ balance: '15', available: '10', incoming: '0' })
    ledger.drain()
    expect(ledger.transaction(burn).status).toBe('completed')
    expect([ledger.balance('ann', 'GOLD'), ledger.supply('GOLD')]).toEqual([free('10'), '10'])
  })

  test('any owner burns its own tokens; only the issuer mints', () => {
    ledger.settled({ accountId: 'ann', type: 'transfer', toAccountId: 'bob', amount: '4', tokenId: 'GOLD' })
    expect(codeOf(ledger.submission({ ...MINT, accountId: 'bob' }))).toBe('not_issuer')
    expect(ledger.settled({ ...BURN, accountId: 'bob', amount: '1.5' }).status).toBe('completed')
    expect([ledger.balance('bob', 'GOLD'), ledger.supply('GOLD')]).toEqual([free('2.5'), '8.5'])
  })

  test('a mint beyond a supply of 18 integer digits fails at the token and frees its room', () => {
    ledger.submit({ accountId: 'ann', type: 'transfer', toAccountId: 'bob', amount: '10', tokenId: 'GOLD' })
    ledger.drain()
    const tooMuch = ledger.settled({ ...MINT, amount: '999999999999999990' })
    expect(tooMuch).toMatchObject({ status: 'failed', failure: { code: 'supply_limit' } })
    expect(ledger.settled({ ...MINT, amount: '999999999999999989.99' }).status).toBe('completed')
    expect(ledger.supply('GOLD')).toBe('999999999999999999.99')
  })

  test('a burn beyond the supply fails at the token, even if an external account credited the value', () => {
    ledger.fund('bob', '100', 'GOLD')
    const burn = ledger.settled({ ...BURN, accountId: 'bob', amount: '10.01' })
    expect(burn).toMatchObject({ status: 'failed', failure: { code: 'supply_underflow' } })
    expect(ledger.balance('bob', 'GOLD')).toEqual(free('100'))
    expect(ledger.settled({ ...BURN, accountId: 'bob', amount: '10' }).status).toBe('completed')
    expect(ledger.supply('GOLD')).toBe('0')
  })

  test('a burn beyond the available balance fails at the account', () => {
    const burn = ledger.submit({ ...BURN, amount: '10.01' })
    expect(ledger.transaction(burn).failure?.code).toBe('insufficient_funds')
    expect(ledger.undelivered()).toEqual([])
  })

  test('a mint without room at its account fails at the account', () => {
    const full = ledger.settled({ accountId: 'ann', tokenId: 'GOLD', amount: '999999999999999980' })
    expect(full.status).toBe('completed')
    expect(ledger.settled({ ...MINT, amount: '10' }).failure?.code).toBe('balance_limit')
  })
})

describe('supply on hold for legs of open groups', () => {
  test(`is limited to ${MAX_HELD_LEGS} legs of one client; one more is refused, and one of another client is not`, () => {
    ledger.issue({ issuer: 'ann', totalSupply: '10' })
    const token = ledger.states.get('token gold') as TokenState
    const full = Object.fromEntries(
      Array.from({ length: MAX_HELD_LEGS }, (_, leg) => [
        `group ${leg}`,
        { change: 'burn', amount: '0.01', clientId: 'full' } as const,
      ]),
    )
    const repliesTo = (state: TokenState, clientId: string, amount = '1') => {
      const name = { groupId: GROUP, leg: 0, role: 'supply' } as const
      const stamp = { atMs: token.lastTimeMs, salt: '', newTxnId: '' }
      const step = tokenActor.step(
        state.id,
        state,
        { type: 'hold_supply', ...name, change: 'burn', amount, clientId, ...stamp },
        undefined,
      )
      if (step.kind !== 'stepped') throw new Error('a message is consumed')
      const [effect] = step.effects
      const message = effect?.kind === 'message_sent' ? effect.envelope.message : undefined
      const code = message?.type === 'leg_failed' ? message.failure.code : message?.type
      return [code, Object.keys(step.state?.held ?? {}).length]
    }
    expect(repliesTo(token, 'full')).toEqual(['leg_completed', 1])
    expect(repliesTo({ ...token, held: full }, 'full')).toEqual(['leg_limit', MAX_HELD_LEGS])
    expect(repliesTo({ ...token, held: full }, 'other')).toEqual(['leg_completed', MAX_HELD_LEGS + 1])
    expect(repliesTo({ ...token, held: full }, 'other', '9.5')).toEqual(['supply_underflow', MAX_HELD_LEGS])
  })
})
