/**
 * Follows each account through the commits: checks its chain entry by entry (I6) and runs the model beside it, which
 * must reach every committed state (M1). Messages from other shards within the same commit have no position among the
 * account's entries, so the model gives bounds for them.
 */
import type { Message } from '../../../actors/message.ts'
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import type { ShardBatch, TransactionWrite } from '../../../runtime/ports/ledger-store.ts'
import { type FundsChecker, movedBy } from './funds.ts'
import type { Demand } from './messages.ts'
import type { PaymentHoldChecker } from './payment-holds.ts'
import {
  AccountPortage,
  audienceOf,
  holdingsAfterArrival,
  holdingsAfterDeparture,
  portageOf,
} from './accounts-portage.ts'
import { AccountHolds, HOLD_KINDS } from './accounts-holds.ts'
import { checkElsewhere } from './accounts-elsewhere.ts'
import { type Chained, type EntryFields, movements, ownsNfts, type Part } from './accounts-part.ts'
import { checkSettlement, demandSettlements } from './accounts-settlements.ts'
import type { ImportBook } from '../reference/imports.ts'
import { addressOf, chainHash, GENESIS } from '../../support/reference-encoding.ts'
import { assetOf, fieldsOf, isNftAsset, signedFields, unitsOf } from '../reference/fields.ts'
import {
  between,
  type BoundsOf,
  endsOf,
  exactly,
  holdingsAfter,
  isAtRest,
  isDecidedElsewhere,
  isEmpty,
  isSame,
} from '../reference/funds.ts'
import { AccountModel, type ModelFacts, type ModelSettings, type ModelState, useKey } from '../reference/model.ts'

export interface ReplaySettings extends ModelSettings {
  readonly imports: ImportBook
  /** The client's rotation or hold with this key and hash: the record contains nothing more. */
  readonly orderUnderKey: (
    operation: 'key_rotation' | 'hold',
    accountId: string,
    idempotencyKey: string,
    payloadHash: string,
  ) => { readonly payload: string; readonly signature: string } | undefined
}

export class AccountReplay {
  readonly accounts = new Map<string, AccountModel>()
  /** The time at which a status change took effect, by its reason: the workload gives each change a unique reason. */
  readonly statusReasons = new Map<string, number>()
  private readonly demand: Demand
  private readonly now: () => number
  private readonly settings: ReplaySettings
  private readonly facts: ModelFacts
  private readonly funds: FundsChecker
  private readonly paymentHolds: PaymentHoldChecker
  private readonly ofHolds: AccountHolds
  readonly portage: AccountPortage

  constructor(
    demand: Demand,
    now: () => number,
    settings: ReplaySettings,
    facts: ModelFacts,
    { funds, paymentHolds }: { readonly funds: FundsChecker; readonly paymentHolds: PaymentHoldChecker },
  ) {
    this.portage = new AccountPortage(demand, settings.imports, funds)
    this.demand = demand
    this.now = now
    this.settings = settings
    this.facts = facts
    this.funds = funds
    this.paymentHolds = paymentHolds
    this.ofHolds = new AccountHolds(demand, now, settings, { funds, paymentHolds })
  }

  account(shardId: number, accountId: string): AccountModel {
    const at = addressOf({ shardId, accountId })
    const known = this.accounts.get(at)
    if (known !== undefined) return known
    const model = new AccountModel(this.settings, this.facts)
    this.accounts.set(at, model)
    return model
  }

  /** `finished`: transactions of this account that were pending and are now final. */
  commit(
    accountId: string,
    batch: ShardBatch,
    heard: readonly Message[],
    finished: readonly TransactionRecord[],
  ): void {
    const { shardId } = batch.token
    const at = addressOf({ shardId, accountId })
    const model = this.account(shardId, accountId)
    const news = batch.transactions.filter(({ transaction }) => transaction.accountId === accountId)
    const part: Part = {
      at,
      accountId,
      model,
      batch,
      heard,
      before: model.latest()?.holdings ?? new Map(),
      after: this.funds.holdingsOf(at),
      news,
      ended: [...news.map(({ transaction }) => transaction), ...finished].filter(({ status }) => status !== 'pending'),
      decidedOn: new Map(),
      burnsInGroups: [...(model.latest()?.legs ?? []), ...this.funds.legsOf(at)].some(
        ({ terms }) => terms.type === 'burn',
      ),
      firstIndex: Math.max(0, model.states.length - 1),
      held: this.portage.heldBy(at),
      taken: [],
      arrived: new Map(),
      onHold: [],
    }
    this.middle(part)
    this.entries(part)
    this.last(part)
    this.portage.end(part)
    for (const ended of part.ended) {
      if (ended.status !== 'completed') continue
      this.funds.completed(at, ended)
      this.paymentHolds.completed(ended)
    }
    this.funds.check(at, part.after)
    this.judge(part)
    for (const { key, use } of this.ofHolds.recorded(part)) this.use(part, key, use)
    this.compare(part)
  }

