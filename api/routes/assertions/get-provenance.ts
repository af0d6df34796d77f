/**
 * GET /v1/nft-classes/{classId}/instances/{instanceId}/provenance: what became of an NFT and what was stated of it, oldest
 * first, up to a depth (D11).
 */
import { nftNameOf } from '../../endpoint/path-values.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { isAccountId } from '../../../actors/identifiers.ts'
import { isClassId } from '../../../actors/nft-id.ts'
import { MAX_PROVENANCE_DEPTH } from '../../../runtime/ports/attestation-store.ts'
import { provenanceMembers } from '../../views/attestation-views.ts'
import { listReply } from '../../endpoint/paging.ts'
import { notFound } from '../../http/problem.ts'
import { isHidden } from '../../endpoint/scoped-reads.ts'
import { provenanceResponse } from '../../schemas/responses/nft.ts'
import { PAGING } from '../../endpoint/parameters.ts'
import * as v from 'valibot'

const DEFAULT_DEPTH = 10

export const getProvenance: Endpoint = {
  id: 'listNftProvenance',
  method: 'GET',
  path: '/v1/nft-classes/:classId/instances/:instanceId/provenance',
  summary: 'List everything that is known of an NFT',
  description:
    'The mint, then transfers, the burn, attestations and revocations in the order in which they happened. `depth` counts ' +
    'changes of owner: the mint has 0, the first transfer 1; an attestation has the depth of the ownership during which it was made.',
  roles: EVERYONE,
  parameters: [
    {
      name: 'max_depth',
      in: 'query',
      description: 'Only entries up to this depth.',
      schema: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_PROVENANCE_DEPTH)),
        DEFAULT_DEPTH,
      ),
    },
    ...PAGING,
  ],
  answers: [{ status: 200, description: 'One page.', content: provenanceResponse }],
  handle(context, call) {
    const maxDepth = call.query.parsed('max_depth', parseDepth, 'ERR_INVALID_QUERY', DEPTH_RULE) ?? DEFAULT_DEPTH
    return listReply(context, call, [maxDepth], async ({ after, limit }) => {
      const name = nftNameOf(call)
      const { classId, instanceId } = name
      // Malformed IDs need no query.
      const named = isClassId(classId) && isAccountId(instanceId)
      const seen = named && !(await isHidden(context.reads, call.scope, name))
      const page = seen ? await context.attestations.provenance({ ...name, maxDepth, limit, after }) : undefined
      if (page === undefined) return notFound('The class has no such instance.')
      const provenance = page.entries.map(provenanceMembers)
      return { members: { class_id: classId, instance_id: instanceId, provenance }, next: page.next }
    })
  },
}

const DEPTH_RULE = 'must be an integer from 0 to 1,000'

function parseDepth(text: string): number | undefined {
  if (!/^[0-9]+$/.test(text)) return undefined
  const depth = Number(text)
  return depth <= MAX_PROVENANCE_DEPTH ? depth : undefined
}
