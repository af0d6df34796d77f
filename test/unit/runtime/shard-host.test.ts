/** Goal: B1, B2, H1-H4: what follows from each verdict of a commit, and what is told to whom. */
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import type { Answer, EarlierUse } from '../../../actors/account/outcome.ts'
import type { AccountState } from '../../../actors/account/state.ts'
import { decodeVerdicts, encodeItems, type Item, type ItemVerdict, type Operation } from '../../../runtime/messages.ts'
import { outputGate } from '../../../runtime/node/output-gate.ts'
import { createPinBoard } from '../../../runtime/node/pin-board.ts'
import { ShardHost } from '../../../runtime/node/shard-host.ts'
import {
  addressOf,
  type CommitBatch,
  type CommitVerdict,
  keyAddressOf,
  type LedgerStore,
  type ShardRecord,
} from '../../../runtime/ports/ledger-store.ts'
import { CALLER, KEY, OTHER_KEY, START_MS } from '../../support/accounts.ts'
import { createManualClock } from '../../support/manual-clock.ts'

type Commit = (batch: CommitBatch) => CommitVerdict | Promise<CommitVerdict>

const applied: Commit = ({ shards }) => ({
  kind: 'answered',
  committed: new Set(shards.map(({ token }) => token.shardId)),
})

function hosting(
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

const register: Operation = { kind: 'register', key: KEY, registrationKey: null }
const credit = (accountId: string, key: string, signature = `by ${KEY.publicKey}`): Operation => ({
  kind: 'submit',
  payload: canonicalJson({ account_id: accountId, amount: '1', type: 'credit', idempotency_key: key }),
  signature,
})
const rotation = (accountId: string): Operation => ({
  kind: 'rotate_key',
  payload: canonicalJson({ account_id: accountId, idempotency_key: 'rotation' }),
  signature: `by ${KEY.publicKey}`,
  proof: null,
  newKey: OTHER_KEY,
})
const answersOf = (verdicts: readonly ItemVerdict[]): readonly (Answer | string)[] =>
  verdicts.map(({ verdict }) => (verdict.kind === 'answered' ? verdict.answer : verdict.kind))
const kinds = (verdicts: readonly ItemVerdict[]) =>
  answersOf(verdicts).map((answer) =>
    typeof answer === 'string' ? answer : answer.kind === 'refused' ? answer.code : answer.kind,
  )
const receiptOf = (answer: Answer | string | undefined) =>
  typeof answer === 'object' && answer.kind === 'accepted' ? answer.receipt : undefined
/** How many transactions stand under this key in what was committed. */
const writes = (batches: readonly CommitBatch[], key: string) =>
  batches
    .flatMap(({ shards }) => shards.flatMap(({ transactions }) => transactions))
    .filter((row) => row.transaction.idempotencyKey === key).length

describe('the shard host', () => {
  test('B1: one poisonous command among many is refused alone, and all others are applied', async () => {
    const { clock, control, batches, verdicts, item, send } = hosting()
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(10)
    const good: CommitBatch[] = []
    control.commit = (batch) => {
      const poisonous = batch.shards.some(({ transactions }) =>
        transactions.some((row) => row.transaction.idempotencyKey === 'poison'),
      )
      if (poisonous) return { kind: 'failed', cause: 'data', detail: 'the row cannot be stored' }
      good.push(batch)
      return applied(batch)
    }
    const keys = ['a1', 'a2', 'poison', 'a3', 'a4']
    send(...keys.map((key) => item(0, 'a', credit('a', key))), item(1, 'b', credit('b', 'b1')))
    await clock.pass(100)
    const byRequest = new Map(verdicts.map((verdict) => [verdict.requestId, kinds([verdict])[0]]))
    expect([...byRequest.values()].filter((kind) => kind === 'accepted').length).toBe(5)
    expect(byRequest.get('request-5')).toBe('rejected')
    for (const key of ['a1', 'a2', 'a3', 'a4', 'b1']) expect(writes(good, key)).toBe(1)
    expect(batches.length).toBeLessThan(12)
    const sequences = good
      .flatMap(({ shards }) => shards.flatMap(({ entries }) => entries))
      .filter(({ accountId }) => accountId === 'a')
    expect(sequences.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
  })

  test('H4: a broken invariant ends its shard and no other', async () => {
    const { clock, control, host, verdicts, item, send } = hosting()
    control.commit = (batch) =>
      batch.shards.some(({ token }) => token.shardId === 0)
        ? { kind: 'failed', cause: 'invariant', detail: 'version' }
        : applied(batch)
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(100)
    expect(kinds(verdicts).sort()).toEqual(['registered', 'undecided'])
    expect([...host.serving().keys()]).toEqual([1])
    expect(host.refused()).toEqual([0])
  })

  test('B1: a transient failure is tried again, and nothing is blamed', async () => {
    const { clock, control, verdicts, item, send } = hosting()
    let failures = 3
    control.commit = (batch) =>
      (failures -= 1) >= 0 ? { kind: 'failed', cause: 'transient', detail: '' } : applied(batch)
    send(item(0, 'a', register))
    await clock.pass(200)
    expect(kinds(verdicts)).toEqual(['registered'])
  })

  test('H3: after an unknown outcome nothing is committed before the attempt was raised, then it is stepped again', async () => {
    const { clock, control, batches, verdicts, item, send, host } = hosting()
    control.commit = () => ({ kind: 'unknown', detail: 'no answer' })
    send(item(0, 'a', register))
    await clock.pass(1)
    control.commit = applied
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['registered'])
    expect(batches.map(({ shards }) => shards[0]?.token.attempt)).toEqual([0, 1])
    expect(host.serving().get(0)).toMatchObject({ epoch: 1, attempt: 1 })
  })

  test('H3: when the shard is another by then, what waited is undecided', async () => {
    const { clock, control, verdicts, item, send, host } = hosting()
    control.commit = () => ({ kind: 'unknown', detail: 'no answer' })
    control.raises = false
    send(item(0, 'a', register))
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['undecided'])
    expect(host.serving().has(0)).toBe(false)
  })

  test('H3: commands that waited for their look-up when an outcome was unknown are stepped once, in order', async () => {
    const { clock, control, verdicts, item, send, host, keep } = hosting([0], { maxShardMailbox: 10_000 })
    control.commit = (batch) => {
      keep(batch)
      return applied(batch)
    }
    send(item(0, 'a', register))
    await clock.pass(10)
    control.commit = () => ({ kind: 'unknown', detail: 'no answer' })
    let go: () => void = () => undefined
    send(item(0, 'a', credit('a', 'first')))
    await clock.pass(0)
    control.lookUps = new Promise((resolve) => (go = resolve))
    for (let index = 0; index < 6_000; index += 1) send(item(0, 'a', credit('a', `k${index}`)))
    await clock.pass(200)
    control.commit = (batch) => {
      keep(batch)
      return applied(batch)
    }
    go()
    await clock.pass(2_000)
    expect(host.refused()).toEqual([])
    expect(kinds(verdicts).filter((kind) => kind === 'accepted').length).toBe(6_001)
    const ids = verdicts.map(({ requestId }) => Number(requestId.slice('request-'.length)))
    expect(ids).toEqual([...ids].sort((one, other) => one - other))
  })

  test('I10: a change of status whose commit was applied unheard is not judged anew', async () => {
    const { clock, control, batches, verdicts, item, send, keep } = hosting([0])
    const change = (status: 'frozen' | 'active' | 'closed'): Operation => ({
      kind: 'change_status',
      status,
      incoming: null,
      reason: 'r',
    })
    control.commit = (batch) => {
      keep(batch)
      return applied(batch)
    }
    send(item(0, 'a', register))
    await clock.pass(10)
    control.commit = (batch) => {
      keep(batch)
      control.commit = applied
      return { kind: 'unknown', detail: 'no answer' }
    }
    send(item(0, 'a', change('frozen')), item(0, 'a', change('closed')))
    await clock.pass(200)
    expect(kinds(verdicts)).toEqual(['registered', 'undecided', 'undecided'])
    const sequences = batches.flatMap(({ shards }) =>
      shards.flatMap(({ entries }) => entries.map(({ sequence }) => sequence)),
    )
    expect(sequences).toEqual([0, 1, 2])
  })

  test('an order whose commit was applied unheard gets its first answer, unmarked', async () => {
    const { clock, control, verdicts, item, send, keep } = hosting([0])
    send(item(0, 'a', register))
    await clock.pass(10)
    control.commit = (batch) => {
      keep(batch)
      control.commit = applied
      return { kind: 'unknown', detail: 'no answer' }
    }
    send(item(0, 'a', credit('a', 'k')))
    await clock.pass(200)
    expect(answersOf(verdicts)[1]).toMatchObject({ kind: 'accepted', replayed: false })
  })

  test('repeats under a key that was rotated away are checked together, not one a commit', async () => {
    const { clock, control, batches, verdicts, item, send, keep } = hosting([0])
    control.commit = (batch) => {
      keep(batch)
      return applied(batch)
    }
    send(item(0, 'a', register))
    await clock.pass(10)
    send(item(0, 'a', credit('a', 'k')))
    await clock.pass(10)
    send(item(0, 'a', rotation('a')))
    await clock.pass(10)
    const before = batches.length
    send(...Array.from({ length: 50 }, () => item(0, 'a', credit('a', 'k'))))
    await clock.pass(20)
    expect(kinds(verdicts).filter((kind) => kind === 'accepted').length).toBe(51)
    expect(batches.length - before).toBe(1)
  })

  test('a batch is bounded by its bytes, and every shard gets its turn', async () => {
    const { clock, batches, verdicts, item, send } = hosting([0, 1], { maxBatchBytes: 4_000 })
    send(...[0, 1].flatMap((shardId) => Array.from({ length: 5 }, (_, index) => item(shardId, `a${index}`, register))))
    await clock.pass(20)
    expect(kinds(verdicts).length).toBe(10)
    expect(Math.max(...batches.map(({ shards }) => shards.flatMap(({ accounts }) => accounts).length))).toBe(3)
  })

  test('receipts that cannot be signed now are signed later', async () => {
    const { clock, verdicts, item, send, signing } = hosting([0])
    send(item(0, 'a', register))
    await clock.pass(10)
    signing.fails = true
    send(item(0, 'a', credit('a', 'k')))
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['registered'])
    signing.fails = false
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['registered', 'accepted'])
  })

  test('I1: a shard that the fence leaves out is looked at: busy is tried again, fenced is given up', async () => {
    const { clock, control, verdicts, item, send, host } = hosting()
    let busy = true
    control.commit = (batch) => (busy ? { kind: 'answered', committed: new Set() } : applied(batch))
    send(item(0, 'a', register))
    await clock.pass(20)
    busy = false
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['registered'])
    busy = true
    control.epochs.set(0, 2)
    send(item(0, 'b', register))
    await clock.pass(50)
    expect(kinds(verdicts)).toEqual(['registered', 'undecided'])
    expect(host.serving().has(0)).toBe(false)
  })

  test('I3: a repeat within one batch, and one after it, gets the first answer', async () => {
    const { clock, batches, verdicts, item, send } = hosting()
    send(item(0, 'a', register))
    await clock.pass(10)
    send(item(0, 'a', credit('a', 'k')), item(0, 'a', credit('a', 'k')))
    await clock.pass(10)
    const [, first, second] = answersOf(verdicts)
    expect(first).toMatchObject({ kind: 'accepted', replayed: false })
    expect(second).toMatchObject({ kind: 'accepted', replayed: true })
    expect(receiptOf(second)).toEqual(receiptOf(first))
    expect(receiptOf(first)).toBeDefined()
    expect(writes(batches, 'k')).toBe(1)
  })

  test('S3: an order signed by a key that is rotated away before its step is refused', async () => {
    const { clock, verdicts, item, send } = hosting()
    send(item(0, 'a', register))
    await clock.pass(10)
    send(
      item(0, 'a', rotation('a')),
      item(0, 'a', credit('a', 'old')),
      item(0, 'a', credit('a', 'new', `by ${OTHER_KEY.publicKey}`)),
    )
    await clock.pass(20)
    expect(kinds(verdicts)).toEqual(['registered', 'rotated', 'signature_mismatch', 'accepted'])
  })

  test('H1: another epoch, and a shard that is not here, are moved; H2: a full mailbox is overloaded', async () => {
    const { clock, control, verdicts, item, send } = hosting([0], { maxShardMailbox: 1 })
    control.commit = () => new Promise(() => undefined)
    send(item(0, 'a', register, { epoch: 2 }), item(5, 'a', register), item(0, 'a', register), item(0, 'a', register))
    await clock.pass(10)
    expect(kinds(verdicts)).toEqual(['moved', 'moved', 'overloaded'])
  })

  test('I12: an attempt that arrives after a later one of its request is dropped', async () => {
    const { clock, verdicts, item, send } = hosting()
    const late = item(0, 'a', register)
    send({ ...late, attempt: 2 })
    await clock.pass(10)
    send(late)
    await clock.pass(10)
    expect(verdicts.map(({ attempt }) => attempt)).toEqual([2])
  })

  test('what has passed its deadline is not stepped', async () => {
    const { clock, batches, verdicts, item, send } = hosting()
    send(item(0, 'a', register, { deadlineMs: START_MS }))
    await clock.pass(10)
    expect(kinds(verdicts)).toEqual(['undecided'])
    expect(batches).toEqual([])
  })

  test('a drained shard takes nothing new, finishes what it has, and gives its token back', async () => {
    const { clock, control, host, verdicts, item, send } = hosting()
    let finish: () => void = () => undefined
    control.commit = (batch) => new Promise((resolve) => (finish = () => resolve(applied(batch))))
    send(item(0, 'a', register))
    await clock.pass(5)
    const drained = host.drain(0, 1_000)
    send(item(0, 'b', register))
    await clock.pass(20)
    expect(kinds(verdicts)).toEqual(['moved'])
    finish()
    await clock.pass(20)
    expect(await drained).toEqual({ shardId: 0, epoch: 1, attempt: 0 })
    expect(kinds(verdicts)).toEqual(['moved', 'registered'])
  })
})
