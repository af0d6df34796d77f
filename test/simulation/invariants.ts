/**
 * What must hold of the ledger after every commit, checked as the commit is applied and by nothing that the runtime
 * says of itself: the rows that were written are the only witness. At the end everything is walked once more from entry 0.
 * I1, I1b, I3 to I7; what clients were told is checked in invariants-clients.ts.
 */
import { chainHash, GENESIS } from '../../actors/audit-chain.ts'
import { receiptPayload } from '../../actors/account/receipt.ts'
import type { TransactionWrite } from '../../runtime/ports/ledger-store.ts'
import { addressOf } from '../../runtime/ports/ledger-store.ts'
import { AccountModel, type Expected, type ModelState, signedFields, unitsOf, useKey } from './reference-model.ts'
import type { ModelSettings, ModelUse } from './reference-model.ts'
import type { AppliedCommit, AppliedShard, ShardChange, SimDatabase } from './sim-ledger-store-database.ts'

const LARGEST = 10n ** 36n - 1n

export interface CheckerSettings extends ModelSettings {
  /** Whether the receipt key signed this. */
  readonly receiptVerifies: (keyId: string, payload: string, signature: string) => boolean
  /** Whether some client has sent exactly this by now: an effect that nobody ordered is one too many. */
  readonly wasOrdered: (payload: string, signature: string) => boolean
  /** The rotation that a client has sent with this key and hash: what is recorded of it names no more. */
  readonly rotationOrdered: (
    accountId: string,
    idempotencyKey: string,
    payloadHash: string,
  ) => { readonly payload: string; readonly signature: string } | undefined
}

type EntryFields = Readonly<Record<string, string | number | null>>

export class LedgerChecker {
  readonly violations: string[] = []
  readonly accounts = new Map<string, AccountModel>()
  /** When a change of status took effect, by the reason that its request gave: the workload gives each its own. */
  readonly statusReasons = new Map<string, number>()
  private readonly database: SimDatabase
  private readonly settings: CheckerSettings
  /** Per (account, version), the token that wrote it. */
  private readonly versions = new Map<string, string>()
  private readonly transactionIds = new Set<string>()
  private readonly lastIds = new Map<number, string>()
  private sumOfBalances = 0n
  private broughtIn = 0n

  constructor(database: SimDatabase, settings: CheckerSettings) {
    this.database = database
    this.settings = settings
    database.onApplied((applied) => this.commit(applied))
    database.onShardChange((change) => this.shardChange(change))
  }

  account(shardId: number, accountId: string): AccountModel {
    const at = addressOf({ shardId, accountId })
    const known = this.accounts.get(at)
    if (known !== undefined) return known
    const model = new AccountModel(this.settings)
    this.accounts.set(at, model)
    return model
  }

  demand(holds: boolean, violation: string): void {
    if (!holds) this.violations.push(`at ${this.database.kernel.now()} ms: ${violation}`)
  }

  /** Everything once more, from the rows alone. */
  atEnd(): void {
    const { rows } = this.database
    this.demand(
      this.database.brokenWrites.length === 0,
      `I1b: refused writes: ${this.database.brokenWrites.join('; ')}`,
    )
    let balances = 0n
    for (const [at, account] of rows.accounts) {
      const entries = [...(rows.entries.get(at) ?? [])].sort((left, right) => left.sequence - right.sequence)
      let tip = GENESIS
      entries.forEach((entry, index) => {
        const hash = chainHash(tip, entry.payload)
        this.demand(entry.sequence === index, `I6: ${at}: entry ${entry.sequence} where ${index} belongs`)
        this.demand(
          entry.previousHash === tip && entry.auditHash === hash,
          `I6: ${at}: entry ${index} does not recompute`,
        )
        tip = entry.auditHash
      })
      this.demand(
        account.sequence === entries.length - 1 && account.tip === tip,
        `I6: ${at}: the tip is not the last entry's`,
      )
      for (const { balance } of rows.balances.get(at)?.values() ?? []) balances += unitsOf(balance.toFixed())
    }
    let moved = 0n
    for (const { transaction } of rows.transactions.values()) {
      this.demand(
        transaction.status !== 'completed' || transaction.sequence !== null,
        `I2: ${transaction.txnId} has no entry`,
      )
      if (transaction.status === 'completed') moved += signOf(transaction.type) * unitsOf(transaction.amount)
    }
    this.demand(balances === moved, `I4: balances are ${balances}, what crossed the boundary is ${moved}`)
  }

