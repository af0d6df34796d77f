/**
 * Goal: one submission that the database will not take is refused, alone, and stops nobody else.
 * The poison is made in the database itself: a trigger refuses every statement that would insert a marked transaction,
 * and notes, where no rollback reaches, how many others such a statement carried.
 */
import postgres from 'postgres'
import { describe, expect, test } from 'vitest'
import { membersOf, textOf } from '../support/client.ts'
import { type Cluster, until } from '../support/cluster-process.ts'
import type { GetRunning } from './running.ts'

/** What a transaction is about is sealed; the group that it is linked to is not. */
const MARKER = '0b5e55ed-6a38-4a9e-8f58-0c8b1e1d2f3a'
const ACCOUNTS = 120
/** Submissions sent ahead, so many that every node gets some. */
const DOORS = 20
const DEADLINE_MS = 4_000
const SHARED_MS = 60_000
/** Looks one after another that see the same: more than two rounds of placing shards take. */
const STILL_LOOKS = 60

/** `code`: the SQLSTATE that the statement fails with. */
const trap = (code: string): string => `
CREATE SEQUENCE poisoned_batch MINVALUE 0 START 0;
CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM arriving WHERE group_id = '${MARKER}') THEN
    PERFORM setval('poisoned_batch', greatest((SELECT last_value FROM poisoned_batch), (SELECT count(*) FROM arriving)));
    RAISE EXCEPTION USING ERRCODE = '${code}', MESSAGE = 'poison';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER refuse_poison AFTER INSERT ON transactions REFERENCING NEW TABLE AS arriving
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_poison();
`
const NO_TRAP = `
DROP FUNCTION IF EXISTS refuse_poison CASCADE;
DROP SEQUENCE IF EXISTS poisoned_batch;
`

export function poisonSuite(running: GetRunning): void {
  describe('poison', () => {
    // A value that PostgreSQL does not take; a rule that an operator has added by a trigger.
    const codes = ['22023', 'P0001']
    test.for(codes)(
      'a submission that the database refuses (%s) is refused alone: others of its batch are applied, no shard changes hands',
      async (code) => {
        const { client, cluster } = running()
        const holders = await Promise.all(
          Array.from({ length: ACCOUNTS }, (_, number) => client.register(`neighbour-${number}-${code}@poison`)),
        )
        const poisoner = await client.register(`poisoner-${code}@poison`)
        const poison = { amount: '3', type: 'credit', idempotency_key: 'poison', group_id: MARKER }
        const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
        try {
          await shared(sql, cluster)
          const ownersBefore = await sql`SELECT shard_id, epoch, attempt, session FROM shards ORDER BY shard_id`
          await sql.unsafe(trap(code))
          const good = { amount: '2', type: 'credit', idempotency_key: 'good' }
          const doors = holders.slice(0, DOORS)
          // While the table is locked the commits of the first ones wait, and what comes behind them gathers.
          const { first, rest } = await sql.begin(async (locked) => {
            await locked`LOCK TABLE transactions IN SHARE ROW EXCLUSIVE MODE`
            const ahead = doors.map((holder) => client.submit(holder, good))
            await until('each node has a commit that waits', DEADLINE_MS, async () => {
              const [waiting] = await locked<[{ count: number }]>`
              SELECT count(*)::integer AS count FROM pg_locks WHERE relation = 'transactions'::regclass AND NOT granted`
              return waiting.count === cluster.heads('node').length
            })
            const behind = [
              client.submit(poisoner, poison),
              ...holders.slice(DOORS).map((holder) => client.submit(holder, good)),
              client.submit(poisoner, good),
            ]
            // The edge has passed on what it got before it answers what it gets after.
            await Promise.all(doors.map(({ accountId }) => client.read(`/v1/accounts/${accountId}`)))
            return { first: ahead, rest: behind }
          })
          const [refused, ...others] = await Promise.all(rest)
          const replies = [...(await Promise.all(first)), ...others]
          const [batch] = await sql<[{ last_value: string }]>`SELECT last_value FROM poisoned_batch`
          // Only if the poison travelled with others does the rest of this test say anything.
          expect(Number(batch.last_value)).toBeGreaterThan(1)
          expect([refused?.status, refused?.headers['content-type']]).toEqual([400, 'application/problem+json'])
          expect(refused?.body).not.toContain(code)
          expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 202))
          for (const reply of replies) {
            const detail = await client.read(`/v1/transactions/${textOf(membersOf(reply), 'txn_id')}`)
            expect(detail['status']).toBe('completed')
          }
          const ownersAfter = await sql`SELECT shard_id, epoch, attempt, session FROM shards ORDER BY shard_id`
          expect([...ownersAfter]).toEqual([...ownersBefore])
          const found = await client.read(`/v1/transactions?account_id=${poisoner.accountId}&idempotency_key=poison`)
          expect(found['transactions']).toEqual([])
          await sql.unsafe(NO_TRAP)
          // A refusal uses no key up: once the database takes it, so does the ledger.
          const accepted = await client.submit(poisoner, poison)
          expect([accepted.status, accepted.headers['idempotency-replayed']]).toEqual([202, undefined])
          expect(await client.read(`/v1/accounts/${poisoner.accountId}/balances/BASE`)).toMatchObject({ balance: '5' })
        } finally {
          await sql.unsafe(NO_TRAP)
          await sql.end()
        }
      },
    )
  })
}

/** A node that joined late is still being given shards, which is no poison's doing. */
async function shared(sql: postgres.Sql, cluster: Cluster): Promise<void> {
  const nodes = cluster.heads('node').length
  const looks: string[] = []
  await until('no shard is on its way between nodes', SHARED_MS, async () => {
    const owners = await sql<{ session: string | null; epoch: string }[]>`
      SELECT session, epoch FROM shards ORDER BY shard_id`
    looks.push(JSON.stringify(owners))
    const [now, ...before] = looks.slice(-STILL_LOOKS).reverse()
    const isStill = before.length === STILL_LOOKS - 1 && before.every((look) => look === now)
    return isStill && new Set(owners.map(({ session }) => session)).size === nodes
  })
}
