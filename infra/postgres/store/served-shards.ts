import { GIVEN_UP_AFTER_MS } from '../../../runtime/node/ownership/shard-state.ts'
import type { Sql } from '../connection/connection.ts'

/** Whether any shard has an owner and is not `unavailable`. A read-only server serves none. */
export async function anyShardServed(sql: Sql): Promise<boolean> {
  const [found] = await sql<{ readonly served: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM shards s
        LEFT JOIN sessions n ON n.session = s.session
       WHERE s.session IS NOT NULL AND current_setting('transaction_read_only') = 'off'
         AND coalesce(n.probed_at, s.updated_at) > now() - ${GIVEN_UP_AFTER_MS}::float8 * interval '1 ms'
    ) AS served`
  return found?.served === true
}
