/** The contract of every AccessStore: X1 to X3 of the port. */
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AccessStore, ClientRecord, RefreshExchange, RefreshFamily } from '../../../runtime/ports/access-store.ts'

export interface AccessStoreSubject {
  readonly store: AccessStore
  /** Another process's store on the same data. */
  readonly other: AccessStore
  readonly close: () => Promise<void>
}

const START_MS = 1_790_000_000_000
const DAY_MS = 86_400_000
const GRACE_MS = 10_000

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

export function aClient(changes: Partial<ClientRecord> = {}): ClientRecord {
  return {
    clientId: `client-${randomUUID()}`,
    secretHash: `hmac-sha256:${'0'.repeat(64)}`,
    publicKey: null,
    role: 'transactor',
    boundary: true,
    accounts: null,
    rate: null,
    createdAtMs: START_MS,
    revokedAtMs: null,
    ...changes,
  }
}

export function aFamily(clientId: string, token: string, changes: Partial<RefreshFamily> = {}): RefreshFamily {
  return {
    sessionId: randomUUID(),
    clientId,
    tokenHash: hashOf(token),
    expiresAtMs: START_MS + 30 * DAY_MS,
    createdAtMs: START_MS,
    ...changes,
  }
}

function exchange(token: string, next: string, changes: Partial<RefreshExchange> = {}): RefreshExchange {
  return {
    tokenHash: hashOf(token),
    nextTokenHash: hashOf(next),
    nextExpiresAtMs: START_MS + 60 * DAY_MS,
    atMs: START_MS + 1_000,
    reuseGraceMs: GRACE_MS,
    ...changes,
  }
}

