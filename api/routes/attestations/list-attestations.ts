/** GET /v1/attestations: newest first, by any of its filters (D13, D16). A filter that no attestation meets finds nothing. */
import type { AttestationQuery } from '../../../runtime/ports/attestation-store.ts'
import { listedAttestationMembers } from '../../views/attestation-views.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { PageTokens } from '../../http/page-token.ts'
import { listScope, nextPageToken, PAGE_PARAMETERS, readPageRequest } from '../../endpoint/paging.ts'
import type { Query } from '../../http/query.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute } from '../../endpoint/route.ts'
import { scanPage } from '../../endpoint/scan.ts'
import { seenAttestations, viewerOf } from '../../endpoint/scoped-reads.ts'

/** Each may have an NFT of its own, which is looked for. */
const SCANNED_ATTESTATIONS = 200
const PATH = '/v1/attestations'

export function listAttestations({ attestations, reads }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: PATH,
    query: ['subject_class', 'subject_instance', 'asset_class', 'source', 'status', ...PAGE_PARAMETERS],
    roles: EVERYONE,
    asksLedger: false,
    async handle({ caller, query, scope: accounts }) {
      const filters = readFilters(query)
      const scope = listScope(PATH, caller.clientId, Object.values(filters))
      const { limit, after } = readPageRequest(query, tokens, scope)
      const refused = query.problem()
      if (refused !== undefined) return refused
      const viewer = viewerOf({ caller, scope: accounts })
      const page = await scanPage(
        {
          read: async (from: string | null, size) => {
            const read = await attestations.attestations({ ...filters, limit: size, after: from })
            return { rows: read.attestations, next: read.next }
          },
          shown: (rows) => seenAttestations(reads, viewer, rows),
          bound: accounts.whole ? limit : SCANNED_ATTESTATIONS,
        },
        { after: after?.cursor ?? null, limit, counted: false },
      )
      return jsonReply(200, {
        attestations: page.rows.map(listedAttestationMembers),
        next_page_token: nextPageToken(tokens, scope, page.next, null),
      })
    },
  }
}

/** The members stand in a fixed order: their values make the scope of the page tokens. */
function readFilters(query: Query): Omit<AttestationQuery, 'limit' | 'after'> {
  return {
    subjectClass: query.value('subject_class'),
    subjectInstance: query.value('subject_instance'),
    assetClass: query.value('asset_class'),
    attester: query.value('source'),
    status: query.value('status'),
  }
}
