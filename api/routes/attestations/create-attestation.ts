/**
 * POST /v1/attestations: states something of an NFT instance (D13). No actor decides it: it is checked here, and is
 * stored before it is answered.
 */
import type { Caller } from '../../../actors/account/commands.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { sha256Hex } from '../../../actors/audit-chain.ts'
import { isAccountId } from '../../../actors/identifiers.ts'
import { isClassId } from '../../../actors/nft-id.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import type { Attestation, SubmittedAttestation } from '../../../runtime/ports/attestation-store.ts'
import type { LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import type { Random } from '../../../runtime/ports/random.ts'
import { attestationMembers, sealAttestation, type Stated } from '../../views/attestation-views.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { notFound, type Problem } from '../../http/problem.ts'
import { signatureMismatch } from '../../endpoint/refusals.ts'
import { jsonReply, type Reply } from '../../http/reply.ts'
import { attestationSchema, type AttestationSubmission, readAttestation } from '../../schemas/requests/attestation.ts'
import { repeatHeaders } from '../../http/signed-body.ts'
import { attestationResponse } from '../../schemas/responses/attestation.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { randomUlid } from '../../endpoint/random-ulid.ts'

export const createAttestation: Endpoint = {
  id: 'createAttestation',
  method: 'POST',
  path: '/v1/attestations',
  summary: 'State something of an NFT',
  description: `The statement is made in the name of \`attester\`, which need not be an account. With a \`signature\` by the key of the account \`attester\`, over the canonical JSON of the body without it, \`attester_verified\` is true; a signature that does not verify is a 403. The service signs what it stores.

\`evidence_url\` is stored unchanged and never fetched. **Only the header \`Idempotency-Key\` makes a repeated submission idempotent**: without it, each request creates another attestation.`,
  roles: SUBMITTERS,
  changes: 'store',
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: attestationSchema,
  answers: [
    {
      status: 201,
      description: 'It is stored.',
      content: attestationResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND:
      'The class or the NFT does not exist, or the client is scoped to accounts and the attester is an account ID outside them; `errors` names the field.',
    ERR_SIGNATURE_MISMATCH: 'The signature is not one by the key of the account `attester`.',
    ERR_UNKNOWN_FIELD: 'A signed attestation has an unknown field. Without a signature the field is ignored.',
  },
  handle: bodyEndpoint({
    read: (body) => readAttestation(body),
    // A name that is not an account ID is within every scope.
    find: ({ attester }, { scope }) =>
      isAccountId(attester) && !scope.includes(attester)
        ? notFound('There is no such account.', 'attester')
        : undefined,
    async run(submission, context, { caller, registrationKey }) {
      const { attestations } = context
      const payloadHash = sha256Hex(submission.payload)
      // Replays come first: the attester may have another key now (D7).
      const earlier =
        registrationKey === null ? undefined : await attestations.submitted(caller.clientId, registrationKey)
      if (earlier !== undefined) return repeated(earlier, payloadHash)
      const attestation = await makeAttestation(context, caller, submission)
      if (!attestation.ok) return attestation.error
      const key = registrationKey === null ? null : { idempotencyKey: registrationKey, payloadHash }
      const outcome = await attestations.create(attestation.value, key)
      return outcome.kind === 'created' ? created(attestation.value) : repeated(outcome.earlier, payloadHash)
    },
  }),
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

const MISMATCH = 'The signature does not match the key of the account that is named as attester.'
const NO_KEY = 'The account that is named as attester has no key, or does not exist.'

/** Not dated before the mint, with which provenance begins: the clock of this edge may be behind the one that dated it. */
async function makeAttestation(
  { reads, signatures, isSignature, serviceKeys, clock, random }: EdgeDependencies,
  caller: Caller,
  { payload, signature, ...fields }: AttestationSubmission,
): Promise<Result<Attestation, Problem>> {
  const mintedAtMs = await findSubject(reads, fields)
  if (!mintedAtMs.ok) return mintedAtMs
  const attesterVerified = signature !== null
  if (signature !== null) {
    const account = isAccountId(fields.attester) ? await reads.account(fields.attester) : undefined
    const key = account?.key ?? null
    const { publicKey } = key ?? {}
    const verdicts = publicKey === undefined ? [] : await signatures.verifyMany([{ publicKey, payload, signature }])
    if (verdicts[0] !== true) {
      const mismatch = { detail: key === null ? NO_KEY : MISMATCH, field: 'signature', keyId: key?.keyId }
      return refuse(signatureMismatch(mismatch, { payload, signature }, isSignature))
    }
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

export function newAttestationId(random: Random, timeMs: number): string {
  return `att_${randomUlid(random, timeMs)}`
}