  /** During the commit the account may have held value that it holds neither before nor after. */
  private middle({ model, at, batch, accountId }: Part): void {
    const before = model.latest()
    if (before === undefined) return
    const legs = this.funds.legsOf(at)
    const isMidway = stepsOf(batch, accountId) > 1
    const within = { ...before, fromMs: this.now(), occupied: 'perhaps', busy: 'perhaps', isMidway } as const
    // One step of the commit took a leg, and a later one changed the account.
    if (isMidway) model.states.push({ ...within, legs })
    model.states.push({ ...within, legs: [...before.legs, ...legs] })
  }

  private entries(part: Part): void {
    const { at, accountId, batch, model } = part
    const entries = batch.entries
      .filter((entry) => entry.accountId === accountId)
      .sort((left, right) => left.sequence - right.sequence)
    const values = new Map<string, bigint>()
    const first = model.latest()
    for (const entry of entries) {
      const before = model.latest()
      const fields = JSON.parse(entry.payload) as EntryFields
      const hash = chainHash(before?.tip ?? GENESIS, entry.payload)
      const follows = entry.sequence === (before?.sequence ?? -1) + 1
      this.demand(follows, `I6: ${at}: entry ${entry.sequence} after ${before?.sequence ?? 'none'}`)
      this.demand(entry.auditHash === hash, `I6: ${at}: entry ${entry.sequence} does not continue the chain`)
      this.demand(fields['sequence'] === entry.sequence, `I6: ${at}: entry ${entry.sequence} says another number`)
      const chained = { fromMs: this.now(), sequence: entry.sequence, tip: entry.auditHash }
      this.demand(before?.status !== 'erased', `A3: ${at}: was erased, and has entry ${entry.sequence}`)
      if (before === undefined) this.opens(part, fields, chained)
      else if (fields['kind'] === 'transaction')
        this.completes(part, before, entry.txnId ?? '', fields, chained, values)
      else if (fields['kind'] === 'status_change') this.changesStatus(part, before, fields, chained)
      else if (fields['kind'] === 'arrival') this.portage.arrives(part, before, fields, chained, values)
      else if (fields['kind'] === 'pause') model.states.push({ ...before, ...chained, paused: true })
      else if (fields['kind'] === 'resumption') model.states.push({ ...before, ...chained, paused: false })
      else if (fields['kind'] === 'settlement') {
        checkSettlement(
          this.demand,
          part,
          fields,
          values.get(String(fields['token_id'])) ?? this.funds.valueOf(at, String(fields['token_id'])),
        )
        model.states.push({ ...before, ...chained, occupied: 'perhaps' })
      } else if (HOLD_KINDS.has(fields['kind'])) this.ofHolds.entered(part, before, fields, chained, values)
      else if (fields['kind'] === 'erasure') this.portage.isErased(part, before, fields, chained)
      else this.getsKey(part, before, fields, chained)
    }
    demandSettlements(this.demand, part, first?.legs ?? [], entries)
  }

  private opens({ model, batch, accountId }: Part, fields: EntryFields, chained: Chained): void {
    const write = batch.accounts.find(({ account }) => account.accountId === accountId)
    this.demand(write?.previousVersion === 0, `I3: ${accountId} is opened twice`)
    this.registrations(model, batch, accountId)
    const key = { publicKey: String(fields['public_key'] ?? ''), keyId: String(fields['key_id'] ?? '') }
    const empty = { holdings: new Map(), legs: [], occupied: 'no', busy: 'no' } as const
    const registeredBy = write?.account.registeredBy ?? ''
    const isMidway = stepsOf(batch, accountId) > 1
    const nowhere = { held: null, origin: null, moved: null, registeredBy, isMidway } as const
    model.states.push({ ...chained, ...key, ...empty, ...nowhere, status: 'active', incoming: 'accept', paused: false })
  }

