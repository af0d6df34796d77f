/** GET /v1/nft-classes/{classId}/instances: all that were minted, by ID, burned ones among them (D11, D16). */
import type { AccountScope } from '../../../actors/account-scope.ts'
import type { InstanceView } from '../../../actors/nft-instance/state.ts'
import type { InstancesPage, LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { listedInstanceMembers, noSuchClass } from '../../views/nft-views.ts'
import { listReply, type PageRequest } from '../../endpoint/paging.ts'
import { type RowsRead, scanPage } from '../../endpoint/scan.ts'
import { issues } from '../../endpoint/scoped-reads.ts'
import { nftInstanceListResponse } from '../../schemas/responses/nft.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listNftInstances: Endpoint = {
  id: 'listNftInstances',
  method: 'GET',
  path: '/v1/nft-classes/:classId/instances',
  summary: 'List the NFTs of a class',
  description: 'By instance ID, burned ones among them.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: nftInstanceListResponse }],
  handle: (context, call) =>
    listReply(context, call, [], async ({ after, limit }) => {
      const classId = pathValue(call, 'classId')
      const page = await pageOf(context.reads, call.scope, classId, { after, limit })
      if (page === undefined) return noSuchClass()
      return { members: { class_id: classId, instances: page.instances.map(listedInstanceMembers) }, next: page.next }
    }),
}

/** To a client that is scoped, and does not issue the class, what its accounts own of it. */
async function pageOf(
  reads: Pick<LedgerReads, 'instances' | 'nftClass'>,
  scope: AccountScope,
  classId: string,
  { after, limit }: Pick<PageRequest, 'after' | 'limit'>,
): Promise<InstancesPage | undefined> {
  if (scope.whole || (await issues(reads, scope, classId))) return reads.instances(classId, after, limit)
  if ((await reads.nftClass(classId)) === undefined) return undefined
  const page = await scanPage(
    {
      read: async (from: string | null, size): Promise<RowsRead<InstanceView, string>> => {
        const read = await reads.instances(classId, from, size)
        return { rows: read?.instances ?? [], next: read?.next ?? null }
      },
      shown: (rows) => rows.filter(({ owner }) => scope.includes(owner)),
    },
    { after, limit, counted: false },
  )
  return { instances: page.rows, next: page.next }
}
