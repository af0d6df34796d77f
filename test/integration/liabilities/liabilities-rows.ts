/** Writes balances, holds, messages, supplies and rows of external accounts with the commit statement of the ledger. */
import { randomBytes } from 'node:crypto'
import type postgres from 'postgres'
import { Balances } from '../../../actors/account/balances.ts'
import { Holds } from '../../../actors/account/holds.ts'
import { type AccountState, type Balance, holdId, NOTHING_HELD } from '../../../actors/account/state.ts'
import { type ActorAddress, tokenAddress } from '../../../actors/address.ts'
import type { Message } from '../../../actors/message.ts'
import { parseQuantity } from '../../../actors/money.ts'
import type { TokenState } from '../../../actors/token/state.ts'
import { keyNamesOfNew } from '../../../infra/postgres/commit/commit-keys.ts'
import { commitStatement } from '../../../infra/postgres/commit/commit-statement.ts'
import { LEDGER_KEY_NAME, shardKeyName } from '../../../infra/vault/key-name.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { BoundaryCrossing, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { DEFAULT_SHARD_COUNT } from '../../support/postgres/ledger-database.ts'
import { openAccount, partWith, type Rows, ROWS_START_MS } from '../../support/postgres/ledger-rows.ts'
import { LEG_TERMS, legHold, tokenState } from '../../support/postgres/ledger-rows-values.ts'

export type Owed = readonly [accountId: string, tokenId: string, balance: string]

export interface OwedRows {
  readonly balance: (...balance: Owed) => Promise<void>
  /** Writes balances of one shard in one commit, with the row of an external account. */
  readonly balances: (balances: readonly Owed[], crossing?: BoundaryCrossing) => Promise<void>
  readonly boundary: (tokenId: string, credited: string, debited?: string) => Promise<void>
  readonly token: (tokenId: string, totalSupply: string, status?: TokenState['status']) => Promise<void>
  readonly hold: (accountId: string, tokenId: string, value: string) => Promise<void>
  /** A hold of which the account is the payer: the balance still contains the value. */
  readonly paymentHold: (accountId: string, tokenId: string, value: string) => Promise<void>
  /** Removes all holds of the account. */
  readonly release: (accountId: string) => Promise<void>
  /** A message that the receiver has not processed. */
  readonly message: (
    receiver: ActorAddress,
    ...carries: readonly (readonly [tokenId: string, quantity: string])[]
  ) => Promise<void>
  /** Marks all messages as processed. */
  readonly deliverAll: () => Promise<void>
}

const ACCOUNT_SHARD = 1
/** The home of accounts whose ID begins with `far-`. */
export const FAR_SHARD = DEFAULT_SHARD_COUNT - 1
const TOKEN_SHARD = 2
const SOURCE_SHARD = 3
const TARGET_SHARD = 5

const EPOCH = 1
const BY_THE_WAY = 'owed-nothing'

