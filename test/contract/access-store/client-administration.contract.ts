/** The contract of every AccessStore: lists of clients, and X6 of the port. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClientRecord } from '../../../runtime/ports/access-store.ts'
import { type AccessStoreSubject, aClient, aFamily, hashOf } from './access-store.contract.ts'

const AT_MS = 1_790_000_000_007

export function clientAdministrationContract(name: string, create: () => Promise<AccessStoreSubject>): void {
  describe(`AccessStore, administrators: ${name}`, () => {
    let subject: AccessStoreSubject
    beforeAll(async () => {
      subject = await create()
    })
    afterAll(() => subject.close())

    async function stored(changes: Partial<ClientRecord> = {}): Promise<ClientRecord> {
      const client = aClient(changes)
      await subject.store.putClient(client)
      return client
    }
    const anAdministrator = (changes: Partial<ClientRecord> = {}) => stored({ role: 'admin', ...changes })

    listTests(() => subject)
    makerTests(() => subject, anAdministrator)

    test('a new client is found as it was given, and by edges as a change', async () => {
      const { store, other } = subject
      const maker = await anAdministrator({ boundary: ['USD'], rate: { perSecond: 5, burst: 10 } })
      const { mark } = await other.changesSince(null)
      const client = aClient({ boundary: ['USD'], accounts: ['alice@x', 'shop:*'], rate: { perSecond: 1, burst: 2 } })
      expect(await store.addClient(client, maker)).toBe('created')
      expect(await other.findClient(client.clientId)).toEqual(client)
      expect((await other.changesSince(mark)).changed?.clients).toContain(client.clientId)
    })

    test('a client that exists stays as it is, also a revoked one', async () => {
      const { store, other } = subject
      const maker = await anAdministrator()
      for (const revokedAtMs of [null, AT_MS]) {
        const client = await stored({ revokedAtMs })
        expect(await store.addClient({ ...client, role: 'admin', revokedAtMs: null }, maker)).toEqual({
          exists: client,
        })
        expect(await other.findClient(client.clientId)).toEqual(client)
      }
    })

    test('of concurrent creations under one ID exactly one succeeds', async () => {
      const { store, other } = subject
      const [one, two] = [await anAdministrator(), await anAdministrator()]
      const client = aClient()
      const made = await Promise.all([
        store.addClient({ ...client, role: 'viewer' }, one),
        other.addClient({ ...client, role: 'admin' }, two),
      ])
      const found = await store.findClient(client.clientId)
      expect(made.filter((outcome) => outcome === 'created')).toHaveLength(1)
      expect(made).toContainEqual({ exists: found })
    })

    test('X3: a revoked client keeps the time, has no live session, and is shown as a change', async () => {
      const { store, other } = subject
      const [maker, client] = [await anAdministrator(), await stored({ accounts: ['alice@x'] })]
      const family = aFamily(client.clientId, randomUUID())
      await store.createFamily(family)
      const { mark } = await other.changesSince(null)
      const revoked = { ...client, revokedAtMs: AT_MS }
      expect(await store.endClient(client.clientId, AT_MS, maker)).toEqual(revoked)
      expect(await other.endClient(client.clientId, AT_MS + 1, maker)).toEqual(revoked)
      expect(await other.findAccess(client.clientId, family.sessionId)).toEqual({ client: revoked, sessionLive: false })
      const { changed } = await other.changesSince(mark)
      expect([changed?.clients, changed?.sessions]).toEqual([new Set([client.clientId]), new Set([family.sessionId])])
      expect(await store.endClient(`absent-${randomUUID()}`, AT_MS, maker)).toBe('absent')
    })

    test('X3: whether logins or the revocation come first, nothing of the client lives after both', async () => {
      const { store, other } = subject
      const [maker, client] = [await anAdministrator(), await stored()]
      const tokens = Array.from({ length: 30 }, () => randomUUID())
      const logins = tokens.map((token) => store.createFamily(aFamily(client.clientId, token)))
      await Promise.all([...logins, other.endClient(client.clientId, AT_MS, maker)])
      const exchange = { nextExpiresAtMs: AT_MS + 9_000, atMs: AT_MS, reuseGraceMs: 0 }
      for (const token of tokens) {
        const exchanged = { ...exchange, tokenHash: hashOf(token), nextTokenHash: hashOf(`${token}-2`) }
        expect((await store.rotateFamily(exchanged)).kind).toBe('revoked')
      }
    })
  })
}

function makerTests(
  subject: () => AccessStoreSubject,
  anAdministrator: (changes?: Partial<ClientRecord>) => Promise<ClientRecord>,
): void {
  test('X6: of two administrators that revoke each other at once exactly one succeeds', async () => {
    const { store, other } = subject()
    for (let round = 0; round < 20; round += 1) {
      const [one, two] = [await anAdministrator(), await anAdministrator()]
      const outcomes = await Promise.all([
        store.endClient(two.clientId, AT_MS, one),
        other.endClient(one.clientId, AT_MS, two),
      ])
      expect(outcomes.filter((outcome) => outcome === 'maker_revoked')).toHaveLength(1)
      const both = [await store.findClient(one.clientId), await store.findClient(two.clientId)]
      expect(both.filter((client) => typeof client === 'object' && client.revokedAtMs === null)).toHaveLength(1)
    }
  })

  test('X6: an administrator that was revoked or is absent changes nothing', async () => {
    const { store, other } = subject()
    const [maker, client] = [await anAdministrator(), await anAdministrator()]
    await other.revokeClient(maker.clientId, AT_MS)
    for (const gone of [maker, aClient({ role: 'admin' })]) {
      const added = aClient()
      expect(await store.addClient(added, gone)).toBe('maker_revoked')
      expect(await other.findClient(added.clientId)).toBeUndefined()
      expect(await store.endClient(client.clientId, AT_MS, gone)).toBe('maker_revoked')
      expect(await other.findClient(client.clientId)).toEqual(client)
    }
  })

  const CHANGES: readonly (readonly [string, Partial<ClientRecord>])[] = [
    ['its role', { role: 'transactor' }],
    ['its scope', { accounts: ['alice@x'] }],
    ['its boundary', { boundary: ['USD'] }],
    ['its rate', { rate: { perSecond: 1, burst: 1 } }],
  ]
  test.for(CHANGES)('X6: an administrator changes nothing once %s has changed', async ([, changes]) => {
    const { store, other } = subject()
    const [maker, client] = [await anAdministrator(), await anAdministrator()]
    await other.putClient({ ...maker, ...changes })
    const added = aClient()
    expect(await store.addClient(added, maker)).toBe('maker_changed')
    expect(await other.findClient(added.clientId)).toBeUndefined()
    expect(await store.endClient(client.clientId, AT_MS, maker)).toBe('maker_changed')
    expect(await other.findClient(client.clientId)).toEqual(client)
  })
}

function listTests(subject: () => AccessStoreSubject): void {
  test('X2: pages list every client once, in the order of the IDs, revoked ones too', async () => {
    const { store, other } = subject()
    const prefix = `list-${randomUUID()}`
    const ids = ['A', 'B-2', 'Z', '_', 'a', 'b', '~'].map((end) => `${prefix}-${end}`)
    for (const clientId of ids.toReversed()) await store.putClient(aClient({ clientId }))
    await store.revokeClient(ids[2] ?? '', AT_MS)
    const listed: string[] = []
    let after: string | null = prefix
    for (let pages = 0; pages < 3; pages += 1) {
      const { clients, next } = await other.listClients(after, 3)
      listed.push(...clients.map(({ clientId }) => clientId))
      after = next ?? ''
    }
    expect(listed.filter((clientId) => clientId.startsWith(prefix))).toEqual(ids)
    const [last] = ids.slice(-1)
    const tail = await other.listClients(last ?? '', 3)
    expect(tail).toEqual({ clients: [], next: null })
    expect((await other.listClients(ids[1] ?? null, 1)).clients).toMatchObject([{ revokedAtMs: AT_MS }])
  })
}
