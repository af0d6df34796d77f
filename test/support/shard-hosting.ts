/** A shard host on a store that is told what to say, and the commands to try it with. */
import { canonicalJson } from '../../actors/canonical-json.ts'
import type { Answer, EarlierUse } from '../../actors/account/outcome.ts'
import type { AccountState } from '../../actors/account/state.ts'
import { decodeVerdicts, encodeItems, type Item, type ItemVerdict, type Operation } from '../../runtime/messages.ts'
import { outputGate } from '../../runtime/node/output-gate.ts'
import { createPinBoard } from '../../runtime/node/pin-board.ts'
import { ShardHost } from '../../runtime/node/shard-host.ts'
import {
  addressOf,
  type CommitBatch,
  type CommitVerdict,
  keyAddressOf,
  type LedgerStore,
  type ShardRecord,
} from '../../runtime/ports/ledger-store.ts'
import { CALLER, KEY, OTHER_KEY, START_MS } from './accounts.ts'
import { createManualClock } from './manual-clock.ts'

export type Commit = (batch: CommitBatch) => CommitVerdict | Promise<CommitVerdict>

export const applied: Commit = ({ shards }) => ({
  kind: 'answered',
  committed: new Set(shards.map(({ token }) => token.shardId)),
})

export function hosting(
  shardIds: readonly number[] = [0, 1],
  limits: { maxShardMailbox?: number; maxBatchBytes?: number } = {},
) {
  const clock = createManualClock(START_MS)
  const batches: CommitBatch[] = []
  const signing = { fails: false }
  const stored = new Map<string, AccountState>()
  const uses = new Map<string, { readonly address: string; readonly earlier: EarlierUse }>()
  const control: { commit: Commit; raises: boolean; epochs: Map<number, number>; lookUps: Promise<void> } = {
    commit: applied,
    lookUps: Promise.resolve(),
    raises: true,
    epochs: new Map(shardIds.map((shardId) => [shardId, 1])),
  }
  const unused = () => Promise.reject(new Error('not used here'))
  const store: LedgerStore = {
    shards: () =>
      Promise.resolve(
        [...control.epochs].map(([shardId, epoch]): ShardRecord => ({
          shardId,
          epoch,
          attempt: 0,
          nodeId: 'n',
          session: 's',
        })),
      ),
    commit: (batch) => {
      batches.push(batch)
      return Promise.resolve(control.commit(batch))
    },
    lookUp: async ({ accounts, keys }) => {
      await control.lookUps
      const found = accounts.flatMap((address) => stored.get(addressOf(address)) ?? [])
      const used = keys.flatMap((key) => uses.get(keyAddressOf(key)) ?? [])
      return {
        accounts: new Map(found.map((account) => [addressOf(account), account])),
        keys: new Map(used.map(({ address, earlier }) => [address, earlier])),
      }
    },
    raiseAttempt: () => Promise.resolve(control.raises),
    acquire: unused,
    release: unused,
    lastTransactionId: unused,
    sessionHeld: unused,
    terminate: unused,
    probe: unused,
  }
  /** What a commit does to the ledger, whatever is said of it. */
  const keep = (batch: CommitBatch): void => {
    for (const { accounts, transactions, token } of batch.shards) {
      for (const { account } of accounts) stored.set(addressOf(account), account)
      for (const { transaction } of transactions) {
        const { accountId, idempotencyKey, txnId, payloadHash, createdAtMs } = transaction
        const { shardId } = token
        const address = keyAddressOf({ shardId, accountId, operation: 'transaction', idempotencyKey })
        const receipt = { txnId, accountId, shardId, enqueuedAtMs: createdAtMs, groupId: null }
        const answer = { kind: 'accepted', receipt, replayed: false, mismatch: false } as const
        uses.set(address, { address, earlier: { payloadHash, key: KEY, answer } })
      }
    }
  }
  let serial = 0
  const host = new ShardHost({
    store,
    signer: {
      verifyMany: (checks) =>
        Promise.resolve(checks.map(({ signature, publicKey }) => signature === `by ${publicKey}`)),
      signMany: (_, payloads) => Promise.resolve(payloads.map(() => 'receipt')),
      receiptKeyId: () => {
        if (signing.fails) throw new Error('no key for now')
        return 'receipt-key'
      },
    },
    clock,
    random: { hex: (size) => '0'.repeat(size * 2), integer: () => 0 },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    pins: createPinBoard(),
    gate: outputGate,
    settings: {
      ledgerId: 'ledger',
      production: false,
      maxBatchSize: 100,
      maxBatchBytes: limits.maxBatchBytes ?? 1_000_000,
      maxResidents: 100,
      maxShardMailbox: limits.maxShardMailbox ?? 100,
      maxNodeMailbox: 10_000,
    },
  })
  for (const shardId of shardIds) host.serve({ shardId, epoch: 1, attempt: 0 }, null)
  const verdicts: ItemVerdict[] = []
  const item = (shardId: number, accountId: string, operation: Operation, changes: Partial<Item> = {}): Item => {
    serial += 1
    return {
      requestId: `request-${serial}`,
      attempt: 1,
      shardId,
      epoch: 1,
      accountId,
      caller: CALLER,
      deadlineMs: START_MS + 60_000,
      operation,
      ...changes,
    }
  }
  const send = (...items: Item[]) =>
    host.receive(encodeItems(items), (reply) => verdicts.push(...decodeVerdicts(reply)))
  return { clock, control, batches, host, verdicts, item, send, keep, signing }
}

export const register: Operation = { kind: 'register', key: KEY, registrationKey: null }
export const credit = (accountId: string, key: string, signature = `by ${KEY.publicKey}`): Operation => ({
  kind: 'submit',
  payload: canonicalJson({ account_id: accountId, amount: '1', type: 'credit', idempotency_key: key }),
  signature,
})
export const rotation = (accountId: string): Operation => ({
  kind: 'rotate_key',
  payload: canonicalJson({ account_id: accountId, idempotency_key: 'rotation' }),
  signature: `by ${KEY.publicKey}`,
  proof: null,
  newKey: OTHER_KEY,
})
export const answersOf = (verdicts: readonly ItemVerdict[]): readonly (Answer | string)[] =>
  verdicts.map(({ verdict }) => (verdict.kind === 'answered' ? verdict.answer : verdict.kind))
export const kinds = (verdicts: readonly ItemVerdict[]) =>
  answersOf(verdicts).map((answer) =>
    typeof answer === 'string' ? answer : answer.kind === 'refused' ? answer.code : answer.kind,
  )
export const receiptOf = (answer: Answer | string | undefined) =>
  typeof answer === 'object' && answer.kind === 'accepted' ? answer.receipt : undefined
/** How many transactions stand under this key in what was committed. */
export const writes = (batches: readonly CommitBatch[], key: string) =>
  batches
    .flatMap(({ shards }) => shards.flatMap(({ transactions }) => transactions))
    .filter((row) => row.transaction.idempotencyKey === key).length
