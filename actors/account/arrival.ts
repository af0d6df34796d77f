/**
 * Import of an account from another ledger (D20).
 *   V1. A staged account has no key, value or NFT yet; the account reserves room for all of them.
 *   V2. The import is applied once, as one chain entry, and cannot be refused.
 *   V3. The account records the keys used on the source ledger before it accepts any signature. From then on each
 *       signed command names its ledger.
 */
import type { ArrivingAccount } from '../arrival.ts'
import { arrivalAnswer, isSameArrival, isSameRecord, NOT_HELD } from '../arrival.ts'
import { parseQuantity } from '../money.ts'
import { invariant } from '../result.ts'
import type {
  AccountArrivalCommand,
  AccountCommandOf,
  CreateHoldCommand,
  MintCommand,
  NoteUsedKeysCommand,
  RotateKeyCommand,
  SubmitCommand,
} from './commands.ts'
import { declineLegs } from './legs.ts'
import { type Answer, type Effect, refusal } from './outcome.ts'
import { enterFact } from './record.ts'
import { inOneWrite, openAccount } from './postings.ts'
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

export type HoldAccount = AccountCommandOf<'hold_arrival'>

export function arrivalHoldOf(account: AccountData | null): ArrivalHold | undefined {
  const hold = account?.holds.get(ARRIVAL_HOLD_ID)
  return hold?.kind === 'arrival' ? hold : undefined
}

/** Whether the account is imported as closed. An account that received value meanwhile cannot be closed. */
export function arrivesClosed(account: AccountData): boolean {
  return arrivalHoldOf(account)?.account.status === 'closed' && isOtherwiseEmpty(account)
}

/** Whether the account is imported as frozen: also a closed account that cannot be closed here. */
export function arrivesFrozen(account: AccountData): boolean {
  const status = arrivalHoldOf(account)?.account.status
  return status === 'frozen' || (status === 'closed' && !isOtherwiseEmpty(account))
}

/** Ignores the staged import itself: an import without assets reserves no room. */
function isOtherwiseEmpty(account: AccountData): boolean {
  return holdsNothing(account, { hold: ({ kind }) => kind === 'arrival' })
}

/** Whether this import applied the account's record. */
export function hasArrived(account: AccountData | null, importId: string): boolean {
  const arrived = account?.arrived
  return arrived !== undefined && arrived.keySalt !== null && arrived.importId === importId
}

/** Whether the account exists only as an issuer, without an imported record. */
function standsForIssuer({ key, arrived }: AccountData): boolean {
  return key === null && arrived !== undefined && arrived.keySalt === null
}

/** Whether the account must stay claimed after a dropped import, because it issues assets. */
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
    return refusal('asset_limit', 'The imported account has more assets than an account may hold.', 'balances')
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

/** A mere issuer has no record to stage. */
export function heldAnswer({ arrival }: HoldAccount): Answer {
  return { kind: 'arrival', state: arrival === null ? 'present' : 'held' }
}

export const EXISTS = {
  code: 'account_exists',
  detail: 'The account already exists with other content: an account is imported once.',
  field: 'account_id',
} as const

function exists(): Answer {
  return refusal(EXISTS.code, EXISTS.detail, EXISTS.field)
}

function lacking(turn: Turn, { balances, nfts }: ArrivingAccount): Answer | undefined {
  const { balances: held, nftCount, nftRoom } = turn.before
  const fresh = Object.keys(balances).filter((tokenId) => !held.has(tokenId)).length
  if (held.size + nftCount + nftRoom + fresh + nfts > MAX_ASSETS) {
    return refusal('asset_limit', 'The account has no room for the imported assets.', 'balances')
  }
  for (const [tokenId, balance] of Object.entries(balances)) {
    const code = turn.lacksRoom(tokenId, parseQuantity(balance))
    if (code !== undefined) return refusal(code, 'The account has no room for the imported assets.', 'balances')
  }
  return undefined
}

/** Creates the account without a key. */
export function openArriving(command: HoldAccount): AccountChange {
  const { accountId, shardId, caller } = command
  const opened = openAccount({ accountId, shardId, key: null, clientId: caller.clientId }, command)
  return inOneWrite(opened, holdArrival(opened.data, command))
}

/** V1. An unclaimed account becomes the importing client's. */
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

/** V2. An administrator's freeze, or refusal of incoming value, in the meantime stays in force. */
export function takeArrival(
  account: AccountData,
  command: AccountCommandOf<'take_arrival'>,
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
 * Drops the staged import. The account stays, keyless. If this import created it and it is bare, it becomes unclaimed;
 * else it is as before.
 */
export function dropArrival(account: AccountData, command: AccountCommandOf<'drop_arrival'>): AccountChange {
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
  invariant(hold?.from.importId === importId, 'V2: the import to apply or drop is not staged')
  return hold
}

/** V3: the refusal of a signed command; undefined if none, `stale_look_up` if the key's use was not looked up. */
export function signedElsewhere(
  { arrived }: AccountData,
  command: SubmitCommand | RotateKeyCommand | MintCommand | CreateHoldCommand,
  usedElsewhere: boolean | undefined,
): Answer | 'stale_look_up' | undefined {
  if (arrived === undefined) return undefined
  // The same keys may go on signing for the source ledger: only a command that names this ledger is meant for it.
  if (ledgerIdOf(command) === null) {
    return refusal('wrong_ledger', 'The account came from another ledger: ledger_id is required.', 'ledger_id')
  }
  // A dry run uses no key.
  if (arrived.keySalt === null || command.type === 'dry_run') return undefined
  // The import was applied after the command's look-up.
  if (usedElsewhere === undefined) return 'stale_look_up'
  return usedElsewhere
    ? refusal('key_used_elsewhere', 'The key was used on the ledger that the account came from.', 'idempotency_key')
    : undefined
}

function ledgerIdOf(command: SubmitCommand | RotateKeyCommand | MintCommand | CreateHoldCommand): string | null {
  return 'submission' in command ? command.submission.ledgerId : command.ledgerId
}
