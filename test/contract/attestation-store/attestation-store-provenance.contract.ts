/** The contract of every AttestationStore for the provenance of an NFT: Y5 of the port. */
import { expect, test } from 'vitest'
import type { AttestationStore, ProvenanceEntry, ProvenanceQuery } from '../../../runtime/ports/attestation-store.ts'
import {
  anAttestation,
  aRevocation,
  type AttestationStoreSubject,
  eventsAt,
  newClassId,
  nextSerial,
  type SeededInstance,
  START_MS,
} from './attestation-store-scene.ts'

function anInstance(times: readonly number[], burned = false): SeededInstance {
  return {
    classId: newClassId(),
    instanceId: `item:${nextSerial()}`,
    issuer: 'issuer@mint',
    events: eventsAt(times, burned),
  }
}

function asked(instance: SeededInstance, changes: Partial<ProvenanceQuery> = {}): ProvenanceQuery {
  const { classId, instanceId } = instance
  return { classId, instanceId, maxDepth: 1_000, limit: 1_000, after: null, ...changes }
}

/** Page by page, to the end. */
async function walked(store: AttestationStore, query: ProvenanceQuery): Promise<readonly ProvenanceEntry[]> {
  const entries: ProvenanceEntry[] = []
  let { after } = query
  do {
    const page = await store.provenance({ ...query, after })
    if (page === undefined) throw new Error('the instance is gone')
    expect(page.entries.length).toBeLessThanOrEqual(query.limit)
    expect(page.entries.length).toBeGreaterThan(0)
    entries.push(...page.entries)
    after = page.next
  } while (after !== null)
  return entries
}

function shapeOf(entries: readonly ProvenanceEntry[]): readonly string[] {
  return entries.map((entry) => {
    const who = 'attestation' in entry ? entry.attestation.statement : entry.actor
    return `${entry.depth} ${entry.event} ${who} ${entry.atMs - START_MS}`
  })
}

export function attestationProvenanceTests(subject: () => AttestationStoreSubject): void {
  /** A mint, two transfers and a burn; statements between them, some at the same moments; another instance beside it. */
  async function scene(): Promise<SeededInstance> {
    const { store, seedInstance } = subject()
    const instance = anInstance([START_MS, START_MS + 20, START_MS + 20, START_MS + 90], true)
    const { classId: subjectClass, instanceId: subjectInstance } = instance
    await seedInstance(instance)
    const at = (timeMs: number, statement: string, other = {}) =>
      anAttestation({ subjectClass, subjectInstance, createdAtMs: START_MS + timeMs, statement, ...other })
    const stated = [at(0, 'first'), at(20, 'second'), at(20, 'third'), at(50, 'fourth'), at(95, 'last')]
    for (const attestation of stated) await store.create(attestation, null)
    for (const other of [{ subjectInstance: 'another' }, { subjectClass: newClassId() }]) {
      const elsewhere = at(30, 'elsewhere', other)
      await store.create(elsewhere, null)
      await store.revoke(elsewhere.attestationId, aRevocation({ atMs: START_MS + 40 }))
    }
    const [first, second] = stated
    await store.revoke(second?.attestationId ?? '', aRevocation({ atMs: START_MS + 20 }))
    await store.revoke(first?.attestationId ?? '', aRevocation({ atMs: START_MS + 90, reason: null }))
    return instance
  }

  const WHOLE = [
    '0 mint issuer@mint 0',
    '0 attestation first 0',
    '1 transfer owner-1 20',
    '2 transfer owner-2 20',
    '2 attestation second 20',
    '2 attestation third 20',
    '2 revocation second 20',
    '2 attestation fourth 50',
    '2 burn owner-3 90',
    '2 revocation first 90',
    '2 attestation last 95',
  ]

  function upTo(depth: number): readonly string[] {
    return WHOLE.filter((shape) => Number(shape.split(' ')[0]) <= depth)
  }

  test('Y5: events, attestations and revocations come in the order of time, the mint first', async () => {
    const { store, other } = subject()
    const instance = await scene()
    const page = await store.provenance(asked(instance))
    expect(shapeOf(page?.entries ?? [])).toEqual(WHOLE)
    expect(page?.next).toBeNull()
    const [mint, attested] = page?.entries ?? []
    expect(mint).toEqual({
      depth: 0,
      event: 'mint',
      actor: 'issuer@mint',
      txnId: instance.events[0]?.txnId,
      atMs: START_MS,
    })
    if (attested === undefined || !('attestation' in attested)) throw new Error('an attestation comes second')
    expect(attested.attestation).toEqual(await other.attestation(attested.attestation.attestationId))
  })

  test('D11: depth counts changes of owner: any depth and page size give its entries, each once', async () => {
    const instance = await scene()
    for (const maxDepth of [0, 1, 2, 3, 1_000]) {
      for (const limit of [1, 2, 3, 5, 11, 1_000]) {
        const entries = await walked(subject().store, asked(instance, { maxDepth, limit }))
        expect(shapeOf(entries)).toEqual(upTo(maxDepth))
      }
    }
  })

  test('D11: all attestations of one ownership have one depth, in any number', async () => {
    const { store, seedInstance } = subject()
    const instance = anInstance([START_MS, START_MS + 500])
    const { classId: subjectClass, instanceId: subjectInstance } = instance
    await seedInstance(instance)
    const times = Array.from({ length: 40 }, (_, index) => START_MS + 25 * index)
    for (const createdAtMs of times) {
      await store.create(anAttestation({ subjectClass, subjectInstance, createdAtMs, statement: 'stated' }), null)
    }
    for (const [maxDepth, counts] of [
      [0, [21, 0]],
      [1, [21, 21]],
    ] as const) {
      const entries = await walked(store, asked(instance, { maxDepth, limit: 7 }))
      expect([0, 1].map((depth) => entries.filter((entry) => entry.depth === depth).length)).toEqual(counts)
      expect(entries.map(({ atMs }) => atMs)).toEqual(
        entries.map(({ atMs }) => atMs).sort((left, right) => left - right),
      )
    }
  })

  test('Y5: an instance that is not minted, or not of this class, has no provenance', async () => {
    const { store, seedInstance } = subject()
    const minting = { ...anInstance([]), events: [] }
    await seedInstance(minting, 'minting')
    const minted = anInstance([START_MS])
    await seedInstance(minted)
    for (const instance of [minting, { ...minted, classId: newClassId() }, { ...minted, instanceId: 'other' }]) {
      expect(await store.provenance(asked(instance))).toBeUndefined()
    }
    expect(await store.provenance({ ...asked(minted), instanceId: 'x\0' })).toBeUndefined()
    expect(shapeOf((await store.provenance(asked(minted)))?.entries ?? [])).toEqual(['0 mint issuer@mint 0'])
  })
}
