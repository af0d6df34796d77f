/** The contract of every AttestationStore: Y1 to Y5 of the port. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attestation, AttestationQuery } from '../../../runtime/ports/attestation-store.ts'
import { attestationProvenanceTests } from './attestation-store-provenance.contract.ts'
import {
  anAttestation,
  aRevocation,
  aSearch,
  type AttestationStoreSubject,
  listed,
  newClassId,
  START_MS,
} from './attestation-store-scene.ts'

const HASH = 'ab'.repeat(32)
const OTHER_HASH = 'cd'.repeat(32)

export function attestationStoreContract(name: string, create: () => Promise<AttestationStoreSubject>): void {
  describe(`AttestationStore: ${name}`, () => {
    let subject: AttestationStoreSubject
    beforeAll(async () => {
      subject = await create()
    })
    afterAll(() => subject.close())

    creationTests(() => subject)
    revocationTests(() => subject)
    listTests(() => subject)
    attestationProvenanceTests(() => subject)
  })
}

function creationTests(subject: () => AttestationStoreSubject): void {
  test('Y1: an attestation is found as it was created, at once, through every store', async () => {
    const { store, other } = subject()
    const bare = { evidenceUrl: null, attesterVerified: false, statement: ' ' }
    for (const attestation of [anAttestation(), anAttestation(bare)]) {
      expect(await store.create(attestation, null)).toEqual({ kind: 'created' })
      for (const one of [other, store]) expect(await one.attestation(attestation.attestationId)).toEqual(attestation)
    }
  })

  test('no unknown ID is found', async () => {
    const { store } = subject()
    for (const id of [anAttestation().attestationId, '', 'att_', 'x\0', "' OR true --"]) {
      expect(await store.attestation(id)).toBeUndefined()
      expect(await store.revoke(id, aRevocation())).toBeUndefined()
    }
  })

  test('Y2: of many under one key one is created, and all others return it', async () => {
    const { store, other } = subject()
    const subjectClass = newClassId()
    const rivals = Array.from({ length: 12 }, (_, number) => anAttestation({ subjectClass, statement: `${number}` }))
    const key = (number: number) => ({ idempotencyKey: 'contested', payloadHash: number % 2 === 0 ? HASH : OTHER_HASH })
    const outcomes = await Promise.all(
      rivals.map((rival, number) => (number % 2 === 0 ? store : other).create(rival, key(number))),
    )
    const winners = rivals.filter((_, number) => outcomes[number]?.kind === 'created')
    expect(winners).toHaveLength(1)
    const [winner = anAttestation()] = winners
    const earlier = { attestation: winner, payloadHash: key(rivals.indexOf(winner)).payloadHash }
    for (const [number, outcome] of outcomes.entries()) {
      expect(outcome).toEqual(rivals[number] === winner ? { kind: 'created' } : { kind: 'repeated', earlier })
    }
    for (const one of [other, store]) expect(await one.submitted('client', 'contested')).toEqual(earlier)
    expect((await store.attestations(aSearch({ subjectClass }))).attestations).toEqual([winner])
  })

  test('Y2: a key is scoped to its client, and a submission without one is always created', async () => {
    const { store } = subject()
    const submittedBy = `client "of' its own`
    const key = { idempotencyKey: 'k', payloadHash: HASH }
    const first = anAttestation({ submittedBy })
    expect(await store.create(first, key)).toEqual({ kind: 'created' })
    expect(await store.create(anAttestation({ submittedBy: 'another' }), key)).toEqual({ kind: 'created' })
    for (const _ of [1, 2]) {
      expect(await store.create(anAttestation({ submittedBy }), null)).toEqual({ kind: 'created' })
    }
    expect(await store.submitted(submittedBy, 'k')).toEqual({ attestation: first, payloadHash: HASH })
    expect(await store.submitted(submittedBy, 'K')).toBeUndefined()
    expect(await store.submitted('unknown', 'k')).toBeUndefined()
  })

  test('Y2: a replay returns the attestation’s present state', async () => {
    const { store } = subject()
    const attestation = anAttestation({ submittedBy: 'revoker' })
    const key = { idempotencyKey: 'then revoked', payloadHash: HASH }
    await store.create(attestation, key)
    const revocation = aRevocation()
    await store.revoke(attestation.attestationId, revocation)
    const earlier = { attestation: { ...attestation, revocation }, payloadHash: HASH }
    expect(await store.create(anAttestation({ submittedBy: 'revoker' }), key)).toEqual({ kind: 'repeated', earlier })
  })
}

function revocationTests(subject: () => AttestationStoreSubject): void {
  test('Y3: of many revocations one stays, and all return it; nothing else changes', async () => {
    const { store, other } = subject()
    const attestation = anAttestation()
    await store.create(attestation, null)
    const bystander = anAttestation()
    await store.create(bystander, null)
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        (number % 2 === 0 ? store : other).revoke(
          attestation.attestationId,
          aRevocation({ by: `client-${number}`, reason: number % 3 === 0 ? null : `reason ${number}` }),
        ),
      ),
    )
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1)
    const revocation = outcomes[0]?.revocation ?? null
    expect(revocation).not.toBeNull()
    expect(await other.attestation(attestation.attestationId)).toEqual({ ...attestation, revocation })
    expect(await store.revoke(attestation.attestationId, aRevocation({ by: 'late' }))).toEqual(outcomes[0])
    expect(await store.attestation(bystander.attestationId)).toEqual(bystander)
  })
}

const CLASSES = [newClassId(), newClassId(), newClassId()]
const INSTANCES = ['bar:1', 'bar:2', 'BAR:1']
const ATTESTERS = ['office@a', 'Prüflabor GmbH & Co. KG, Zürich', 'Office@a']

const FILTERS = fc.record<Partial<AttestationQuery>>(
  {
    subjectClass: fc.constantFrom(...CLASSES, newClassId(), 'x\0'),
    subjectInstance: fc.constantFrom(...INSTANCES, 'none'),
    assetClass: fc.constantFrom(...CLASSES, 'gold  bars', 'GOLD  BARS', 'Straße', 'STRASSE', 'nothing', '', 'a\0b'),
    attester: fc.constantFrom(...ATTESTERS, 'unknown', '\0'),
    status: fc.constantFrom('active', 'revoked', 'ACTIVE', ''),
  },
  { requiredKeys: [] },
)

function listTests(subject: () => AttestationStoreSubject): void {
  const all: Attestation[] = []
  const [gold = '', street = '', masked = ''] = CLASSES
  beforeAll(async () => {
    const { store, seedClass } = subject()
    await seedClass(gold, 'Gold  Bars')
    await seedClass(street, 'Straße')
    // A class may be named like another one's ID: the ID finds the class that has it.
    await seedClass(masked, gold)
    for (let number = 0; number < 120; number += 1) {
      const attestation = anAttestation({
        subjectClass: CLASSES[number % 3] ?? '',
        subjectInstance: INSTANCES[(number >> 2) % 3] ?? '',
        attester: ATTESTERS[(number >> 1) % 3] ?? '',
        createdAtMs: START_MS + 5_000 + (number >> 2),
      })
      const revocation = number % 5 === 0 ? aRevocation() : null
      await store.create(attestation, null)
      if (revocation !== null) await store.revoke(attestation.attestationId, revocation)
      all.push({ ...attestation, revocation })
    }
  })
  const named = new Map([
    ['gold  bars', gold],
    ['GOLD  BARS', gold],
    ['Straße', street],
    ['STRASSE', street],
  ])

  function expected(query: Partial<AttestationQuery>): readonly Attestation[] {
    const holds = (wanted: string | null | undefined, value: string): boolean => (wanted ?? value) === value
    return all
      .filter(
        (one) =>
          holds(query.subjectClass, one.subjectClass) &&
          holds(query.subjectInstance, one.subjectInstance) &&
          holds(query.attester, one.attester) &&
          holds(query.status, one.revocation === null ? 'active' : 'revoked') &&
          holds(named.get(query.assetClass ?? '') ?? query.assetClass, one.subjectClass),
      )
      .sort((left, right) => (left.attestationId < right.attestationId ? 1 : -1))
  }

  test('Y4: any filters, any page size: each match once, newest first', async () => {
    const known = new Set(all.map(({ attestationId }) => attestationId))
    await fc.assert(
      fc.asyncProperty(FILTERS, fc.integer({ min: 1, max: 60 }), async (filters, limit) => {
        const pages = await listed(subject().store, aSearch({ ...filters, limit }))
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit)
        expect(pages.flat().filter(({ attestationId }) => known.has(attestationId))).toEqual(expected(filters))
      }),
      { numRuns: 150 },
    )
  })

  test('a class is found by its ID before any that is named like it', async () => {
    const { store } = subject()
    const page = await store.attestations(aSearch({ assetClass: gold }))
    expect(page.attestations).toEqual(expected({ subjectClass: gold }))
    expect(page.attestations.length).toBeGreaterThan(0)
    const both = await store.attestations(aSearch({ assetClass: 'gold  bars', subjectClass: masked }))
    expect(both).toEqual({ attestations: [], next: null })
  })

  test('Y4: one that arrives is neither skipped nor repeated by a list under way', async () => {
    const { store } = subject()
    const query = aSearch({ attester: 'arriving', limit: 2 })
    const early = Array.from({ length: 5 }, (_, number) =>
      anAttestation({ attester: 'arriving', createdAtMs: START_MS + 9_000 + number }),
    )
    for (const attestation of early) await store.create(attestation, null)
    const first = await store.attestations(query)
    await store.create(anAttestation({ attester: 'arriving', createdAtMs: START_MS + 9_900 }), null)
    const rest = await listed(store, { ...query, after: first.next })
    expect([...first.attestations, ...rest.flat()]).toEqual(early.toReversed())
  })
}
