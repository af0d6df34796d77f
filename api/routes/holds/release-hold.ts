/** POST /v1/holds/{id}/release: the beneficiary, or an administrator, ends a hold (D25). */
import { accountAddress, holdAddress } from '../../../actors/address.ts'
import type { HoldView } from '../../../actors/hold/state.ts'
import { askLedger } from '../../endpoint/ask.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { seenHold } from '../../endpoint/scoped-reads.ts'
import { type Endpoint, type EndpointOutcome, pathValue, SUBMITTERS } from '../../endpoint/route.ts'
import { jsonReply } from '../../http/reply.ts'
import { carriedSignature, signedPayload } from '../../http/signed-body.ts'
import { readRelease, releaseSchema } from '../../schemas/requests/hold.ts'
import { holdResponse } from '../../schemas/responses/hold.ts'
import { holdMembers, noSuchHold } from '../../views/hold-views.ts'

const NOT_SIGNED = ['signature']

export const releaseHold: Endpoint = {
  id: 'releaseHold',
  method: 'POST',
  path: '/v1/holds/:holdId/release',
  summary: 'Release a hold',
  description: `The remaining value of the hold is available to its payer again. The beneficiary signs the body; an administrator sends a \`reason\` in its place, which the payer’s audit chain keeps. The request is idempotent: a hold that has ended stays as it is.`,
  roles: SUBMITTERS,
  changes: 'shard',
  administrative: [],
  body: releaseSchema,
  answers: [{ status: 200, description: 'The hold as it ended.', content: holdResponse }],
  refusals: {
    ERR_NOT_FOUND: 'The hold or the account does not exist, or the hold is of others.',
    ERR_CONFLICT: 'The account is closed.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: 'The signature does not verify under the key of the account.',
    ERR_WRONG_LEDGER: 'It was signed for another ledger; in production `ledger_id` is required.',
  },
  handle: bodyEndpoint({
    read: (body, _, call) => readRelease(body, pathValue(call, 'holdId')),
    find: (release, { scope }) =>
      release.kind === 'forced' || scope.includes(release.accountId) ? undefined : noSuchAccount(),
    async run(release, context, call) {
      const holdId = pathValue(call, 'holdId')
      const seen = await seenHold(context.reads, call.scope, holdId)
      if (seen === undefined) return noSuchHold()
      // An erased account is shown by its pseudonym.
      const { accountId: payerId, toAccountId } = seen
      const shown = (hold: HoldView): EndpointOutcome =>
        jsonReply(200, holdMembers({ ...hold, accountId: payerId, toAccountId }))
      if (release.kind === 'forced') {
        const forced = {
          actor: holdAddress(holdId),
          operation: { kind: 'force_release', reason: release.reason },
        } as const
        return askLedger(context, call, forced, 'hold_released', (answer) => shown(answer.hold))
      }
      const { accountId, signature } = release
      const payload = signedPayload(call.body, NOT_SIGNED)
      const request = {
        actor: accountAddress(accountId),
        operation: { kind: 'release_hold', payload, signature: carriedSignature(signature) },
        signed: { payload, signature },
      } as const
      return askLedger(context, call, request, 'hold_released', (answer) => shown(answer.hold))
    },
  }),
}
