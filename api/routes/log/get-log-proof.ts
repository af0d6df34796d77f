/** GET /v1/accounts/{id}/audit-chain/{sequence}/proof: that the log, which witnesses watch, has an entry of the chain. */
import { accountRead } from '../../endpoint/path-values.ts'
import { type Endpoint, type EndpointOutcome, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { notFound } from '../../http/problem.ts'
import { textReply } from '../../http/reply.ts'
import type { LedgerLogProof } from '../../../runtime/ports/ledger-log.ts'

export const getLogProof: Endpoint = {
  id: 'getLogProof',
  method: 'GET',
  path: '/v1/accounts/:accountId/audit-chain/:sequence/proof',
  summary: 'Prove that the log has an entry of a chain',
  description:
    'A proof of C2SP (`tlog-proof`): the place of the entry in the log, the hashes to the root, and the head that the log and its witnesses signed. `extra` has the salt of the entry. `ledger verify --proof` checks it offline, with the receipt or the chain. An entry is usually in a published head of the log a second after its commit; until it is, the response is 404 with `Retry-After`. A 404 without it is final.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The proof.', content: 'text/plain' }],
  refusals: { ERR_NOT_FOUND: 'There is no such entry, or the log does not have it yet.' },
  handle: accountRead(async (accountId, { ledgerLog }, call) => {
    const sequence = sequenceOf(pathValue(call, 'sequence'))
    return proofReply(sequence === undefined ? undefined : await ledgerLog.proof(accountId, sequence))
  }),
}

/** `proof`: undefined without such an entry. */
export function proofReply(proof: LedgerLogProof | undefined): EndpointOutcome {
  if (proof === undefined) return notFound('There is no such entry.')
  if (proof.kind === 'pending') {
    const pending = notFound('The entry is not yet in a published head of the log.')
    return { ...pending, headers: { 'retry-after': '1' } }
  }
  if (proof.kind === 'lacking') {
    return notFound('The log lacks the entry, although it has later ones: the entry or the log was changed.')
  }
  return textReply(200, 'text/plain; charset=utf-8', proof.text)
}

function sequenceOf(text: string): number | undefined {
  const sequence = /^(0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : undefined
  return sequence
}
