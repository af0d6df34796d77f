/**
 * An account that comes from another ledger.
 *   V1. While it is held nothing of it counts: it has no key, no value and no NFT of it, and room is kept for all of them.
 *   V2. It is taken once, in one entry, with all that it brings; that cannot be refused.
 *   V3. What its keys did where it comes from is known before anything can be signed with them here; and what they sign
 *       from then on says which ledger it is for.
 */
import type { ArrivingAccount } from '../arrival.ts'
import { arrivalAnswer, isSameArrival, isSameRecord, NOT_HELD } from '../arrival.ts'
import { parseQuantity } from '../money.ts'
import { invariant } from '../result.ts'
import type {
  AccountArrivalCommand,
  MintCommand,
  NoteUsedKeysCommand,
  RotateKeyCommand,
  SubmitCommand,
} from './commands.ts'
import { declineLegs } from './legs.ts'
import { type Answer, type Effect, refusal } from './outcome.ts'
import { enterFact, inOneWrite, openAccount } from './postings.ts'
import {
  type AccountData,
  type AccountStatus,
  ARRIVAL_HOLD_ID,
  type ArrivalHold,
  holdsNothing,
  isBare,
  isUnclaimed,
  unclaimed,
} from './state.ts'
import { MAX_ASSETS, type AccountChange, Turn } from './turn.ts'

type Named<Type extends AccountArrivalCommand['type']> = Extract<AccountArrivalCommand, { readonly type: Type }>

export type HoldAccount = Named<'hold_arrival'>

export function arrivalHoldOf(account: AccountData | null): ArrivalHold | undefined {
  const hold = account?.holds.get(ARRIVAL_HOLD_ID)
  return hold?.kind === 'arrival' ? hold : undefined
}

/** Whether it comes as a closed account. One that was given something meanwhile cannot be closed. */
export function arrivesClosed(account: AccountData): boolean {
  return arrivalHoldOf(account)?.account.status === 'closed' && isOtherwiseEmpty(account)
}

/** Whether it comes as a frozen account: as one, or as a closed one that cannot be closed here. */
export function arrivesFrozen(account: AccountData): boolean {
  const status = arrivalHoldOf(account)?.account.status
  return status === 'frozen' || (status === 'closed' && !isOtherwiseEmpty(account))
}

/** Beside what is held: for what brings nothing no room is kept. */
function isOtherwiseEmpty(account: AccountData): boolean {
  return holdsNothing(account, { hold: ({ kind }) => kind === 'arrival' })
}

/** Whether it came in this import, with what it had. */
export function hasArrived(account: AccountData | null, importId: string): boolean {
  const arrived = account?.arrived
  return arrived !== undefined && arrived.keySalt !== null && arrived.importId === importId
}

/** Whether the account only stands for an issuer of whom nothing else has come. */
function standsForIssuer({ key, arrived }: AccountData): boolean {
  return key === null && arrived !== undefined && arrived.keySalt === null
}

/** Whether no import that is dropped can make it nobody's any more, as it must not once it is an issuer. */
function isKnownIssuer({ issues, key, sequence }: AccountData): boolean {
  return issues === true || key !== null || sequence > 0
}

/** The reply of an open account that changes nothing; undefined lets the transitions decide. */
export function judgeArrival(
  account: AccountData | null,
  command: AccountArrivalCommand | NoteUsedKeysCommand,
): Answer | undefined {
  if (command.type === 'hold_arrival') return judgeHold(account, command)
  const hold = arrivalHoldOf(account)
  const isHeld = hold?.from.importId === command.importId
  if (command.type === 'drop_arrival') return isHeld ? undefined : arrivalAnswer(command)
  if (!isHeld) {
    if (hasArrived(account, command.importId)) return arrivalAnswer(command)
    return refusal(NOT_HELD.code, NOT_HELD.detail, NOT_HELD.field)
  }
  if (command.type === 'take_arrival' || command.part === hold.keyParts) return undefined
  if (command.part < hold.keyParts) return arrivalAnswer(command)
  return refusal('arrival_out_of_order', `Part ${hold.keyParts} must come first.`, 'part')
}