  private commit({ session, nodeId, shards }: AppliedCommit): void {
    for (const applied of shards) {
      this.fence(applied, session, nodeId)
      this.shard(applied, session)
    }
    this.demand(
      this.sumOfBalances === this.broughtIn,
      `I4: balances are ${this.sumOfBalances}, what crossed the boundary is ${this.broughtIn}`,
    )
  }

  /** I1: at the moment of effect the shard was this session's, in this epoch and attempt. */
  private fence({ batch, row }: AppliedShard, session: string, nodeId: string): void {
    const { shardId, epoch, attempt } = batch.token
    const rightful = row.epoch === epoch && row.attempt === attempt && row.session === session
    const owner = `${row.session ?? 'nobody'} in ${row.epoch}.${row.attempt}`
    this.demand(rightful, `I1: ${nodeId} wrote shard ${shardId} in ${epoch}.${attempt}, which is ${owner}`)
  }

  private shardChange({ shardId, before, after }: ShardChange): void {
    const grows = after.epoch > before.epoch || (after.epoch === before.epoch && after.attempt > before.attempt)
    this.demand(
      grows,
      `I1: shard ${shardId} went from ${before.epoch}.${before.attempt} to ${after.epoch}.${after.attempt}`,
    )
  }

  private shard({ batch }: AppliedShard, session: string): void {
    const { shardId, epoch, attempt } = batch.token
    const token = `${session} ${epoch}.${attempt}`
    const written = new Map(batch.accounts.map(({ account }) => [account.accountId, account]))
    for (const transaction of batch.transactions) this.transaction(transaction, shardId)
    for (const { account, previousVersion } of batch.accounts) {
      const at = addressOf({ shardId, accountId: account.accountId })
      this.demand(account.version > previousVersion, `I1b: ${at}: version ${account.version} on ${previousVersion}`)
      for (let version = previousVersion + 1; version <= account.version; version += 1) {
        const writer = this.versions.get(`${at} ${version}`)
        this.demand(writer === undefined, `I1b: ${at}: version ${version} written by ${writer} and by ${token}`)
        this.versions.set(`${at} ${version}`, token)
      }
      this.replay(shardId, account.accountId, batch)
      this.compareWithModel(at, account)
    }
    const unwritten = [...batch.entries, ...batch.transactions.map(({ transaction }) => transaction)].find(
      ({ accountId }) => !written.has(accountId),
    )
    this.demand(unwritten === undefined, `I1b: facts of ${unwritten?.accountId} without its account`)
  }

  /** I3 and I7 of one decided transaction; and the IDs of a shard grow in the order of its commits, whoever owns it. */
  private transaction({ transaction, receiptKeyId, receiptSignature }: TransactionWrite, shardId: number): void {
    const { txnId, payload, signature } = transaction
    const last = this.lastIds.get(shardId) ?? ''
    this.demand(txnId > last, `N1: shard ${shardId} gave ${txnId} after ${last}`)
    this.lastIds.set(shardId, txnId)
    this.demand(!this.transactionIds.has(txnId), `I3: ${txnId} is given twice`)
    this.transactionIds.add(txnId)
    const receipt = receiptPayload(transaction, this.settings.ledgerId, receiptKeyId)
    const verifies = this.settings.receiptVerifies(receiptKeyId, receipt, receiptSignature)
    this.demand(verifies, `I7: the receipt of ${txnId} does not verify`)
    this.demand(this.settings.wasOrdered(payload, signature), `I3: nobody ordered ${txnId}`)
    if (transaction.status === 'completed') this.broughtIn += signOf(transaction.type) * unitsOf(transaction.amount)
  }

