/** One account at its home, and orders that are stepped and written as the owner of its shard does. */
import { randomBytes } from 'node:crypto'
import { Balances } from '../../../actors/account/balances.ts'
import { Holds } from '../../../actors/account/holds.ts'
import { openAccount } from '../../../actors/account/postings.ts'
import type { AccountState, Balance, PendingHold } from '../../../actors/account/state.ts'
import { accountAddress, type ActorAddress, actorKey } from '../../../actors/address.ts'
import { encodeUlid } from '../../../actors/identifiers.ts'
import { BASE_UNIT, parseQuantity, ZERO } from '../../../actors/money.ts'
import { type AnyCommand, stepActor } from '../../../actors/step-actor.ts'
import { commitStatement } from '../../../infra/postgres/commit/commit-statement.ts'
import { accountKeyName, LEDGER_KEY_NAME, shardKeyName } from '../../../infra/vault/key-name.ts'
import { accountIn, ShardDraft, inboxOrder, stepInto } from '../../../runtime/node/shard/draft.ts'
import { createFacts } from '../../../runtime/node/shard/facts.ts'
import { Incarnation, takeUp } from '../../../runtime/node/shard/incarnation.ts'
import { Pending, holdOn, letGo, type Origin, verdictKey } from '../../../runtime/node/shard/pending-command.ts'
import { rowsOf } from '../../../runtime/node/commit/rows.ts'
import { NO_RARE_PATHS } from '../../../runtime/ports/rare-paths.ts'
import { WIRE } from '../../../runtime/protocol/wire.ts'
import { ACCOUNT, CALLER, KEY, SALT, START_MS, submitCommand } from '../../support/accounts.ts'
import { sealingVault } from '../../support/postgres/row-vaults.ts'

export interface Sizes {
  readonly assets: number
  readonly holds: number
}

const SHARD = 7
const RECEIVER = 'bob@example'
const RECEIPT = { keyId: randomBytes(32).toString('base64url'), signature: randomBytes(64).toString('base64url') }
const MESSAGE: Origin = { kind: 'message', source: SHARD, number: 1 }
const MADE = new Map()

const SURROUNDINGS = {
  settings: { ledgerId: 'bench', production: false },
  step: stepActor,
  wire: WIRE,
  facts: { ...createFacts(NO_RARE_PATHS), exists: () => true },
  inbox: inboxOrder,
  homeOf: () => SHARD,
}

export class StepScene {
  private readonly actor: ActorAddress = accountAddress(ACCOUNT)
  private readonly vault = sealingVault([LEDGER_KEY_NAME, shardKeyName(SHARD)])
  private readonly incarnation = new Incarnation(
    { shardId: SHARD, epoch: 1, attempt: 1 },
    { lastTransactionId: null, channels: [], marks: [], outbox: [] },
  )
  private readonly resident
  private serial = 0
  private pendingTxnId = ''

  constructor(sizes: Sizes) {
    const { keys } = this.vault
    keys.adopt(keys.make(accountKeyName(this.vault.accountRef(ACCOUNT))))
    this.resident = takeUp(this.incarnation, actorKey(this.actor), this.accountWith(sizes))
  }

  /** The next order of a kind, as in the mailbox. `conclude` ends the previous transfer. */
  next(order: 'credit' | 'transfer' | 'conclude'): Pending {
    const isRequest = order !== 'conclude'
    const command = isRequest ? this.submitted(order) : this.concluded()
    const pending = new Pending(isRequest ? this.requestOf() : MESSAGE, this.actor, command, this.incarnation)
    holdOn(pending, this.resident)
    if (isRequest) pending.verdicts.set(verdictKey(KEY.keyId, 'signature'), true)
    if (order === 'transfer') this.pendingTxnId = command.newTxnId
    return pending
  }

