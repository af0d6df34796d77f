/** The fields of an attestation. */
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import { canonical, type Members } from '../../support/client-keys.ts'
import { fieldsOf, outcomeOf } from '../../support/client-moves.ts'
import { ATTESTATION_ID, NO_CLASS } from './forms.ts'
import { isSignedBy } from './signatures.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

export function attestationChapter(suite: Suite): void {
  const row = suite.chapter('Attestation')

  row('attestation_id', 'output: string, att_ and an ID', async (stage) => {
    const { attestation_id: id } = membersOf(stage.cast.attestation)
    expect(id).toMatch(ATTESTATION_ID)
    for (const shown of await everywhere(stage)) expect(shown['attestation_id']).toBe(id)
  })

  row('attester', 'required; 1 to 256 printable characters', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['attester']).toBe('land-registry@london')
    await expectRefused(stage, 'attester', [undefined, '', 'a\nb', 'x'.repeat(257), 7], '400 ERR_INVALID_FIELD')
    await expectTaken(stage, 'attester', 'Lab GmbH')
  })

  row('subject_class', 'required; an NFT class that exists', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['subject_class']).toBe(stage.cast.classId)
    await expectRefused(stage, 'subject_class', [undefined, '', 7], '400 ERR_INVALID_CLASS_ID')
    await expectRefused(stage, 'subject_class', [NO_CLASS], '404 ERR_NOT_FOUND')
  })

  row('subject_instance', 'required; an instance of the class', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['subject_instance']).toBe('deed-1')
    await expectRefused(stage, 'subject_instance', [undefined, '', 7], '400 ERR_INVALID_FIELD')
    await expectRefused(stage, 'subject_instance', ['no-such'], '404 ERR_NOT_FOUND')
  })

  row('attestation_type', 'required; 1 to 64 printable characters', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['attestation_type']).toBe('title')
    await expectTaken(stage, 'attestation_type', 't'.repeat(64))
    await expectRefused(stage, 'attestation_type', [undefined, '', 't'.repeat(65), 'a\nb', 7], '400 ERR_INVALID_FIELD')
  })

  row('statement', 'required; 1 to 4,096 characters', async (stage) => {
    for (const shown of await everywhere(stage)) expect(shown['statement']).toBe('Entered in the register.')
    await expectTaken(stage, 'statement', '\u{1f4dc}'.repeat(4096))
    await expectRefused(stage, 'statement', [undefined, '', 's'.repeat(4097), 7], '400 ERR_INVALID_FIELD')
  })

  row('evidence_url', 'optional URL; not in the list', async (stage) => {
    const [made = {}, read = {}, listed = {}] = await everywhere(stage)
    for (const shown of [made, read]) expect(shown['evidence_url']).toBe('https://registry.example/deeds/1')
    expect(listed).not.toHaveProperty('evidence_url')
    await expectTaken(stage, 'evidence_url', 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi')
    await expectTaken(stage, 'evidence_url', undefined)
    const bad = ['', 'deeds/1', 'file:///etc/passwd', 'javascript:alert(1)', 7]
    await expectRefused(stage, 'evidence_url', bad, '400 ERR_INVALID_FIELD')
  })

  row(
    'created_at',
    'output: timestamp; status, who submitted it and the signature of the service beside it',
    async (stage) => {
      const created = textOf(membersOf(stage.cast.attestation), 'created_at')
      expectTimeOfRun(created)
      for (const shown of await everywhere(stage)) {
        expect(shown).toMatchObject({
          created_at: created,
          status: 'active',
          submitted_by: stage.credentials.transactor.clientId,
          attester_verified: false,
        })
      }
      const { signature, ...rest } = membersOf(stage.cast.attestation)
      const key = await stage.publishedKey('attestation', textOf(rest, 'key_id'))
      expect(isSignedBy(key, canonical(rest), String(signature))).toBe(true)
      expect(isSignedBy(key, canonical({ ...rest, statement: 'Not entered.' }), String(signature))).toBe(false)
    },
  )
}

/** As it was made, as it is read, and in the list. */
async function everywhere({ viewer, cast }: Stage): Promise<readonly Members[]> {
  const made = membersOf(cast.attestation)
  const id = textOf(made, 'attestation_id')
  const list = await viewer.readAll(`/v1/attestations?subject_instance=${cast.deed.instance_id}`, 'attestations')
  return [made, await viewer.read(`/v1/attestations/${id}`), list.find((one) => one['attestation_id'] === id) ?? {}]
}

/** One that would be taken, on an instance of its own, with one field changed. */
function bodyWith({ cast }: Stage, field: string, value: unknown): Members {
  const body = {
    attester: 'surveyor@london',
    subject_class: cast.classId,
    subject_instance: 'for-carol',
    attestation_type: 'survey',
    statement: 'Measured.',
  }
  // What is undefined does not get into the JSON.
  return { ...body, [field]: value }
}

async function expectTaken(stage: Stage, field: string, value: unknown): Promise<void> {
  const reply = await stage.transactor.post('/v1/attestations', bodyWith(stage, field, value))
  expect([field, reply.status, membersOf(reply)[field]]).toEqual([field, 201, value])
}

async function expectRefused(stage: Stage, field: string, values: readonly unknown[], outcome: string): Promise<void> {
  for (const value of values) {
    const reply = await stage.transactor.post('/v1/attestations', bodyWith(stage, field, value))
    expect([value, outcomeOf(reply), fieldsOf(reply)]).toEqual([value, outcome, [field]])
  }
}