export async function createOwedRows(sql: postgres.Sql, vault: RowVault): Promise<OwedRows> {
  const session = randomBytes(16).toString('hex')
  await sql`UPDATE shards SET session = ${session}, epoch = ${EPOCH}, attempt = 1`
  const shards = Array.from({ length: DEFAULT_SHARD_COUNT }, (_, shardId) => shardKeyName(shardId))
  await vault.keys.fetch(sql, [...shards, LEDGER_KEY_NAME])
  const accounts = new Map<string, AccountState>()
  const tokenVersions = new Map<string, number>()
  let [commits, messages, holds] = [0, 0, 0]

  async function commit(shardId: number, rows: Partial<Rows>): Promise<void> {
    const part: ShardBatch = partWith({ shardId, epoch: EPOCH, attempt: 1 }, rows)
    const made = new Map(keyNamesOfNew(part, vault).map((name) => [name, vault.keys.make(name)]))
    commits += 1
    const batch = { shards: [part] }
    const { text, parameters } = commitStatement(batch, { session, number: commits, vault, made })
    const written = await sql.unsafe(text, parameters)
    if (written.length !== 1) throw new Error('the rows were not written')
    for (const key of made.values()) vault.keys.adopt(key)
  }

  /** The next state of the account, and its previous version. */
  function change(accountId: string, by: (account: AccountState) => Partial<AccountState>) {
    const before = accounts.get(accountId)
    const account = before ?? openAccount(shardOf(accountId), accountId).account
    const next = { ...account, ...by(account), version: (before?.version ?? 0) + 1 }
    accounts.set(accountId, next)
    return { previousVersion: before?.version ?? 0, account: next }
  }

  async function balances(owed: readonly Owed[], crossing?: BoundaryCrossing): Promise<void> {
    const writes = new Map<string, ShardBatch['accounts'][number]>()
    const rows: ShardBatch['balances'][number][] = []
    for (const [accountId, tokenId, units] of owed) {
      const balance: Balance = { ...NOTHING_HELD, balance: parseQuantity(units), updatedAtMs: ROWS_START_MS }
      const write = change(accountId, (account) => ({
        balances: Balances.of([...account.balances, [tokenId, balance]]),
      }))
      // The row of an account with several balances is written once.
      writes.set(accountId, {
        ...write,
        previousVersion: writes.get(accountId)?.previousVersion ?? write.previousVersion,
      })
      rows.push({ accountId, tokenId, balance })
    }
    await commit(shardOf(owed[0]?.[0] ?? ''), {
      accounts: [...writes.values()],
      balances: rows,
      boundary: crossing === undefined ? [] : [crossing],
    })
  }

  return {
    balances,
    balance: (...owed) => balances([owed]),
    boundary: (tokenId, credited, debited = '0') => {
      // The commit statement writes rows of external accounts only beside the change of an account.
      const write = change(BY_THE_WAY, () => ({}))
      return commit(ACCOUNT_SHARD, { accounts: [write], boundary: [{ tokenId, credited, debited }] })
    },
    token: async (tokenId, totalSupply, status = 'active') => {
      const previousVersion = tokenVersions.get(tokenId) ?? 0
      tokenVersions.set(tokenId, previousVersion + 1)
      const supplies = { totalSupply, initialSupply: totalSupply }
      const state = tokenState({
        id: tokenId.toLowerCase(),
        tokenId,
        ...supplies,
        status,
        version: previousVersion + 1,
      })
      await commit(TOKEN_SHARD, { actors: [{ address: tokenAddress(state.id), previousVersion, state }] })
    },
    hold: async (accountId, tokenId, amount) => {
      holds += 1
      // The leg of an open group has taken the amount from the balance.
      const terms = { ...LEG_TERMS, accountId, amount, tokenId }
      const hold = legHold({ leg: holds, state: 'completed', txnId: null, terms })
      const write = change(accountId, (account) => ({ holds: Holds.of([...account.holds, [holdId(hold), hold]]) }))
      await commit(shardOf(accountId), { accounts: [write], holds: [{ accountId, holdId: holdId(hold), hold }] })
    },
    paymentHold: async (accountId, tokenId, remaining) => {
      const hold = { kind: 'payment', holdId: 'hld_1', toAccountId: 'any', tokenId, remaining, opening: null } as const
      const write = change(accountId, (account) => ({ holds: Holds.of([...account.holds, [holdId(hold), hold]]) }))
      await commit(shardOf(accountId), { accounts: [write], holds: [{ accountId, holdId: holdId(hold), hold }] })
    },
    release: async (accountId) => {
      const removedHolds = [...(accounts.get(accountId)?.holds.keys() ?? [])].map((id) => ({ accountId, holdId: id }))
      await commit(shardOf(accountId), { accounts: [change(accountId, () => ({ holds: Holds.NONE }))], removedHolds })
    },
    message: async (to, ...carries) => {
      messages += 1
      const envelope = {
        version: 1,
        to,
        message: messageTo(to),
        carries: carries.map(([tokenId, quantity]) => ({ tokenId, quantity })),
      }
      await commit(SOURCE_SHARD, {
        outbox: [{ target: TARGET_SHARD, number: messages, envelope, atMs: ROWS_START_MS }],
        sent: [{ target: TARGET_SHARD, sent: messages }],
      })
    },
    deliverAll: () => commit(TARGET_SHARD, { marks: [{ source: SOURCE_SHARD, mark: messages }] }),
  }
}

/** Any message that the actor handles: only the value that it carries matters. */
function messageTo({ kind }: ActorAddress): Message {
  if (kind === 'token') return { type: 'issue_credited' }
  if (kind === 'group') return { type: 'leg_settled', groupId: 'group', leg: 0, role: 'own' }
  return { type: 'conclude_transfer', txnId: 'txn', failure: null, counterTxnId: null }
}

function shardOf(accountId: string): number {
  return accountId.startsWith('far-') ? FAR_SHARD : ACCOUNT_SHARD
}