export function accessStoreContract(name: string, create: () => Promise<AccessStoreSubject>): void {
  describe(`AccessStore: ${name}`, () => {
    let subject: AccessStoreSubject
    beforeAll(async () => {
      subject = await create()
    })
    afterAll(() => subject.close())

    /** A family of a client of its own; `token` names its first token. */
    async function login(): Promise<{
      readonly client: ClientRecord
      readonly family: RefreshFamily
      readonly token: string
    }> {
      const client = aClient()
      const token = randomUUID()
      const family = aFamily(client.clientId, token)
      await subject.store.putClient(client)
      await subject.store.createFamily(family)
      return { client, family, token }
    }

    clientTests(() => subject)

    test('a token is exchanged for its successor, and that for the next', async () => {
      const { store } = subject
      const { client, family, token } = await login()
      const rotated = { kind: 'rotated', sessionId: family.sessionId, clientId: client.clientId }
      expect(await store.rotateFamily(exchange(token, `${token}-2`))).toEqual(rotated)
      expect(await store.rotateFamily(exchange(`${token}-2`, `${token}-3`))).toEqual(rotated)
    })

    test('X5: of many concurrent presentations of one assertion exactly one spends it', async () => {
      const { store, other } = subject
      const assertion = { assertionHash: hashOf(randomUUID()), expiresAtMs: START_MS + 1_000 }
      const spent = await Promise.all([store, other, store, other].map((one) => one.spendAssertion(assertion)))
      expect(spent.filter(Boolean)).toHaveLength(1)
      expect(await other.spendAssertion({ ...assertion, assertionHash: hashOf(randomUUID()) })).toBe(true)
    })

    test('X1: of many concurrent requests with one token exactly one gets a successor, and the family lives on', async () => {
      const { store, other } = subject
      const { token } = await login()
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          (index % 2 === 0 ? store : other).rotateFamily(exchange(token, `${token}-next-${index}`)),
        ),
      )
      const winners = outcomes.flatMap((outcome, index) => (outcome.kind === 'rotated' ? [index] : []))
      expect(winners).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome.kind === 'reused')).toHaveLength(11)
      for (const [index] of outcomes.entries()) {
        const outcome = await store.rotateFamily(exchange(`${token}-next-${index}`, `${token}-last-${index}`))
        expect(outcome.kind).toBe(winners.includes(index) ? 'rotated' : 'unknown')
      }
    })

    test('a used token that comes back within the grace yields nothing, and its family lives on', async () => {
      const { store } = subject
      const { token } = await login()
      await store.rotateFamily(exchange(token, `${token}-2`))
      const again = exchange(token, `${token}-x`, { atMs: START_MS + 1_000 + GRACE_MS })
      expect((await store.rotateFamily(again)).kind).toBe('reused')
      expect((await store.rotateFamily(exchange(`${token}-x`, 'y'))).kind).toBe('unknown')
      expect((await store.rotateFamily(exchange(`${token}-2`, `${token}-3`))).kind).toBe('rotated')
    })

    test('a used token that comes back later revokes its family, however old it is', async () => {
      const { store, other } = subject
      const { family, token } = await login()
      const bystander = await login()
      await store.rotateFamily(exchange(token, `${token}-2`))
      await store.rotateFamily(exchange(`${token}-2`, `${token}-3`))
      const { mark } = await other.changesSince(null)
      const late = START_MS + 1_000 + GRACE_MS + 1
      expect((await store.rotateFamily(exchange(token, `${token}-x`, { atMs: late }))).kind).toBe('reused')
      for (const used of [`${token}-3`, `${token}-2`, token]) {
        expect((await store.rotateFamily(exchange(used, `${token}-y`, { atMs: late }))).kind).toBe('revoked')
      }
      const { changed } = await other.changesSince(mark)
      expect(changed?.sessions).toContain(family.sessionId)
      expect(changed?.sessions).not.toContain(bystander.family.sessionId)
      expect((await store.rotateFamily(exchange(bystander.token, `${bystander.token}-2`))).kind).toBe('rotated')
    })

    test('a token is good up to its expiry, which each rotation moves', async () => {
      const { store } = subject
      const { family, token } = await login()
      const nextExpiresAtMs = family.expiresAtMs + DAY_MS
      const last = { atMs: family.expiresAtMs - 1, nextExpiresAtMs }
      expect((await store.rotateFamily(exchange(token, `${token}-2`, last))).kind).toBe('rotated')
      expect((await store.rotateFamily(exchange(`${token}-2`, `${token}-3`, { atMs: nextExpiresAtMs }))).kind).toBe(
        'expired',
      )
    })

    test('a token that was never issued is unknown', async () => {
      expect(await subject.store.rotateFamily(exchange(randomUUID(), 'x'))).toEqual({ kind: 'unknown' })
    })

    test('X3: revoking a client ends all its families at once and shows them', async () => {
      const { store, other } = subject
      const { client, family, token } = await login()
      const second = aFamily(client.clientId, randomUUID())
      await store.createFamily(second)
      const { mark } = await other.changesSince(null)
      expect(await store.revokeClient(client.clientId, START_MS + 5_000)).toBe(true)
      expect((await other.rotateFamily(exchange(token, `${token}-2`))).kind).toBe('revoked')
      const { changed } = await other.changesSince(mark)
      expect(changed?.clients).toContain(client.clientId)
      for (const { sessionId } of [family, second]) {
        expect(changed?.sessions).toContain(sessionId)
        expect((await other.findAccess(client.clientId, sessionId)).sessionLive).toBe(false)
      }
    })

    test('X3: a family of a revoked or unknown client is revoked from the start', async () => {
      const { store } = subject
      const client = aClient()
      await store.putClient(client)
      await store.revokeClient(client.clientId, START_MS)
      const { mark } = await store.changesSince(null)
      for (const clientId of [client.clientId, 'unknown']) {
        const token = randomUUID()
        const family = aFamily(clientId, token)
        await store.createFamily(family)
        expect((await store.rotateFamily(exchange(token, `${token}-2`))).kind).toBe('revoked')
        expect((await store.changesSince(mark)).changed?.sessions).toContain(family.sessionId)
      }
    })

    test('X3: whether logins or the revocation come first, nothing of the client lives after both', async () => {
      const { store, other } = subject
      const client = aClient()
      await store.putClient(client)
      const tokens = Array.from({ length: 30 }, () => randomUUID())
      const logins = tokens.map((token) => store.createFamily(aFamily(client.clientId, token)))
      await Promise.all([...logins, other.revokeClient(client.clientId, START_MS + 1)])
      for (const token of tokens) {
        expect((await store.rotateFamily(exchange(token, `${token}-2`))).kind).toBe('revoked')
      }
    })
  })
}