  step(pending: Pending): ShardDraft {
    const draft = new ShardDraft(this.incarnation)
    const stepped = stepInto(draft, pending, SURROUNDINGS)
    letGo(pending)
    if (stepped.kind !== 'taken' || stepped.answer?.kind === 'refused') {
      throw new Error(`${pending.command.type} is ${JSON.stringify(stepped)}`)
    }
    return draft
  }

  write(draft: ShardDraft): void {
    const shards = [rowsOf(draft, () => RECEIPT)]
    commitStatement({ shards }, { session: 'bench', number: this.serial, vault: this.vault, made: MADE })
  }

  /** As after its commit. */
  apply(draft: ShardDraft): void {
    const account = accountIn(draft, ACCOUNT)
    if (account === undefined) throw new Error('the account has not changed')
    this.resident.state = account
  }

  private submitted(order: 'credit' | 'transfer'): AnyCommand {
    return submitCommand(
      { type: order, amount: '0.25', toAccountId: order === 'credit' ? null : RECEIVER },
      { newTxnId: this.newTxnId() },
    )
  }

  private concluded(): AnyCommand {
    const { pendingTxnId: txnId } = this
    const stamp = { accountId: ACCOUNT, shardId: SHARD, newTxnId: this.newTxnId(), atMs: START_MS, salt: SALT }
    return { type: 'conclude_transfer', txnId, failure: null, counterTxnId: this.newTxnId(), ...stamp }
  }

  private requestOf(): Origin {
    const requestId = String(this.serial)
    const common = { requestId, attempt: 1, shardId: SHARD, epoch: 1, actor: this.actor, caller: CALLER }
    const operation = { kind: 'submit', payload: '', signature: '' } as const
    const item = { ...common, deadlineMs: Number.MAX_SAFE_INTEGER, operation }
    return { kind: 'request', item, channel: { send: () => undefined } }
  }

  private newTxnId(): string {
    this.serial += 1
    return `txn_${encodeUlid({ timeMs: START_MS + this.serial, counter: 0, shardId: SHARD, random: 1 })}`
  }

  private accountWith({ assets, holds }: Sizes): AccountState {
    const opening = { accountId: ACCOUNT, shardId: SHARD, key: KEY, clientId: CALLER.clientId }
    const opened = openAccount(opening, { atMs: START_MS, salt: SALT, newTxnId: this.newTxnId() })
    const account: AccountState = { ...opened.data, status: 'active' }
    const others = Array.from(
      { length: assets },
      (_, index) => [`ASSET-${index}`, balanceOf(`${index + 1}.5`)] as const,
    )
    const pending = Array.from({ length: holds }, () => this.pendingHold())
    return {
      ...account,
      balances: Balances.of([...others, [BASE_UNIT, balanceOf('1000000')]]),
      holds: Holds.of(pending.map((hold) => [hold.transaction.txnId, hold])),
    }
  }

  private pendingHold(): PendingHold {
    const { submission, ...command } = submitCommand()
    const transaction: PendingHold['transaction'] = {
      txnId: this.newTxnId(),
      accountId: ACCOUNT,
      shardId: SHARD,
      type: 'transfer',
      amount: submission.amount,
      tokenId: submission.tokenId,
      groupId: null,
      status: 'pending',
      failure: null,
      origin: 'client',
      metadata: null,
      toAccountId: RECEIVER,
      fromAccountId: null,
      receive: null,
      compensates: null,
      refunds: null,
      counterTxnId: null,
      createdAtMs: START_MS,
      processedAtMs: null,
      sequence: null,
      previousHash: null,
      auditHash: null,
      entry: null,
      idempotencyKey: command.idempotencyKey,
      payload: command.payload,
      payloadHash: command.payloadHash,
      signature: command.signature,
      keyId: KEY.keyId,
    }
    return { kind: 'pending', transaction, reserves: true, room: null, reportsOn: null }
  }
}

function balanceOf(amount: string): Balance {
  return { balance: parseQuantity(amount), reserved: ZERO, incoming: ZERO, room: ZERO, updatedAtMs: START_MS }
}