  private registrations(model: AccountModel, batch: ShardBatch, accountId: string): void {
    for (const recorded of batch.operations) {
      if (recorded.accountId !== accountId || recorded.operation !== 'registration') continue
      model.registrations.note(recorded.idempotencyKey, recorded.answer.key?.publicKey ?? '')
    }
  }

  private completes(
    part: Part,
    before: ModelState,
    txnId: string,
    fields: EntryFields,
    chained: Chained,
    values: Map<string, bigint>,
  ): void {
    const { at, ended, model, decidedOn } = part
    const transaction = ended.find((one) => one.txnId === txnId)
    if (transaction?.status !== 'completed') {
      this.demand(false, `I7: ${at}: entry ${chained.sequence} has no transaction`)
      return
    }
    this.demand(
      transaction.sequence === chained.sequence && transaction.auditHash === chained.tip,
      `I7: ${at}: ${txnId} does not name its entry`,
    )
    const same =
      fields['amount'] === transaction.amount &&
      assetOf(fields) === transaction.tokenId &&
      fields['type'] === transaction.type &&
      fields['group_id'] === transaction.groupId
    this.demand(same, `I6: ${at}: entry ${chained.sequence} is another transaction than ${txnId}`)
    this.shown(part, transaction, fields, values)
    this.portage.departures.left(at, transaction, before.status, fields['balance_after'])
    decidedOn.set(txnId, model.states.length - 1)
    model.states.push({ ...before, ...chained, occupied: 'perhaps' })
  }

  /** The balance that an entry shows. It still contains value that open groups burn; that case is skipped. */
  private shown(
    { at, burnsInGroups }: Part,
    transaction: TransactionRecord,
    fields: EntryFields,
    values: Map<string, bigint>,
  ): void {
    const { tokenId, receive } = transaction
    const add = (asset: string, units: bigint): void => {
      values.set(asset, (values.get(asset) ?? this.funds.valueOf(at, asset)) + units)
    }
    if (!isNftAsset(tokenId)) add(tokenId, movedBy(transaction))
    if (receive !== null && !isNftAsset(receive.tokenId)) add(receive.tokenId, unitsOf(receive.amount))
    if (burnsInGroups || isNftAsset(tokenId)) return
    const balance = unitsOf(String(fields['balance_after'])) + unitsOf(String(fields['incoming'] ?? '0'))
    this.demand(balance === values.get(tokenId), `I4: ${at}: the entry of ${transaction.txnId} shows another balance`)
  }

  /** A rotation, or the first key of a keyless account. */
  private getsKey(part: Part, before: ModelState, fields: EntryFields, chained: Chained): void {
    const { at, accountId, batch, model, held } = part
    const key = { publicKey: String(fields['public_key']), keyId: String(fields['key_id']) }
    if (fields['kind'] === 'key_registration') {
      this.demand(before.keyId === '', `M1: ${at}: got a first key, and had one`)
      this.demand(before.held === null || held.after === undefined, `A1: ${at}: got a key, and is on its way`)
      this.demand(before.status !== 'closed', `M1: ${at}: got a first key when it was closed`)
      this.registrations(model, batch, accountId)
      model.states.push({ ...before, ...chained, ...key })
      return
    }
    const recorded = batch.operations.find(
      ({ accountId: owner, operation, answer }) =>
        owner === accountId &&
        operation === 'key_rotation' &&
        'auditHash' in answer &&
        answer.auditHash === chained.tip,
    )
    this.demand(recorded !== undefined, `I3: ${at}: the rotation ${chained.sequence} is not recorded under its key`)
    this.demand(before.status === 'active', `M1: ${at}: rotated while ${before.status}`)
    this.demand(recorded?.keyId === before.keyId, `M1: ${at}: rotated under a key that was not in force`)
    model.states.push({ ...before, ...chained, ...key })
    if (recorded === undefined) return
    const ordered = this.settings.orderUnderKey(
      'key_rotation',
      accountId,
      recorded.idempotencyKey,
      recorded.payloadHash,
    )
    this.demand(ordered !== undefined, `I3: ${at}: no client ordered the rotation ${chained.sequence}`)
    if (ordered === undefined) return
    const from = { from: model.states.length - 1, fromMs: chained.fromMs }
    const use = { ...from, ...ordered, publicKey: before.publicKey, receipt: null }
    this.use(part, useKey('key_rotation', recorded.idempotencyKey), use)
  }

