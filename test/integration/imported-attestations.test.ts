/** Imported attestations on PostgreSQL: A1 (this ledger signs them) and A2 (no client owns them). */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ExportedAttestation } from '../../api/schemas/requests/export-records.ts'
import { parseTimestamp } from '../../actors/timestamp.ts'
import { attestationMembers, sealAttestation } from '../../api/views/attestation-views.ts'
import type { PinnedKey } from '../../infra/config/trusted-ledgers.ts'
import { createImportedAttestations, type ImportedAttestations } from '../../infra/portability/import-attestations.ts'
import { checkPart } from '../../infra/portability/import-part.ts'
import { createAttestationStore } from '../../infra/postgres/access/attestation-store-postgres.ts'
import { CLIENT_ID_FORM } from '../../runtime/ports/access-store.ts'
import type { Attestation, AttestationStore } from '../../runtime/ports/attestation-store.ts'
import { Closing } from '../support/closing.ts'
import { createLedgerDatabase, vaultOf } from '../support/postgres/ledger-database.ts'
import { createFakeServiceKeys } from '../unit/api/fakes/fake-service-keys.ts'
import { createKeys, ledgerBody, SOURCE } from '../unit/portability/export-scene.ts'
import { anAttestation, contextOf, fileOf, given } from '../unit/portability/import-scene.ts'

/** Later than the imported attestations: the keys of this ledger are younger than these. */
const NOW_MS = 1_790_000_000_000

const theirs = createKeys()
const ours = createFakeServiceKeys(NOW_MS - 1_000)

let closing: Closing
let store: AttestationStore
let imported: ImportedAttestations

beforeEach(async () => {
  closing = new Closing()
  const database = await createLedgerDatabase()
  closing.add(database.drop)
  const vault = await vaultOf(database.url)
  const opened = createAttestationStore({ url: database.url, homeOf: () => 0, vault })
  closing.add(opened.close)
  store = opened
  imported = createImportedAttestations({
    url: database.url,
    vault,
    attestations: store,
    serviceKeys: ours,
    clock: { now: () => NOW_MS },
  })
  closing.add(imported.close)
})
afterEach(() => closing.close())

function shownOf(changes: Partial<ExportedAttestation> = {}): ExportedAttestation {
  const body = anAttestation(theirs, changes)
  if (body.record !== 'attestation') throw new Error('the record is no attestation')
  return body.attestation
}

async function stored(shown: ExportedAttestation): Promise<Attestation> {
  const found = await store.attestation(shown.attestation_id)
  if (found === undefined) throw new Error('the attestation is not stored')
  return found
}

/** Whether a third ledger that trusts the keys of this ledger accepts the attestation. */
async function isAcceptedByThirdLedger(attestation: Attestation): Promise<boolean> {
  const { records } = await fileOf(
    () => [
      ledgerBody(),
      { record: 'attestation', attestation: attestationMembers(attestation) as ExportedAttestation },
    ],
    theirs,
  )
  const context = contextOf(theirs)
  const assertion = context.trusted.get(SOURCE)?.filter(({ purpose }) => purpose === 'assertion') ?? []
  const pinned = ours.published().map((key): PinnedKey => ({ ...key, purpose: 'attestation' }))
  const trusted = new Map([[SOURCE, [...assertion, ...pinned]]])
  return (await checkPart(given(records), true, undefined, { ...context, trusted })).ok
}

const REVOKED: Partial<ExportedAttestation> = {
  status: 'revoked',
  revoked_at: '2025-10-09T08:53:21.000Z',
  revoked_by: 'backend',
  revocation_reason: 'wrong',
}

test.for<Partial<ExportedAttestation>>([
  {},
  { evidence_url: 'https://example.org/1', attester_verified: true },
  REVOKED,
])(
  'A1: this ledger signs an imported attestation anew, and a third ledger accepts its signature: %o',
  async (changes) => {
    const shown = shownOf(changes)
    expect(await imported.look(shown)).toBe('absent')
    await imported.add(shown, SOURCE)
    const here = await stored(shown)
    const { key_id: _key, signature: _signature, submitted_by: _by, ...stated } = shown
    const members = attestationMembers(here) as ExportedAttestation
    expect(members).toMatchObject({
      ...stated,
      submitted_by: `import ${SOURCE}`,
      key_id: ours.current('attestation'),
    })
    expect(parseTimestamp(members.imported_at ?? '')).toBe(NOW_MS)
    expect(await isAcceptedByThirdLedger(here)).toBe(true)
    expect(await isAcceptedByThirdLedger({ ...here, statement: 'Another.' })).toBe(false)
  },
)

test('A1: a third ledger accepts an attestation that was revoked here', async () => {
  const shown = shownOf()
  await imported.add(shown, SOURCE)
  const here = await stored(shown)
  const revoked = { atMs: NOW_MS + 5, by: 'administrator', reason: null }
  const seal = await sealAttestation(ours, here, revoked)
  await store.revoke(here.attestationId, { ...revoked, seal })
  expect(await isAcceptedByThirdLedger(await stored(shown))).toBe(true)
})

test('A2: the submitter of an imported attestation is no valid client ID', async () => {
  await imported.add(shownOf({ submitted_by: 'backend' }), SOURCE)
  const { submittedBy } = await stored(shownOf())
  expect(submittedBy).toBe(`import ${SOURCE}`)
  expect(CLIENT_ID_FORM.test(submittedBy)).toBe(false)
})

test('an import of an attestation that is present changes nothing, from any ledger, also after a revocation', async () => {
  const shown = shownOf()
  await imported.add(shown, SOURCE)
  const onward = attestationMembers(await stored(shown)) as ExportedAttestation
  const same = [shown, shownOf({ submitted_by: 'import another' }), onward]
  for (const one of same) expect(await imported.look(one)).toBe('present')
  await imported.add(shownOf({ statement: 'Broken.' }), SOURCE)
  expect((await stored(shown)).statement).toBe('In good condition.')
  for (const changes of [
    { statement: 'Broken.' },
    { attester: 'mallory' },
    REVOKED,
    { evidence_url: 'https://x.org' },
  ]) {
    expect(await imported.look(shownOf(changes))).toBe('other')
  }
  const here = await stored(shown)
  const seal = await sealAttestation(ours, here, { atMs: NOW_MS, by: 'administrator', reason: null })
  await store.revoke(here.attestationId, { atMs: NOW_MS, by: 'administrator', reason: null, seal })
  for (const one of same) expect(await imported.look(one)).toBe('present')
})
