/** The contract of every AdministrativeChain: N1 to N3 of the port. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainHash, GENESIS } from '../../../actors/audit-chain.ts'
import type {
  AdministrativeChain,
  AdministrativeEntry,
  AdministrativeRecord,
} from '../../../runtime/ports/administrative-chain.ts'

export interface AdministrativeChainSubject {
  readonly chain: AdministrativeChain
  /** Another process's, on the same data. */
  readonly other: AdministrativeChain
  readonly close: () => Promise<void>
}

export const CONTRACT_LEDGER = 'ledger-of-the-contract'

export const ACT: AdministrativeRecord = {
  clientId: 'ops',
  act: 'changeStatus',
  accountId: 'alice',
  details: { status: 'frozen' },
  of: null,
}

/** All entries, read in pages of 7. */
export async function wholeChain(chain: AdministrativeChain): Promise<readonly AdministrativeEntry[]> {
  const found: AdministrativeEntry[] = []
  for (let after: number | null = -1; after !== null;) {
    const page = await chain.entries({ after, limit: 7, accountId: null })
    found.push(...page.entries)
    after = page.next
  }
  return found
}

export function administrativeChainContract(name: string, create: () => Promise<AdministrativeChainSubject>): void {
  describe(`AdministrativeChain: ${name}`, () => {
    let subject: AdministrativeChainSubject
    beforeAll(async () => {
      subject = await create()
    })
    afterAll(() => subject.close())

    test('an empty chain has no entries', async () => {
      const page = await subject.chain.entries({ after: -1, limit: 10, accountId: null })
      expect(page).toEqual({ entries: [], next: null, total: 0 })
    })

    test('N1: an entry says who did which act, and begins the chain', async () => {
      expect(await subject.chain.record(ACT)).toBe(0)
      const { entries, total } = await subject.other.entries({ after: -1, limit: 10, accountId: null })
      expect(total).toBe(1)
      const [entry] = entries
      expect(entry).toMatchObject({ sequence: 0, previousHash: GENESIS })
      const payload = entry?.payload ?? ''
      expect(chainHash(GENESIS, payload)).toBe(entry?.auditHash)
      expect(JSON.parse(payload)).toEqual({
        format: 1,
        type: 'administrative',
        ledger_id: CONTRACT_LEDGER,
        sequence: 0,
        at: expect.stringMatching(/^20\d\d-.*Z$/) as string,
        salt: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        client_id: 'ops',
        act: 'changeStatus',
        account_ref: expect.any(String) as string,
        details: { status: 'frozen' },
        of: null,
      })
      expect(payload).not.toContain('alice')
    })

    test('N1: concurrent writers of two processes get different sequences, and one chain', async () => {
      const { chain, other } = subject
      const before = (await wholeChain(chain)).length
      const given = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 === 0 ? chain : other).record({ ...ACT, accountId: null, details: { index } }),
        ),
      )
      expect(given.toSorted((left, right) => left - right)).toEqual(given.map((_, index) => before + index))
      const entries = await wholeChain(other)
      expect(entries).toHaveLength(before + given.length)
      for (const [index, { sequence, previousHash, auditHash, payload }] of entries.entries()) {
        expect(sequence).toBe(index)
        expect(previousHash).toBe(entries[index - 1]?.auditHash ?? GENESIS)
        expect(auditHash).toBe(chainHash(previousHash, payload ?? ''))
      }
    })

    test('the acts on one account are found, in pages', async () => {
      const { chain } = subject
      const acts = [
        await chain.record({ ...ACT, accountId: 'bob' }),
        await chain.record({ ...ACT, accountId: 'carol' }),
        await chain.record({ ...ACT, accountId: 'bob', of: null }),
      ]
      const first = await chain.entries({ after: -1, limit: 1, accountId: 'bob' })
      expect(first).toMatchObject({ entries: [{ sequence: acts[0] }], next: acts[0] })
      const second = await chain.entries({ after: first.next ?? -1, limit: 1, accountId: 'bob' })
      expect(second).toMatchObject({ entries: [{ sequence: acts[2] }], next: null })
      expect(await chain.entries({ after: -1, limit: 1, accountId: 'nowhere' })).toMatchObject({ entries: [] })
    })
  })
}