function clientTests(subject: () => AccessStoreSubject): void {
  test('X2: an access token’s client and session are found, but no session under another client', async () => {
    const { store, other } = subject()
    const [client, stranger] = [aClient(), aClient()]
    for (const one of [client, stranger]) await store.putClient(one)
    const { sessionId } = aFamily(client.clientId, randomUUID())
    await store.createFamily({ ...aFamily(client.clientId, randomUUID()), sessionId })
    expect(await other.findAccess(client.clientId, sessionId)).toEqual({ client, sessionLive: true })
    expect(await other.findAccess(stranger.clientId, sessionId)).toEqual({ client: stranger, sessionLive: false })
    expect(await other.findAccess(client.clientId, randomUUID())).toEqual({ client, sessionLive: false })
    expect(await other.findAccess('unknown', sessionId)).toEqual({ client: undefined, sessionLive: false })
  })

  test('X2: changes since a mark are returned, and nothing unchanged', async () => {
    const { store, other } = subject()
    const [stays, changes] = [aClient(), aClient()]
    for (const one of [stays, changes]) await store.putClient(one)
    const first = await other.changesSince(null)
    expect(first.changed).toBeNull()
    await store.putClient({ ...changes, role: 'viewer' })
    const second = await other.changesSince(first.mark)
    expect(second.changed?.clients).toContain(changes.clientId)
    expect(second.changed?.clients).not.toContain(stays.clientId)
    const third = await other.changesSince(second.mark)
    expect(third.changed?.clients).not.toContain(changes.clientId)
    await store.revokeClient(changes.clientId, START_MS)
    expect((await other.changesSince(third.mark)).changed?.clients).toContain(changes.clientId)
  })

  test('X2: a client is found as it was stored, by every process', async () => {
    const { store, other } = subject()
    for (const boundary of [true, false, [], ['USD', 'a"b\\c']]) {
      const client = aClient({ boundary, role: 'admin', secretHash: null, publicKey: 'A'.repeat(44) })
      await store.putClient(client)
      expect(await other.findClient(client.clientId)).toEqual(client)
      expect((await other.listClients(null, 1_000)).clients).toContainEqual(client)
    }
    expect(await store.findClient('unknown')).toBeUndefined()
  })

  test('X2: a client’s scope is found as it was stored, and can be changed and taken away', async () => {
    const { store, other } = subject()
    const client = aClient({ accounts: ['alice@scope', 'shop:*', 'Shop:*'] })
    for (const accounts of [client.accounts, ['bob@scope'], [], null, ['alice@scope']]) {
      await store.putClient({ ...client, accounts })
      expect(await other.findClient(client.clientId)).toEqual({ ...client, accounts })
      expect((await other.listClients(null, 1_000)).clients).toContainEqual({ ...client, accounts })
    }
    expect(await store.revokeClient(client.clientId, START_MS)).toBe(true)
    expect(await other.findClient(client.clientId)).toMatchObject({ accounts: ['alice@scope'] })
  })

  test('X2: a client’s rate is found as it was stored; changing it changes nothing else, and revives no client', async () => {
    const { store, other } = subject()
    const client = aClient({ rate: { perSecond: 0.5, burst: 20 } })
    await store.putClient(client)
    const { mark } = await other.changesSince(null)
    for (const rate of [client.rate, 'none', null] as const) {
      expect(await store.setRate(client.clientId, rate)).toEqual({ ...client, rate })
      expect(await other.findClient(client.clientId)).toEqual({ ...client, rate })
    }
    expect((await other.changesSince(mark)).changed?.clients).toContain(client.clientId)
    await store.revokeClient(client.clientId, START_MS)
    await store.setRate(client.clientId, 'none')
    expect(await other.findClient(client.clientId)).toMatchObject({ revokedAtMs: START_MS, rate: 'none' })
    expect(await store.setRate('unknown', null)).toBeUndefined()
  })

  test('X2: putting a client again changes it and keeps when it was made', async () => {
    const { store, other } = subject()
    const client = aClient()
    await store.putClient(client)
    const changed: ClientRecord = { ...client, role: 'viewer', boundary: false, secretHash: 'hmac-sha256:11' }
    await store.putClient({ ...changed, createdAtMs: START_MS + 1 })
    expect(await other.findClient(client.clientId)).toEqual(changed)
  })

  test('X2: a revoked client stays, with the time it was first revoked', async () => {
    const { store, other } = subject()
    const client = aClient()
    await store.putClient(client)
    expect(await store.revokeClient(client.clientId, START_MS + 7)).toBe(true)
    expect(await store.revokeClient(client.clientId, START_MS + 8)).toBe(true)
    expect(await other.findClient(client.clientId)).toEqual({ ...client, revokedAtMs: START_MS + 7 })
    expect(await store.revokeClient('unknown', START_MS)).toBe(false)
  })
}
