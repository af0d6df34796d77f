/** A token with very many mints and burns does not abort an audit. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Finding } from '../../../runtime/audit/finding.ts'
import { type AuditReads, createAuditReads, type Moment, MomentTooLong } from '../../../infra/audit/audit-reads.ts'
import { checkTokens, MOMENT_MOVES, tokensWalk } from '../../../infra/audit/walk-tokens.ts'
import { vaultOf } from '../../support/postgres/ledger-database.ts'
import { createTampered, type DatabaseCopy, type Tampered } from '../../support/postgres/tampering.ts'
import { changeActors } from '../../support/postgres/tampering-with-keys.ts'

let tampered: Tampered

beforeAll(async () => {
  tampered = await createTampered(async (_ledger, parties, { alice }) => {
    await parties.issue('amber-one', alice.accountId, '10')
    await parties.atRest()
  })
})
afterAll(() => tampered?.close())

/** Adds failed burns, which do not change the supply, up to the limit of one snapshot. */
function manyBurns({ sql }: DatabaseCopy): Promise<unknown> {
  return sql.unsafe(`
    CREATE TEMPORARY TABLE burn AS SELECT * FROM transactions WHERE type = 'burn' AND token_id = 'GOLD-one' LIMIT 1;
    UPDATE burn SET status = 'failed', sequence = NULL, previous_hash = NULL, audit_hash = NULL;
    INSERT INTO transactions
    SELECT (jsonb_populate_record(b, jsonb_build_object('txn_id', 'txn_ZZ' || n, 'idempotency_key', n::text))).*
      FROM burn b, generate_series(1, ${MOMENT_MOVES}) n`)
}

interface Judged {
  /** The kind of each snapshot, and its tokens. */
  readonly moments: readonly (readonly [of: 'moment' | 'whole moment', tokenIds: string])[]
  readonly findings: readonly Finding[]
}

/** Runs the whole walk. Snapshots of the token `late` exceed their timeout. */
async function judged(copy: DatabaseCopy, late?: string): Promise<Judged> {
  return reading(copy, async (reads) => {
    const moments: (readonly ['moment' | 'whole moment', string])[] = []
    const watched =
      (of: 'moment' | 'whole moment', take: AuditReads['moment']): AuditReads['moment'] =>
      (work) =>
        take((moment) => {
          const inBatches: Moment['inBatches'] = async (text, parameters, rows) => {
            const [tokenIds = ''] = parameters
            if (parameters.length > 0) moments.push([of, String(tokenIds).replaceAll('"', '')])
            if (late !== undefined && String(tokenIds).includes(late)) await outlast(moment)
            await moment.inBatches(text, parameters, rows)
          }
          return work({ ...moment, inBatches })
        })
    const look = {
      ...reads,
      moment: watched('moment', reads.moment),
      wholeMoment: watched('whole moment', reads.wholeMoment),
      receiptProblem: () => undefined,
      countBelow: null,
    }
    const findings: Finding[] = []
    for (let cursor: { readonly id: string } | null = tokensWalk.start; cursor !== null;) {
      const step: Awaited<ReturnType<typeof tokensWalk.step>> = await tokensWalk.step(look, cursor)
      findings.push(...step.findings)
      cursor = step.next
    }
    const named = await checkTokens(look, ['amber-one', 'gold-one', 'silver-one'])
    expect(named).toEqual(findings)
    return { moments, findings }
  })
}

/** Exceeds the statement timeout. */
async function outlast({ query }: Moment): Promise<void> {
  await query('SET LOCAL statement_timeout = 1')
  await query('SELECT pg_sleep(60)')
}

async function reading<T>({ url }: DatabaseCopy, work: (reads: AuditReads) => Promise<T>): Promise<T> {
  const reads = createAuditReads(url, 'audit test', await vaultOf(url))
  try {
    return await work(reads)
  } finally {
    await reads.close()
  }
}

test('K2: one snapshot checks all tokens with few mints and burns', async () => {
  const { moments, findings } = await tampered.onCopy((copy) => judged(copy))
  expect(findings).toEqual([])
  const once = ['moment', '{amber-one,GOLD-one,silver-one}']
  expect(moments).toEqual([once, once])
})

test('K2: a token with more mints and burns than the limit has a snapshot of its own', async () => {
  const { moments, findings } = await tampered.onCopy(async (copy) => {
    await manyBurns(copy)
    return judged(copy)
  })
  expect(findings).toEqual([])
  const once = [
    ['moment', '{amber-one}'],
    ['whole moment', '{GOLD-one}'],
    ['moment', '{silver-one}'],
  ]
  expect(moments).toEqual([...once, ...once])
})

test('K3: a token whose check exceeds the timeout has a finding, and the following tokens are checked', async () => {
  const { findings } = await tampered.onCopy(async (copy) => {
    await manyBurns(copy)
    await changeActors('token', (token) => (token.id === 'silver-one' ? { ...token, totalSupply: '1' } : undefined))(
      copy,
    )
    return judged(copy, 'GOLD-one')
  })
  expect(findings.map(({ place, problem }) => `${place}: ${problem}`)).toEqual([
    'token gold-one: it takes too long to add up',
    'token silver-one: it is not what was minted and not burned',
  ])
})

test('R1: a snapshot that exceeds its timeout has an error of its own', async () => {
  await tampered.onCopy((copy) =>
    reading(copy, async ({ moment }) => {
      await expect(moment(outlast)).rejects.toBeInstanceOf(MomentTooLong)
      const failing = moment(({ query }) => query('SELECT 1 / 0'))
      await expect(failing).rejects.toMatchObject({ name: 'AuditUnavailable' })
    }),
  )
})