  private changesStatus(
    { model, after, at, batch, accountId }: Part,
    before: ModelState,
    fields: EntryFields,
    chained: Chained,
  ): void {
    const status = fields['status'] as ModelState['status']
    this.statusReasons.set(String(fields['reason']), chained.fromMs)
    this.demand(before.status !== 'closed', 'M1: a closed account changed its status')
    const audience = /^moved to (.*)$/.exec(String(fields['reason']))?.[1]
    if (audience !== undefined) this.portage.departures.closes(at, accountId, before, audience)
    const binding = this.funds.bindingOf(at, before.registeredBy)
    const empty = isEmpty(after) && binding.length === 0 && !ownsNfts(batch, accountId)
    this.demand(status !== 'closed' || empty, `M1: ${at}: was closed, and holds something`)
    model.states.push({ ...before, ...chained, status, incoming: fields['incoming'] as ModelState['incoming'] })
  }

  /** Adds the account's state after the commit. */
  private last({ model, at, after, batch, accountId, held }: Part): void {
    const before = model.latest()
    if (before === undefined) return
    const isFree = this.funds.bindingOf(at, before.registeredBy).length === 0 && !ownsNfts(batch, accountId)
    const occupied = isEmpty(after) && isFree ? 'no' : 'yes'
    const busy = isFree && isAtRest(after) ? 'no' : 'yes'
    const isClosed = before.status === 'closed' || before.status === 'erased'
    this.demand(!isClosed || occupied === 'no', `M1: ${at}: is ${before.status}, and holds something`)
    const account = batch.accounts.find((write) => write.account.accountId === accountId)?.account
    const now = { fromMs: this.now(), holdings: after, legs: this.funds.legsOf(at), ...portageOf(account, held.after) }
    model.states.push({ ...before, ...now, occupied, busy, isMidway: false })
  }

  /** M1: checks the clients' submissions in the order of their steps. */
  private judge(part: Part): void {
    const { heard, before, after, news, at, held, arrived, onHold } = part
    // A hold has no place among the submissions of its commit.
    const exact = heard.length === 0 && onHold.length === 0
    const bounds = between(before, after, movements(part))
    let running = holdingsAfterArrival(before, held, arrived)
    for (const { transaction } of news) {
      if (audienceOf(transaction) !== undefined) running = holdingsAfterDeparture(running, transaction)
      if (transaction.origin !== 'client') continue
      if (transaction.type === 'mint' && isNftAsset(transaction.tokenId)) {
        this.minted(part, transaction)
        continue
      }
      const fields = fieldsOf(transaction)
      this.submission(part, transaction, exact ? exactly(running) : bounds)
      if (transaction.status !== 'failed') running = holdingsAfter(running, fields)
    }
    const same = !exact || isSame(running, after)
    this.demand(same, `M1: ${at}: its holdings differ from the model's`)
  }

  /**
   * M1: the class belongs to this account, and the key in force signed the mint. The instances are checked at their own
   * homes.
   */
  private minted(part: Part, transaction: TransactionWrite['transaction']): void {
    const { at, accountId, batch, model } = part
    const { txnId, tokenId, payload, signature, keyId } = transaction
    const { idempotencyKey, tokenId: ordered } = signedFields(payload)
    const nftClass = this.facts.nftClass(tokenId.slice(0, tokenId.indexOf('/')))
    this.demand(nftClass?.issuer === accountId && ordered === tokenId, `M1: ${at}: ${txnId} mints for a stranger`)
    const recorded = batch.operations.find(
      (one) => one.accountId === accountId && one.operation === 'mint' && one.idempotencyKey === idempotencyKey,
    )
    this.demand(recorded !== undefined, `I3: ${at}: the mint ${txnId} is not recorded under its key`)
    const signer = model.states.find((state) => state.keyId === keyId)?.publicKey ?? ''
    const signed = this.settings.verifies(signer, payload, signature)
    this.demand(signed, `M1: ${at}: ${txnId} is not signed by the key it was accepted under`)
    const from = { from: model.states.length - 1, fromMs: this.now() }
    const use = { ...from, payload, signature, publicKey: signer, receipt: null, mintTxnId: txnId }
    this.use(part, useKey('mint', idempotencyKey), use)
  }