function judgeHold(account: AccountData | null, command: HoldAccount): Answer | undefined {
  const { from, arrival } = command
  const assets = arrival === null ? 0 : Object.keys(arrival.balances).length + arrival.nfts
  if (arrival?.status === 'closed' && assets > 0) {
    return refusal('arrival_not_empty', 'A closed account must have no balances or NFTs.')
  }
  if (assets > MAX_ASSETS) {
    return refusal('asset_limit', 'It brings more assets than an account may hold.', 'balances')
  }
  if (account === null || isUnclaimed(account)) return undefined
  // Another account of the issuer's ID could mint the issuer's token.
  if (arrival === null && account.arrived?.ledgerId !== from.ledgerId) return exists()
  if (arrival === null) return isKnownIssuer(account) ? heldAnswer(command) : undefined
  const held = arrivalHoldOf(account)
  if (held !== undefined) return isSameArrival(held.from, from) ? heldAnswer(command) : exists()
  const { arrived } = account
  if (arrived !== undefined && arrived.keySalt !== null && isSameRecord(arrived, from)) {
    return { kind: 'arrival', state: 'present' }
  }
  const isOpenTo = standsForIssuer(account) && arrived?.ledgerId === from.ledgerId
  return isOpenTo ? lacking(new Turn(account, command), arrival) : exists()
}

/** Of one that is only to be there nothing is held. */
export function heldAnswer({ arrival }: HoldAccount): Answer {
  return { kind: 'arrival', state: arrival === null ? 'present' : 'held' }
}

export const EXISTS = {
  code: 'account_exists',
  detail: 'There is such an account already, as something else: an account is taken once.',
  field: 'account_id',
} as const

function exists(): Answer {
  return refusal(EXISTS.code, EXISTS.detail, EXISTS.field)
}

function lacking(turn: Turn, { balances, nfts }: ArrivingAccount): Answer | undefined {
  const { balances: held, nftCount, nftRoom } = turn.before
  const fresh = Object.keys(balances).filter((tokenId) => !held.has(tokenId)).length
  if (held.size + nftCount + nftRoom + fresh + nfts > MAX_ASSETS) {
    return refusal('asset_limit', 'The account has no room for what it brings.', 'balances')
  }
  for (const [tokenId, balance] of Object.entries(balances)) {
    const code = turn.lacksRoom(tokenId, parseQuantity(balance))
    if (code !== undefined) return refusal(code, 'The account has no room for what it brings.', 'balances')
  }
  return undefined
}

/** It comes into being without a key. */
export function openArriving(command: HoldAccount): AccountChange {
  const { accountId, shardId, caller } = command
  const opened = openAccount({ accountId, shardId, key: null, clientId: caller.clientId }, command)
  return inOneWrite(opened, holdArrival(opened.data, command))
}

/** V1. What was nobody's is the importing client's. */
export function holdArrival(account: AccountData, command: HoldAccount): AccountChange {
  const { from, arrival, caller } = command
  const turn = new Turn(account, command)
  const stand = {
    arrived: account.arrived ?? { ...from, recordHash: '', keySalt: null },
    registeredBy: account.registeredBy || caller.clientId,
  }
  const answer = heldAnswer(command)
  if (arrival === null) return { ...turn.done({ ...stand, issues: true }), answer }
  for (const [tokenId, amount] of Object.entries(arrival.balances)) turn.keepRoom({ tokenId, amount })
  if (arrival.nfts > 0) turn.changeNfts({ promised: arrival.nfts })
  turn.keep({ kind: 'arrival', from, account: arrival, keyParts: 0 })
  return { ...turn.done(stand), answer }
}

/** V3. */
export function noteUsedKeys(account: AccountData, command: NoteUsedKeysCommand): AccountChange {
  const hold = heldBy(account, command.importId)
  const turn = new Turn(account, command)
  for (const idempotencyKey of new Set(command.hashes)) turn.note(usedElsewhere(turn, idempotencyKey))
  turn.keep({ ...hold, keyParts: hold.keyParts + 1 })
  return { ...turn.done(), answer: arrivalAnswer(command) }
}

