/**
 * POST /v1/attestations: states something of an NFT instance (D13). No actor decides it: it is checked here, and is
 * stored before it is answered.
 */
import type { Caller } from '../../actors/account/commands.ts'
import { sha256Hex } from '../../actors/audit-chain.ts'
import { isClassId } from '../../actors/nft-id.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Attestation, SubmittedAttestation } from '../../runtime/ports/attestation-store.ts'
import type { LedgerReads } from '../../runtime/ports/ledger-reads.ts'
import { newAttestationId } from '../attestation-id.ts'
import { attestationMembers, sealAttestation, type Stated } from '../attestation-views.ts'
import { readJsonBody } from '../body.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { invalidProblem, notFound, type Problem, problem } from '../problem.ts'
import { readRegistrationKey } from '../registration-key.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../route.ts'
import { type AttestationSubmission, readAttestation } from '../schemas/attestation.ts'
import { repeatHeaders } from '../signed-body.ts'

export function createAttestation(dependencies: EdgeDependencies): GuardedRoute {
  const { attestations } = dependencies
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/attestations',
    roles: SUBMITTERS,
    asksLedger: true,
    async handle({ http, caller, scope }) {
      const body = await readJsonBody(http.req.raw)
      if (!body.ok) return body.error
      const { registrationKey, keyErrors } = readRegistrationKey(http)
      const submission = readAttestation(body.value)
      const invalid = [...keyErrors, ...(submission.ok ? [] : submission.error)]
      if (!submission.ok || invalid.length > 0) return invalidProblem('validation-error', invalid)
      const payloadHash = sha256Hex(submission.value.payload)
      // Before the rest is judged: a repeat is answered although the attester has another key by now (D7).
      const earlier =
        registrationKey === null ? undefined : await attestations.submitted(caller.clientId, registrationKey)
      if (earlier !== undefined) return repeated(earlier, payloadHash)
      if (!scope.includes(submission.value.attester)) return notFound('There is no such account.', 'attester')
      const attestation = await makeAttestation(dependencies, caller, submission.value)
      if (!attestation.ok) return attestation.error
      const key = registrationKey === null ? null : { idempotencyKey: registrationKey, payloadHash }
      const outcome = await attestations.create(attestation.value, key)
      return outcome.kind === 'created' ? created(attestation.value) : repeated(outcome.earlier, payloadHash)
    },
  }
}

function created(attestation: Attestation, headers: Readonly<Record<string, string>> = {}): Reply {
  const location = `/v1/attestations/${attestation.attestationId}`
  return jsonReply(201, attestationMembers(attestation), { location, ...headers })
}

/** The original answer, also when it has been revoked since, or when this body is another one. */
function repeated({ attestation, payloadHash }: SubmittedAttestation, asked: string): Reply {
  const headers = repeatHeaders({ replayed: true, mismatch: payloadHash !== asked })
  return created({ ...attestation, revocation: null }, headers)
}

/** Not dated before the mint, with which provenance begins: the clock of this edge may be behind the one that dated it. */
async function makeAttestation(
  { reads, signatures, serviceKeys, clock, random }: EdgeDependencies,
  caller: Caller,
  { payload, signature, ...fields }: AttestationSubmission,
): Promise<Result<Attestation, Problem>> {
  const mintedAtMs = await findSubject(reads, fields)
  if (!mintedAtMs.ok) return mintedAtMs
  const attesterVerified = signature !== null
  if (signature !== null) {
    const publicKey = (await reads.account(fields.attester))?.key?.publicKey
    const verdicts = publicKey === undefined ? [] : await signatures.verifyMany([{ publicKey, payload, signature }])
    if (verdicts[0] !== true) return refuse(signatureMismatch())
  }
  const createdAtMs = Math.max(clock.now(), mintedAtMs.value)
  const stated: Stated = {
    ...fields,
    attestationId: newAttestationId(random, createdAtMs),
    submittedBy: caller.clientId,
    attesterVerified,
    createdAtMs,
  }
  return ok({ ...stated, seal: await sealAttestation(serviceKeys, stated, null), revocation: null })
}

type Subject = Pick<AttestationSubmission, 'subjectClass' | 'subjectInstance'>

const BEFORE_ALL = -1

/** When its history began. */
async function findSubject(
  reads: LedgerReads,
  { subjectClass, subjectInstance }: Subject,
): Promise<Result<number, Problem>> {
  if (!isClassId(subjectClass)) return refuse(noSuchClass())
  const history = await reads.nftHistory(subjectClass, subjectInstance, BEFORE_ALL, 1)
  const mint = history?.events[0]
  if (mint !== undefined) return ok(mint.atMs)
  const inClass = (await reads.nftClass(subjectClass)) !== undefined
  return refuse(inClass ? notFound('The class has no such instance.', 'subject_instance') : noSuchClass())
}

function noSuchClass(): Problem {
  return notFound('There is no such NFT class.', 'subject_class')
}

function signatureMismatch(): Problem {
  return problem(
    'forbidden',
    'ERR_SIGNATURE_MISMATCH',
    'The signature is not one by the key of the account that is named as attester.',
  )
}