  private submission(part: Part, transaction: TransactionWrite['transaction'], bounds: BoundsOf): void {
    const { at, model, firstIndex, decidedOn } = part
    const { txnId, status, failure, payload, signature } = transaction
    const fields = fieldsOf(transaction)
    const decided = decidedOn.get(txnId)
    const candidates = decided === undefined ? model.states.slice(firstIndex) : model.states.slice(decided, decided + 1)
    const ends = candidates.map((state) => [...endsOf(state, fields, bounds)])
    const index = candidates.findIndex(
      (state, place) => state.keyId === transaction.keyId && ends[place]?.includes(failure?.code ?? null) === true,
    )
    const outcome = `${txnId} (${fields.type} of ${fields.amount} ${fields.tokenId}) is ${status} ${failure?.code ?? ''}`
    this.demand(index >= 0, `M1: ${at}: ${outcome}, the model allows ${ends.map((all) => all.join(' or ')).join(', ')}`)
    const waits = status === 'pending'
    const final = status === 'failed' || waits === isDecidedElsewhere(fields)
    this.demand(final, `M1: ${at}: ${outcome}`)
    const { publicKey } = candidates[Math.max(0, index)] ?? { publicKey: '' }
    const signed = this.settings.verifies(publicKey, payload, signature)
    this.demand(signed, `M1: ${at}: ${txnId} is not signed by the key it was accepted under`)
    this.demand(fields.idempotencyKey === transaction.idempotencyKey, `I3: ${at}: another key than was signed`)
    checkElsewhere(this.demand, this.facts, part, transaction)
    this.noteUse(part, transaction, publicKey)
  }

  private noteUse(part: Part, transaction: TransactionWrite['transaction'], publicKey: string): void {
    const { model } = part
    const { txnId, accountId, shardId, createdAtMs, groupId, payload, signature, type, tokenId } = transaction
    const from = model.states.length - 1
    if (groupId !== null) model.grouped.push({ from: part.firstIndex, surelyFrom: from, groupId, type, tokenId })
    this.use(part, useKey('transaction', transaction.idempotencyKey), {
      from,
      fromMs: this.now(),
      payload,
      signature,
      publicKey,
      receipt: { txnId, accountId, shardId, enqueuedAtMs: createdAtMs, groupId },
    })
  }

  private use(
    { model, at, accountId }: Part,
    key: string,
    use: AccountModel['uses'] extends Map<string, infer Use> ? Use : never,
  ) {
    this.demand(!model.uses.has(key), `I3: ${at}: ${key} took effect twice`)
    const { origin } = model.latest() ?? { origin: null }
    const isUsed = origin !== null && origin.whole && this.facts.usedThere(origin.importId, accountId).has(key)
    this.demand(!isUsed, `A2: ${at}: ${key} was used elsewhere, and has an effect here`)
    model.uses.set(key, use)
  }

  private compare({ at, accountId, batch, model }: Part): void {
    const state = model.latest()
    const account = batch.accounts.find((write) => write.account.accountId === accountId)?.account
    const same =
      account !== undefined &&
      state?.tip === account.tip &&
      state.sequence === account.sequence &&
      state.status === account.status &&
      state.incoming === account.incoming &&
      state.keyId === (account.key?.keyId ?? '')
    this.demand(same, `M1: ${at}: the stored account is not the model's`)
  }
}

/** The number of steps of one commit for the account. */
function stepsOf({ accounts }: ShardBatch, accountId: string): number {
  const write = accounts.find(({ account }) => account.accountId === accountId)
  return write === undefined ? 0 : write.account.version - write.previousVersion
}
