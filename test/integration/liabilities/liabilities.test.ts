/** The liabilities count each unit of value once, in one snapshot, or the run fails (S1-S3). Proofs last for a day. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { accountAddress, groupAddress, tokenAddress } from '../../../actors/address.ts'
import { AssertionUnavailable } from '../../../runtime/ports/assertion-source.ts'
import { RUN_LOCK } from '../../../infra/liabilities/liability-session.ts'
import { runLiabilities } from '../../../infra/liabilities/liability-run.ts'
import { createLiabilitiesLedger, type LiabilitiesLedger, provenBy, provenIn } from './liabilities-ledger.ts'
import type { Owed } from './liabilities-rows.ts'

const GROUP = '4a1c1b1e-6a38-4a9e-8f58-0c8b1e1d2f3a'
const LARGEST = '999999999999999999.999999999999999999'

let ledger: LiabilitiesLedger
beforeEach(async () => {
  ledger = await createLiabilitiesLedger()
})
afterEach(() => ledger.close())

describe('the liabilities', () => {
  test('are zero for an empty ledger, without a proof for any account', async () => {
    const source = ledger.open()
    expect(await source.liabilityProof({ accountId: 'alice', merkleRoot: null, after: null, limit: 9 })).toBe(undefined)
    expect(await source.liabilities()).toMatchObject({ totalLiabilities: '0', byToken: [] })
    expect(await provenBy(source, 'alice')).toEqual({})
  })

  test('are totals by token in the byte order of token IDs, with a proof for each account', async () => {
    await ledger.balance('alice', 'BASE', '10.5')
    await ledger.balance('bob', 'BASE', '0.000000000000000001')
    await ledger.balance('bob', 'a-token', LARGEST)
    await ledger.balance('carol', 'a-token', LARGEST)
    await ledger.balance('dave', 'Z.token', '0')
    await ledger.boundary('BASE', '12', '1.499999999999999999')
    await ledger.boundary('a-token', LARGEST)
    await ledger.boundary('a-token', '7', '7')
    await ledger.token('a-token', LARGEST)
    await ledger.token('Z.token', '0')
    await ledger.token('unborn', '1000', 'preparing')
    const source = ledger.open()
    const found = await source.liabilities()
    expect(found.byToken).toEqual([
      { tokenId: 'BASE', total: '10.500000000000000001' },
      { tokenId: 'a-token', total: '1999999999999999999.999999999999999998' },
    ])
    expect(found.totalLiabilities).toBe('2000000000000000010.499999999999999999')
    expect(await provenBy(source, 'alice')).toEqual({ BASE: '10.5' })
    expect(await provenBy(source, 'bob')).toEqual({ BASE: '0.000000000000000001', 'a-token': LARGEST })
    expect(await provenBy(source, 'dave')).toEqual({})
  })

  test('S1: count value in transit once, for the receiving account', async () => {
    // A transfer of 25 from Alice to Bob: credited to Bob and not yet debited. A leg of an open group has 5 of Alice.
    await ledger.balance('alice', 'GOLD', '70')
    await ledger.hold('alice', 'GOLD', '5')
    await ledger.balance('bob', 'GOLD', '25')
    await ledger.message(accountAddress('alice'), ['GOLD', '-25'])
    // A mint that is not yet credited; a mint that is credited first; a burn that the token has not processed.
    await ledger.message(accountAddress('carol'), ['GOLD', '10'])
    await ledger.balance('dave', 'GOLD', '4')
    await ledger.message(tokenAddress('gold'), ['GOLD', '-4'])
    await ledger.message(tokenAddress('gold'), ['GOLD', '3'])
    // The messages of an exchange carry both values.
    await ledger.balance('erin', 'GOLD', '8')
    await ledger.balance('frank', 'BASE', '2')
    await ledger.message(accountAddress('erin'), ['GOLD', '-8'], ['BASE', '2'])
    await ledger.message(accountAddress('frank'), ['GOLD', '8'], ['BASE', '-2'])
    await ledger.token('GOLD', '92')
    await ledger.boundary('GOLD', '10', '6')
    await ledger.boundary('BASE', '2')
    const source = ledger.open()
    expect((await source.liabilities()).byToken).toEqual([
      { tokenId: 'BASE', total: '2' },
      { tokenId: 'GOLD', total: '97' },
    ])
    const holders = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank']
    const proven = await Promise.all(holders.map(async (accountId) => [accountId, await provenBy(source, accountId)]))
    expect(Object.fromEntries(proven)).toEqual({
      alice: { GOLD: '50' },
      bob: { GOLD: '25' },
      carol: { GOLD: '10' },
      dave: { GOLD: '4' },
      erin: { BASE: '2' },
      frank: { GOLD: '8' },
    })
  })

  test('S1: count value on hold once, for its payer', async () => {
    await ledger.balance('alice', 'BASE', '5')
    await ledger.paymentHold('alice', 'BASE', '3')
    // A capture of 1 that the payer has paid and the beneficiary has not received.
    await ledger.message(accountAddress('bob'), ['BASE', '1'])
    await ledger.boundary('BASE', '6')
    const source = ledger.open()
    expect(await source.liabilities()).toMatchObject({ totalLiabilities: '6' })
    expect([await provenBy(source, 'alice'), await provenBy(source, 'bob')]).toEqual([{ BASE: '5' }, { BASE: '1' }])
  })

  test('S1: do not include processed messages', async () => {
    await ledger.balance('alice', 'BASE', '5')
    await ledger.message(accountAddress('alice'), ['BASE', '5'])
    await ledger.boundary('BASE', '5')
    await ledger.deliverAll()
    expect(await ledger.open().liabilities()).toMatchObject({ totalLiabilities: '5' })
    await ledger.message(accountAddress('alice'), ['BASE', '1'])
    await expect(ledger.open().liabilities()).rejects.toThrow(AssertionUnavailable)
    await ledger.boundary('BASE', '1')
    expect(await ledger.open().liabilities()).toMatchObject({ totalLiabilities: '6' })
  })

  test('S1: include value in transit to other actors in the total, under no account', async () => {
    await ledger.balance('alice', 'BASE', '5')
    await ledger.message(groupAddress(GROUP), ['BASE', '2'])
    await ledger.boundary('BASE', '7')
    const source = ledger.open()
    expect(await source.liabilities()).toMatchObject({ totalLiabilities: '7' })
    expect(await provenBy(source, 'alice')).toEqual({ BASE: '5' })
    expect(await provenBy(source, GROUP)).toEqual({})
  })

  test('S2: reconcile in every snapshot of a ledger under load', async () => {
    const holders = Array.from({ length: 200 }, (_, index) => `account-${index}`)
    const held = new Map(holders.map((accountId) => [accountId, 100]))
    const owed = (...accountIds: readonly string[]): readonly Owed[] =>
      accountIds.map((accountId) => [accountId, 'BASE', String(held.get(accountId))])
    await ledger.balances(owed(...holders), { tokenId: 'BASE', credited: '20000', debited: '0' })
    const source = ledger.open()
    const moving = new AbortController()
    const move = (accountId: string, by: number): void => void held.set(accountId, (held.get(accountId) ?? 0) + by)
    const mover = (async () => {
      for (let round = 0; !moving.signal.aborted; round += 1) {
        const [from, to] = [`account-${round % 200}`, `account-${(round * 7 + 3) % 200}`]
        move(from, -0.25)
        move(to, 0.25)
        await ledger.balances(owed(...new Set([from, to])))
        // A credit writes two tables in one commit.
        move(to, 1)
        await ledger.balances(owed(to), { tokenId: 'BASE', credited: '1', debited: '0' })
      }
    })()
    const totals: number[] = []
    for (let look = 0; look < 20; look += 1) totals.push(Number((await source.liabilities()).totalLiabilities))
    moving.abort()
    await mover
    expect(totals.at(-1)).toBeGreaterThan(20_000)
    expect(totals).toEqual([...totals].sort((one, other) => one - other))
  })
})

describe('proofs', () => {
  async function fill(accounts: number): Promise<void> {
    const numbers = Array.from({ length: accounts }, (_, index) => index + 1)
    const credited = String(numbers.reduce((sum, number) => sum + number * 1.25, 0))
    await ledger.balances(
      numbers.map((number) => [`account-${number}`, 'BASE', String(number * 1.25)]),
      { tokenId: 'BASE', credited, debited: '0' },
    )
  }

  test.for([2, 3])('accounts of a large tree have a proof of their balance in %i shares', async (sharesEach) => {
    await fill(3_000)
    const source = ledger.open({ limits: { sharesEach } })
    await source.liabilities()
    for (const number of [1, 2, 999, 1_000, 2_048, 2_999, 3_000]) {
      const accountId = `account-${number}`
      const proof = await source.liabilityProof({ accountId, merkleRoot: null, after: null, limit: 5 })
      if (proof === undefined) throw new Error('there is no proof')
      expect(provenIn(accountId, proof)).toEqual({ BASE: String(number * 1.25) })
      expect(proof.proofs[0]?.shares).toHaveLength(sharesEach)
    }
    expect(await provenBy(source, 'account-3001')).toEqual({})
  })

  test('the proof of an account with many tokens has pages, all of the requested run', async () => {
    const names = Array.from({ length: 45 }, (_, index) => `T${String(index).padStart(2, '0')}`)
    const share = (rich: string, poor: string): readonly Owed[] =>
      names.flatMap((tokenId): readonly Owed[] => [
        ['rich', tokenId, rich],
        ['poor', tokenId, poor],
      ])
    await ledger.balances(share('3', '1'))
    for (const tokenId of names) await ledger.boundary(tokenId, '4')
    const source = ledger.open()
    const { merkleRoot } = await source.liabilities()
    await ledger.balances(share('1', '3'))
    await source.liabilities()
    const proven: string[] = []
    let after: string | null = null
    do {
      const page: Awaited<ReturnType<typeof source.liabilityProof>> = await source.liabilityProof({
        accountId: 'rich',
        merkleRoot,
        after,
        limit: 20,
      })
      if (page === undefined) throw new Error('there is no proof')
      expect(new Set(Object.values(provenIn('rich', page)))).toEqual(new Set(['3']))
      expect(page.proofs.length).toBeLessThanOrEqual(20)
      proven.push(...page.proofs.map(({ tokenId }) => tokenId))
      after = page.next
    } while (after !== null)
    expect(proven).toEqual(names)
    expect(await provenBy(source, 'poor')).toEqual(Object.fromEntries(names.map((tokenId) => [tokenId, '3'])))
  })

  test('two runs of the same ledger share no hash, so that an account cannot be recognized', async () => {
    await fill(300)
    const source = ledger.open()
    const seen: Set<string>[] = []
    for (let run = 0; run < 2; run += 1) {
      await source.liabilities()
      const proof = await source.liabilityProof({ accountId: 'account-7', merkleRoot: null, after: null, limit: 1 })
      const shares = proof?.proofs[0]?.shares ?? []
      seen.push(new Set(shares.flatMap(({ siblings, nonce }) => [nonce, ...siblings.map(({ hash }) => hash)])))
    }
    const [one = new Set(), other = new Set()] = seen
    expect(Math.min(one.size, other.size)).toBeGreaterThan(10)
    expect([...one].filter((text) => other.has(text))).toEqual([])
  })

  test('stored pages contain no account ID in plain text, and are refused in another place', async () => {
    await fill(300)
    const source = ledger.open()
    await source.liabilities()
    const rows = await ledger.sql<{ page: Buffer }[]>`
      SELECT page FROM liability_pages UNION ALL SELECT document FROM liability_runs`
    expect(rows.length).toBeGreaterThan(8)
    for (const { page } of rows) expect(page.includes(Buffer.from('account-'))).toBe(false)
    await ledger.sql`
      UPDATE liability_pages p SET page = q.page FROM liability_pages q
       WHERE p.kind = 1 AND q.kind = 1 AND q.number = CASE p.number WHEN 0 THEN 1 WHEN 1 THEN 0 ELSE p.number END`
    const proofs = await Promise.allSettled(
      Array.from({ length: 300 }, (_, index) => provenBy(source, `account-${index + 1}`)),
    )
    const refused = proofs.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(50)
    for (const one of refused) expect(one).toMatchObject({ reason: { name: 'AssertionUnavailable' } })
  })

  test('a run is kept for a day after its last use, and the next run removes it', async () => {
    await fill(300)
    const source = ledger.open()
    const old = await source.liabilities()
    const asked = { accountId: 'account-1', merkleRoot: old.merkleRoot, after: null, limit: 1 }
    await ledger.sql`UPDATE liability_runs SET used_at = now() - interval '23 hours 59 minutes'`
    expect((await source.liabilityProof(asked))?.proofs).toHaveLength(1)
    await ledger.sql`UPDATE liability_runs SET used_at = now() - interval '24 hours 1 second'`
    expect(await source.liabilityProof(asked)).toBe(undefined)
    // An incomplete run, whose process died.
    await ledger.sql`INSERT INTO liability_runs (as_of) VALUES (now())`
    await ledger.sql`INSERT INTO liability_pages SELECT max(run_id), 1, 0, '' FROM liability_runs`
    await source.liabilities()
    expect(await ledger.sql`SELECT DISTINCT run_id FROM liability_pages`).toHaveLength(1)
    expect(await ledger.sql`SELECT FROM liability_runs`).toHaveLength(1)
  })
})

describe('runs', () => {
  beforeEach(async () => {
    await ledger.balance('alice', 'BASE', '5')
    await ledger.boundary('BASE', '5')
  })

  test('R2: concurrent requests share a run that begins after each of them', async () => {
    const source = ledger.open()
    const first = source.liabilities()
    await expect.poll(() => ledger.begun()).toBe(1)
    const others = Array.from({ length: 20 }, () => source.liabilities())
    const [one, ...shared] = await Promise.all([first, ...others])
    expect(ledger.begun()).toBe(2)
    expect(new Set(shared.map(({ merkleRoot }) => merkleRoot)).size).toBe(1)
    expect(shared[0]?.asOfMs).toBeGreaterThanOrEqual(one.asOfMs)
    expect(shared[0]?.merkleRoot).not.toBe(one.merkleRoot)
  })

  test('R1, R2: processes take turns, and waiting processes share one run', async () => {
    const release = await holdRuns()
    const answers = Array.from({ length: 4 }, () => ledger.open().liabilities())
    await expect.poll(waitingRuns).toBe(4)
    await release()
    const roots = new Set((await Promise.all(answers)).map(({ merkleRoot }) => merkleRoot))
    expect(roots.size).toBe(1)
    expect(await ledger.sql`SELECT FROM liability_runs`).toHaveLength(1)
  })

  test('R3: a run that loses its connection fails, releases its locks, and the next run removes its rows', async () => {
    const source = ledger.open()
    const lock = await ledger.sql.reserve()
    await lock`BEGIN`
    await lock`LOCK TABLE liability_pages IN ACCESS EXCLUSIVE MODE`
    const answer = source.liabilities()
    answer.catch(() => undefined)
    await expect
      .poll(
        () => ledger.sql`
          SELECT FROM pg_stat_activity WHERE application_name = 'ledger:liabilities' AND wait_event_type = 'Lock'`,
      )
      .toHaveLength(1)
    await ledger.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledger:liabilities'`
    await expect(answer).rejects.toThrow(AssertionUnavailable)
    await lock`ROLLBACK`
    lock.release()
    // The server process replies before it ends.
    await expect.poll(waitingRuns).toBe(0)
    expect(await ledger.sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 3596607903`).toHaveLength(0)
    expect(await source.liabilities()).toMatchObject({ totalLiabilities: '5' })
    expect(await ledger.sql`SELECT FROM liability_runs`).toHaveLength(1)
  })

  test('a page that cannot be stored fails the run', async () => {
    await ledger.sql`ALTER TABLE liability_pages ADD CHECK (kind <> 0)`
    await expect(ledger.open().liabilities()).rejects.toThrow(AssertionUnavailable)
    expect(ledger.logged).toEqual(['warn liabilities_failed'])
  })

  test('an unreachable database fails the run with AssertionUnavailable', async () => {
    const source = ledger.open({
      run: (task) => runLiabilities({ ...task, url: 'postgres://nobody@127.0.0.1:1/none' }),
    })
    await expect(source.liabilities()).rejects.toThrow(AssertionUnavailable)
    expect(ledger.logged).toEqual(['warn liabilities_failed'])
  })

  test('a run beyond the limit of balances is refused', async () => {
    await ledger.balance('bob', 'BASE', '1')
    await ledger.boundary('BASE', '1')
    await expect(ledger.open({ limits: { maxRows: 1 } }).liabilities()).rejects.toMatchObject({
      name: 'AssertionUnavailable',
      exceeded: { kind: 'balances', balances: 2, maxBalances: 1 },
    })
    expect(ledger.logged).toContain('error liability_limit_exceeded')
    expect(await ledger.open({ limits: { maxRows: 2 } }).liabilities()).toMatchObject({ totalLiabilities: '6' })
  })

  test('frequent requests get the latest run again once the stored runs reach their capacity', async () => {
    const source = ledger.open({ limits: { capacityBytes: 1_000 } })
    const found = []
    for (let round = 0; round < 8; round += 1) found.push(await source.liabilities())
    const roots = new Set(found.map(({ merkleRoot }) => merkleRoot))
    expect(roots.size).toBeGreaterThan(1)
    expect(roots.size).toBeLessThan(6)
    expect(await ledger.sql`SELECT FROM liability_runs`).toHaveLength(roots.size)
    expect(found.at(-1)).toEqual(found.at(-2))
    expect(ledger.logged).toContain('info liabilities_given_again')
    await ledger.sql`UPDATE liability_runs SET as_of = as_of - interval '12 hours'`
    expect((await source.liabilities()).merkleRoot).not.toBe(found.at(-1)?.merkleRoot)
  })

  test('a run is removed after a day without a request; recent runs and the one in progress are not', async () => {
    await ledger.open().liabilities()
    const kept = (): Promise<unknown> => ledger.sql`SELECT count(*)::integer AS runs FROM liability_runs`
    const letGo = await holdRuns()
    try {
      ledger.open({ removeEveryMs: 5 })
      await ledger.sql`INSERT INTO liability_runs (as_of) VALUES (now())`
      const looked = new Set<number>()
      const look = async (): Promise<number> => {
        const rows = await ledger.sql<{ pid: number }[]>`
          SELECT pid FROM pg_stat_activity WHERE application_name = 'ledger liability removal'`
        for (const { pid } of rows) looked.add(pid)
        return looked.size
      }
      await expect.poll(look).toBeGreaterThan(2)
      expect(await kept()).toEqual([{ runs: 2 }])
    } finally {
      await letGo()
    }
    await expect.poll(kept).toEqual([{ runs: 1 }])
    await ledger.sql`UPDATE liability_runs SET used_at = now() - interval '24 hours 1 second'`
    await expect.poll(kept).toEqual([{ runs: 0 }])
    expect(await ledger.sql`SELECT FROM liability_pages`).toHaveLength(0)
    expect(ledger.logged).toEqual([])
  })

  /** Counts runs that hold or await the lock. A connected run may not have read its time limit yet. */
  async function waitingRuns(): Promise<number> {
    const rows = await ledger.sql`SELECT FROM pg_stat_activity
       WHERE application_name = 'ledger:liabilities' AND query LIKE '%pg_try_advisory_lock%'`
    return rows.length
  }

  /** Takes the lock of runs, as a run of another process does. */
  async function holdRuns(): Promise<() => Promise<void>> {
    const holder = await ledger.sql.reserve()
    await holder`SELECT pg_advisory_lock(${RUN_LOCK}::bigint)`
    return async () => {
      await holder`SELECT pg_advisory_unlock(${RUN_LOCK}::bigint)`
      holder.release()
    }
  }
})
