/**
 * Looks at the whole ledger's value while it moves (I4): each look is one snapshot of all shards, whose rows are opened and
 * added up here. Per asset, balances + what holds have + what messages carry = supply + what came over the boundary - what
 * left.
 */
import type postgres from 'postgres'
import { type Hold, valueOf } from '../../actors/account/state.ts'
import type { Envelope } from '../../actors/message.ts'
import { Quantity, ZERO } from '../../actors/money.ts'
import { balanceFrom } from '../../infra/postgres/account-parts.ts'
import { type ActorRow, keyNameOfActorRow, tokenStateOf } from '../../infra/postgres/actor-documents.ts'
import { type CrossingsRow, openCrossings } from '../../infra/postgres/boundary-crossings.ts'
import { PLACES } from '../../infra/postgres/row-sealer.ts'
import { accountKeyName, LEDGER_KEY_NAME, shardKeyName } from '../../infra/vault/key-name.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'

const PERIOD_MS = 200
const KEPT_FAULTS = 5

/** What a message carries counts until its receiver's mark has reached it. */
const ON_ITS_WAY = `
SELECT o.shard_id, o.target_shard, o.number, o.message FROM outbox o
  LEFT JOIN inbox_marks m ON m.shard_id = o.target_shard AND m.source_shard = o.shard_id
 WHERE o.number > coalesce(m.mark, 0)`

interface PartRow {
  readonly shard_id: number
  readonly account_id: string
  readonly token_id: string
  readonly hold_id: string
  readonly document: Buffer
}

interface MessageRow {
  readonly shard_id: number
  readonly target_shard: number
  readonly number: string
  readonly message: Buffer
}

const WHERE = ['balanced', 'held', 'carried', 'supplied', 'crossed'] as const
type Where = (typeof WHERE)[number]
type Sums = Record<Where, Quantity>

/** Of one snapshot, by asset. */
async function readValue(sql: postgres.TransactionSql, vault: RowVault) {
  const sums = new Map<string, Sums>()
  const add = (where: Where, tokenId: string, quantity: Quantity | string): void => {
    const before = sums.get(tokenId) ?? { balanced: ZERO, held: ZERO, carried: ZERO, supplied: ZERO, crossed: ZERO }
    sums.set(tokenId, { ...before, [where]: before[where].plus(quantity) })
  }
  const balances = await sql<PartRow[]>`SELECT shard_id, account_id, token_id, document FROM balances`
  const holds = await sql<PartRow[]>`SELECT shard_id, account_id, hold_id, document FROM holds`
  const messages = await sql.unsafe<MessageRow[]>(ON_ITS_WAY)
  const tokens = await sql<ActorRow[]>`SELECT * FROM actors WHERE kind = 'token' AND status <> 'preparing'`
  const crossings = await sql<CrossingsRow[]>`SELECT session, number, shards, document FROM boundary_crossings`
  await vault.keys.fetch(sql, [
    LEDGER_KEY_NAME,
    ...[...balances, ...holds].map((row) => accountKeyName(row.account_id)),
    ...messages.map((row) => shardKeyName(row.shard_id)),
    ...tokens.map(keyNameOfActorRow),
  ])
  for (const { shard_id: shardId, account_id: ref, token_id: tokenId, document } of balances) {
    const text = vault.open(accountKeyName(ref), PLACES.balance(shardId, ref, tokenId), document)
    add('balanced', tokenId, balanceFrom(text).balance)
  }
  for (const { shard_id: shardId, account_id: ref, hold_id: holdRef, document } of holds) {
    const hold = JSON.parse(vault.open(accountKeyName(ref), PLACES.hold(shardId, ref, holdRef), document)) as Hold
    const value = valueOf(hold)
    if (value !== undefined) add('held', value.tokenId, value.quantity)
  }
  let carrying = 0
  for (const { shard_id: source, target_shard: target, number, message } of messages) {
    const text = vault.open(shardKeyName(source), PLACES.message(source, target, Number(number)), message)
    const { carries } = JSON.parse(text) as Envelope
    carrying += carries.length
    for (const { tokenId, quantity } of carries) add('carried', tokenId, quantity)
  }
  for (const row of tokens) {
    const { tokenId, totalSupply } = tokenStateOf(row, vault)
    add('supplied', tokenId, totalSupply)
  }
  for (const row of crossings) {
    for (const { tokenId, credited, debited } of openCrossings(row, vault)) {
      add('crossed', tokenId, new Quantity(credited).minus(debited))
    }
  }
  return { sums, carrying }
}

function isConserved({ balanced, held, carried, supplied, crossed }: Sums): boolean {
  return balanced.plus(held).plus(carried).equals(supplied.plus(crossed))
}

export class ConservationWatch {
  /** One line a look and asset whose value was not all there, or was too much. */
  readonly faults: string[] = []
  looks = 0
  /** Looks that found value in messages, and in holds: otherwise nothing but balances was put to the test. */
  readonly busy = { messages: 0, holds: 0 }
  private readonly sql: postgres.Sql
  private readonly vault: RowVault
  private stopping = false
  private watching: Promise<void> = Promise.resolve()

  constructor(sql: postgres.Sql, vault: RowVault) {
    this.sql = sql
    this.vault = vault
  }

  start(): void {
    this.watching = this.watch()
    // Whoever stops it hears of it; it must not end the process before.
    this.watching.catch(() => undefined)
  }

  /** After one more look. */
  async stop(): Promise<void> {
    this.stopping = true
    await this.watching
    await this.look()
  }

  private async watch(): Promise<void> {
    while (!this.stopping) {
      const startedMs = performance.now()
      await this.look()
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedMs + PERIOD_MS - performance.now())))
    }
  }

  private async look(): Promise<void> {
    const { sums, carrying } = await this.sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', (snapshot) =>
      readValue(snapshot, this.vault),
    )
    this.looks += 1
    if (carrying > 0) this.busy.messages += 1
    if ([...sums.values()].some(({ held }) => !held.isZero())) this.busy.holds += 1
    for (const [tokenId, of] of sums) {
      if (isConserved(of) || this.faults.length >= KEPT_FAULTS) continue
      const shown = WHERE.map((where) => `${where} ${of[where].toFixed()}`).join(', ')
      this.faults.push(`look ${this.looks} at ${new Date().toISOString()}: ${tokenId}: ${shown}`)
    }
  }
}