  /** M1: the model goes through the account's part of the batch, entry by entry. */
  private replay(shardId: number, accountId: string, batch: AppliedShard['batch']): void {
    const model = this.account(shardId, accountId)
    const at = addressOf({ shardId, accountId })
    const entries = batch.entries
      .filter((entry) => entry.accountId === accountId)
      .sort((left, right) => left.sequence - right.sequence)
    const transactions = batch.transactions.filter(({ transaction }) => transaction.accountId === accountId)
    const firstIndex = model.states.length - 1
    for (const entry of entries) {
      const before = model.latest()
      const fields = JSON.parse(entry.payload) as EntryFields
      const hash = chainHash(before?.tip ?? GENESIS, entry.payload)
      const follows = entry.sequence === (before?.sequence ?? -1) + 1
      this.demand(follows, `I6: ${at}: entry ${entry.sequence} after ${before?.sequence ?? 'none'}`)
      this.demand(entry.auditHash === hash, `I6: ${at}: entry ${entry.sequence} does not continue the chain`)
      this.demand(fields['sequence'] === entry.sequence, `I6: ${at}: entry ${entry.sequence} says another number`)
      const chained = { fromMs: this.database.kernel.now(), sequence: entry.sequence, tip: entry.auditHash }
      if (before === undefined) this.opens(model, batch, accountId, fields, chained)
      else if (fields['kind'] === 'transaction') {
        const write = transactions.find(({ transaction }) => transaction.txnId === entry.txnId)
        this.completes(model, at, before, write, fields, chained)
      } else if (fields['kind'] === 'key_rotation') this.rotates(model, at, before, batch, accountId, fields, chained)
      else this.changesStatus(model, before, fields, chained)
    }
    for (const write of transactions) {
      if (write.transaction.status === 'failed') this.fails(model, at, firstIndex, write)
    }
  }

  private opens(
    model: AccountModel,
    batch: AppliedShard['batch'],
    accountId: string,
    fields: EntryFields,
    chained: Pick<ModelState, 'fromMs' | 'sequence' | 'tip'>,
  ): void {
    const write = batch.accounts.find(({ account }) => account.accountId === accountId)
    this.demand(write?.previousVersion === 0, `I3: ${accountId} is opened twice`)
    model.registeredBy = write?.account.registeredBy ?? ''
    const recorded = batch.operations.find(
      ({ accountId: owner, operation }) => owner === accountId && operation === 'registration',
    )
    model.registrationUse = recorded?.idempotencyKey ?? null
    const key = { publicKey: String(fields['public_key']), keyId: String(fields['key_id']) }
    model.states.push({ ...chained, ...key, status: 'active', incoming: 'accept', balance: 0n })
  }

  private completes(
    model: AccountModel,
    at: string,
    before: ModelState,
    write: TransactionWrite | undefined,
    fields: EntryFields,
    chained: Pick<ModelState, 'fromMs' | 'sequence' | 'tip'>,
  ): void {
    if (write === undefined) {
      this.demand(false, `I7: ${at}: entry ${chained.sequence} has no transaction`)
      return
    }
    const { transaction } = write
    const expected = this.expect(model, at, write, model.states.length - 1)
    const completes = transaction.status === 'completed' && expected.kind === 'effect' && expected.failure === null
    this.demand(completes, `M1: ${at}: ${transaction.txnId} completed, the model says ${JSON.stringify(expected)}`)
    const balance = before.balance + signOf(transaction.type) * unitsOf(transaction.amount)
    this.demand(balance >= 0n && balance <= LARGEST, `I5: ${at}: the balance would be ${balance}`)
    this.demand(
      unitsOf(String(fields['balance'])) === balance,
      `I4: ${at}: entry ${chained.sequence} says another balance`,
    )
    this.demand(
      transaction.sequence === chained.sequence && transaction.auditHash === chained.tip,
      `I7: ${at}: ${transaction.txnId} does not name its entry`,
    )
    model.states.push({ ...before, ...chained, balance })
    this.uses(model, at, write, before)
  }

  private fails(model: AccountModel, at: string, firstIndex: number, write: TransactionWrite): void {
    const { transaction } = write
    const reasons: string[] = []
    let under: ModelState | undefined
    for (let index = firstIndex; index < model.states.length; index += 1) {
      const expected = this.expect(model, at, write, index)
      if (expected.kind === 'effect' && expected.failure === transaction.failure?.code) under ??= model.states[index]
      reasons.push(JSON.stringify(expected))
    }
    const said = `${transaction.txnId} failed with ${transaction.failure?.code}`
    this.demand(under !== undefined, `M1: ${at}: ${said}, the model says ${reasons.join(', ')}`)
    const by = under ?? model.latest()
    if (by !== undefined) this.uses(model, at, write, by)
  }

