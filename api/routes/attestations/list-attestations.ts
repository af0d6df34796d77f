/** GET /v1/attestations: newest first, by any of its filters (D13, D16). A filter that no attestation meets finds nothing. */
import type { AttestationQuery } from '../../../runtime/ports/attestation-store.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { listedAttestationMembers } from '../../views/attestation-views.ts'
import { listReply } from '../../endpoint/paging.ts'
import type { Query } from '../../http/query.ts'
import { scanPage } from '../../endpoint/scan.ts'
import { seenAttestations, viewerOf } from '../../endpoint/scoped-reads.ts'
import { attestationListResponse } from '../../schemas/responses/attestation.ts'
import type { Parameter } from '../../endpoint/operation.ts'
import { PAGING } from '../../endpoint/parameters.ts'
import * as v from 'valibot'

function filter(name: string, description: string): Parameter {
  return { name, in: 'query', description, schema: v.string() }
}

export const listAttestations: Endpoint = {
  id: 'listAttestations',
  method: 'GET',
  path: '/v1/attestations',
  summary: 'List attestations',
  description:
    'Newest first, with every filter applied together, without `evidence_url` and signature. A filter that nothing meets finds nothing. A page may hold fewer rows than asked for, even none, while `next_page_token` is not empty.',
  roles: EVERYONE,
  parameters: [
    filter('subject_class', 'Of the class with this ID.'),
    filter('subject_instance', 'Of the instance with this ID.'),
    filter('asset_class', 'Of the class with this ID or name.'),
    filter('source', 'By this attester.'),
    filter('status', '`active` or `revoked`.'),
    ...PAGING,
  ],
  answers: [{ status: 200, description: 'One page.', content: attestationListResponse }],
  handle(context, call) {
    const { attestations, reads } = context
    const filters = readFilters(call.query)
    return listReply(context, call, Object.values(filters), async ({ after, limit }) => {
      const viewer = viewerOf(call)
      const page = await scanPage(
        {
          read: async (from: string | null, size) => {
            const read = await attestations.attestations({ ...filters, limit: size, after: from })
            return { rows: read.attestations, next: read.next }
          },
          shown: (rows) => seenAttestations(reads, viewer, rows),
          bound: call.scope.whole ? limit : SCANNED_ATTESTATIONS,
        },
        { after, limit, counted: false },
      )
      return { members: { attestations: page.rows.map(listedAttestationMembers) }, next: page.next }
    })
  },
}

/** Each may have an NFT of its own, which is looked for. */
const SCANNED_ATTESTATIONS = 200

/** The members have a fixed order: their values make the scope of the page tokens. */
function readFilters(query: Query): Omit<AttestationQuery, 'limit' | 'after'> {
  return {
    subjectClass: query.value('subject_class'),
    subjectInstance: query.value('subject_instance'),
    assetClass: query.value('asset_class'),
    attester: query.value('source'),
    status: query.value('status'),
  }
}
