/** What every AttestationStore must say of what became of an NFT: Y5 of the port. */
import { expect, test } from 'vitest'
import type { AttestationStore, ProvenanceEntry, ProvenanceQuery } from '../../runtime/ports/attestation-store.ts'
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
    '1 attestation first 0',
    '2 transfer owner-1 20',
    '3 transfer owner-2 20',
    '4 attestation second 20',
    '5 attestation third 20',
    '6 revocation second 20',
    '7 attestation fourth 50',
    '8 burn owner-3 90',
    '9 revocation first 90',
    '10 attestation last 95',
  ]

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

  test('any depth and any page size: entries up to the depth, each once, numbered through', async () => {
    const instance = await scene()
    for (const maxDepth of [0, 1, 3, 9, 10, 11, 1_000]) {
      for (const limit of [1, 2, 5, 11, 1_000]) {
        const entries = await walked(subject().store, asked(instance, { maxDepth, limit }))
        expect(shapeOf(entries)).toEqual(WHOLE.slice(0, maxDepth + 1))
      }
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