  private rotates(
    model: AccountModel,
    at: string,
    before: ModelState,
    batch: AppliedShard['batch'],
    accountId: string,
    fields: EntryFields,
    chained: Pick<ModelState, 'fromMs' | 'sequence' | 'tip'>,
  ): void {
    const recorded = batch.operations.find(
      ({ accountId: owner, answer }) => owner === accountId && answer.auditHash === chained.tip,
    )
    const key = { publicKey: String(fields['public_key']), keyId: String(fields['key_id']) }
    this.demand(recorded !== undefined, `I3: ${at}: the rotation ${chained.sequence} is not recorded under its key`)
    this.demand(before.status === 'active', `M1: ${at}: rotated while ${before.status}`)
    this.demand(recorded?.keyId === before.keyId, `M1: ${at}: rotated under a key that was not in force`)
    model.states.push({ ...before, ...chained, ...key })
    if (recorded === undefined) return
    const ordered = this.settings.rotationOrdered(accountId, recorded.idempotencyKey, recorded.payloadHash)
    if (ordered === undefined) {
      this.demand(false, `I3: ${at}: nobody ordered the rotation ${chained.sequence}`)
      return
    }
    const use: ModelUse = {
      from: model.states.length - 1,
      fromMs: chained.fromMs,
      ...ordered,
      publicKey: before.publicKey,
      receipt: null,
    }
    this.use(model, at, useKey('key_rotation', recorded.idempotencyKey), use)
  }

  private changesStatus(
    model: AccountModel,
    before: ModelState,
    fields: EntryFields,
    chained: Pick<ModelState, 'fromMs' | 'sequence' | 'tip'>,
  ): void {
    const status = fields['status'] as ModelState['status']
    this.statusReasons.set(String(fields['reason']), chained.fromMs)
    this.demand(before.status !== 'closed', 'M1: a closed account changed its status')
    this.demand(status !== 'closed' || before.balance === 0n, 'M1: an account was closed that holds something')
    model.states.push({ ...before, ...chained, status, incoming: fields['incoming'] as ModelState['incoming'] })
  }

  /** What the model says of a submission that was committed: the caller's grant it cannot see, so it is taken for given. */
  private expect(model: AccountModel, at: string, { transaction }: TransactionWrite, index: number): Expected {
    const { payload, signature } = transaction
    const caller = { clientId: '', role: 'transactor' as const, boundary: true }
    const key = model.states[index]?.keyId
    if (key !== undefined && key !== transaction.keyId) return { kind: 'refused', code: 'signature_mismatch' }
    this.demand(
      signedFields(payload).idempotencyKey === transaction.idempotencyKey,
      `I3: ${at}: another key than was signed`,
    )
    return model.judge(
      { accountId: transaction.accountId, caller, operation: { kind: 'submit', payload, signature } },
      index,
    )
  }

  private uses(model: AccountModel, at: string, { transaction }: TransactionWrite, under: ModelState): void {
    const { txnId, accountId, shardId, createdAtMs, groupId } = transaction
    const use: ModelUse = {
      from: model.states.length - 1,
      fromMs: this.database.kernel.now(),
      payload: transaction.payload,
      signature: transaction.signature,
      publicKey: under.publicKey,
      receipt: { txnId, accountId, shardId, enqueuedAtMs: createdAtMs, groupId },
    }
    this.use(model, at, useKey('transaction', transaction.idempotencyKey), use)
  }

  private use(model: AccountModel, at: string, key: string, use: ModelUse): void {
    this.demand(!model.uses.has(key), `I3: ${at}: ${key} took effect twice`)
    model.uses.set(key, use)
  }

  private compareWithModel(at: string, account: AppliedShard['batch']['accounts'][number]['account']): void {
    const state = this.accounts.get(at)?.latest()
    const stored = this.database.rows.balances.get(at)?.get('BASE')
    const balance = stored === undefined ? 0n : unitsOf(stored.balance.toFixed())
    const known = this.balances.get(at) ?? 0n
    this.balances.set(at, balance)
    this.sumOfBalances += balance - known
    this.demand(balance >= 0n && balance <= LARGEST, `I5: ${at}: the balance is ${balance}`)
    this.demand(
      state?.balance === balance &&
        state.tip === account.tip &&
        state.sequence === account.sequence &&
        state.status === account.status &&
        state.incoming === account.incoming &&
        state.keyId === account.key?.keyId,
      `M1: ${at}: the stored account is not the model's`,
    )
  }

  private readonly balances = new Map<string, bigint>()
}

function signOf(type: string): bigint {
  return type === 'credit' ? 1n : -1n
}
