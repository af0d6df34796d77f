/**
 * Looks at the whole ledger's value while it moves (I4): each look is one statement, so one snapshot of all shards. Per
 * asset, balances + what holds have + what messages carry = supply + what came over the boundary - what left.
 */
import type postgres from 'postgres'

const PERIOD_MS = 200
const KEPT_FAULTS = 5

/** What a message carries counts until its receiver's mark has reached it. */
const VALUE = `
WITH balanced AS (
  SELECT token_id, sum(balance) AS value FROM balances GROUP BY token_id),
held AS (
  SELECT token_id, sum(value) AS value FROM holds WHERE token_id IS NOT NULL GROUP BY token_id),
carried AS (
  SELECT c.item ->> 0 AS token_id, sum((c.item ->> 1)::numeric) AS value, count(*) AS messages
    FROM outbox o
    LEFT JOIN inbox_marks m ON m.shard_id = o.target_shard AND m.source_shard = o.shard_id
   CROSS JOIN LATERAL json_array_elements(o.carries::json) AS c (item)
   WHERE o.carries IS NOT NULL AND o.number > coalesce(m.mark, 0)
   GROUP BY 1),
supplied AS (
  SELECT document::json ->> 'tokenId' AS token_id, (document::json ->> 'totalSupply')::numeric AS value
    FROM actors WHERE kind = 'token' AND document::json ->> 'status' <> 'preparing'),
crossed AS (
  SELECT token_id, sum(credited) - sum(debited) AS value FROM boundary_totals GROUP BY token_id)
SELECT token_id, coalesce(b.value, 0)::text AS balanced, coalesce(h.value, 0)::text AS held,
       coalesce(c.value, 0)::text AS carried, coalesce(c.messages, 0)::integer AS messages,
       coalesce(s.value, 0)::text AS supplied, coalesce(x.value, 0)::text AS crossed,
       coalesce(b.value, 0) + coalesce(h.value, 0) + coalesce(c.value, 0)
         = coalesce(s.value, 0) + coalesce(x.value, 0) AS conserved
  FROM balanced b
  FULL JOIN held h USING (token_id)
  FULL JOIN carried c USING (token_id)
  FULL JOIN supplied s USING (token_id)
  FULL JOIN crossed x USING (token_id)`

interface ValueRow {
  readonly token_id: string
  readonly balanced: string
  readonly held: string
  readonly carried: string
  readonly messages: number
  readonly supplied: string
  readonly crossed: string
  readonly conserved: boolean
}

export class ConservationWatch {
  /** One line a look and asset whose value was not all there, or was too much. */
  readonly faults: string[] = []
  looks = 0
  /** Looks that found value in messages, and in holds: otherwise nothing but balances was put to the test. */
  readonly busy = { messages: 0, holds: 0 }
  private readonly sql: postgres.Sql
  private stopping = false
  private watching: Promise<void> = Promise.resolve()

  constructor(sql: postgres.Sql) {
    this.sql = sql
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
    const rows = await this.sql.unsafe<ValueRow[]>(VALUE)
    this.looks += 1
    if (rows.some(({ messages }) => messages > 0)) this.busy.messages += 1
    if (rows.some(({ held }) => Number(held) > 0)) this.busy.holds += 1
    for (const row of rows) {
      if (row.conserved || this.faults.length >= KEPT_FAULTS) continue
      this.faults.push(`look ${this.looks} at ${new Date().toISOString()}: ${JSON.stringify(row)}`)
    }
  }
}