function usedElsewhere({ before: { accountId }, timeMs: atMs }: Turn, idempotencyKey: string): Effect {
  const answered = { operation: 'elsewhere', answer: null } as const
  return {
    kind: 'operation_recorded',
    operation: { accountId, idempotencyKey, payloadHash: '', keyId: '', atMs, ...answered },
    acceptedUnder: null,
  }
}

/** V2. An administrator that froze the account meanwhile, or had it refuse what comes in, had a reason. */
export function takeArrival(
  account: AccountData,
  command: Named<'take_arrival'>,
  { status }: { readonly status: AccountStatus },
): AccountChange {
  const hold = heldBy(account, command.importId)
  const { from, account: arrival } = hold
  const { key, keySalt } = arrival
  const incoming = account.incoming === 'refuse' ? 'refuse' : arrival.incoming
  const turn = new Turn(account, command)
  turn.letGo(hold)
  if (arrivesClosed(account)) declineLegs(turn, null)
  for (const [tokenId, balance] of Object.entries(arrival.balances)) {
    const quantity = parseQuantity(balance)
    turn.change(tokenId, { balance: quantity, room: -quantity })
    turn.note({ kind: 'boundary_crossed', tokenId, quantity })
  }
  turn.changeNfts({ owned: arrival.nfts, promised: -arrival.nfts })
  enterFact(turn, {
    kind: 'arrival',
    balances: arrival.balances,
    import_id: from.importId,
    incoming,
    key_id: key?.keyId ?? null,
    ledger_id: from.ledgerId,
    nfts: arrival.nfts,
    public_key: key?.publicKey ?? null,
    record_hash: from.recordHash,
    status,
    there: {
      audit_hash: arrival.tip,
      created_at: arrival.createdAt,
      txn_count: arrival.txnCount,
      updated_at: arrival.updatedAt,
    },
  })
  const { data, effects } = turn.done({ key, incoming, arrived: { ...from, keySalt } })
  const answer = arrivalAnswer(command)
  if (key === null) return { data, effects, answer }
  const { sequence: fromSequence, updatedAtMs: atMs } = data
  return { data, effects: [...effects, { kind: 'key_registered', key, fromSequence, atMs }], answer }
}

/**
 * It stays, without a key and without anything: for whoever comes first if this import brought it into being and it is
 * nothing but a name, else as what it was before.
 */
export function dropArrival(account: AccountData, command: Named<'drop_arrival'>): AccountChange {
  const hold = heldBy(account, command.importId)
  const turn = new Turn(account, command)
  turn.letGo(hold)
  for (const [tokenId, amount] of Object.entries(hold.account.balances)) turn.freeRoom({ tokenId, amount })
  turn.changeNfts({ promised: -hold.account.nfts })
  const { data: dropped, effects } = turn.done()
  const wasMade = dropped.arrived?.importId === command.importId
  const data = wasMade && isBare(dropped) ? unclaimed(dropped) : dropped
  return { data, effects, answer: arrivalAnswer(command) }
}

function heldBy(account: AccountData, importId: string): ArrivalHold {
  const hold = arrivalHoldOf(account)
  invariant(hold?.from.importId === importId, 'V2: what was not held is taken or dropped')
  return hold
}

/** V3: why what an account signed is not applied here; undefined where nothing speaks against it, `unlooked` where nobody knows. */
export function signedElsewhere(
  { arrived }: AccountData,
  command: SubmitCommand | RotateKeyCommand | MintCommand,
  usedElsewhere: boolean | undefined,
): Answer | 'unlooked' | undefined {
  if (arrived === undefined) return undefined
  // The same keys may go on signing for the ledger that it came from: only what names this one is meant for it.
  if (ledgerIdOf(command) === null) {
    return refusal('wrong_ledger', 'The account came from another ledger: ledger_id is required.', 'ledger_id')
  }
  if (arrived.keySalt === null) return undefined
  // It came after the command had been looked up.
  if (usedElsewhere === undefined) return 'unlooked'
  return usedElsewhere
    ? refusal('key_used_elsewhere', 'The key was used on the ledger that the account came from.', 'idempotency_key')
    : undefined
}

function ledgerIdOf(command: SubmitCommand | RotateKeyCommand | MintCommand): string | null {
  return command.type === 'submit' ? command.submission.ledgerId : command.ledgerId
}
