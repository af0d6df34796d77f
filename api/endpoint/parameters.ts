/** The parameters that many endpoints share. */
import * as v from 'valibot'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from './paging.ts'
import { PROBLEM_TYPES } from '../http/problem.ts'
import { accountIdField, groupIdField, idempotencyKeyField } from '../schemas/fields.ts'
import { pageToken, text } from '../schemas/values.ts'
import type { Parameter } from './operation.ts'

/** Path parameters by name. An unknown value is a 404 whatever its shape, so most take any text. */
export const PATH_PARAMETERS: Readonly<Record<string, Pick<Parameter, 'description' | 'schema'>>> = {
  accountId: { description: 'The account.', schema: accountIdField },
  groupId: { description: 'The group: a UUID in either case.', schema: groupIdField },
  txnId: { description: 'The transaction.', schema: text },
  tokenId: {
    description: 'The token, exactly as it was registered, or `BASE` where balances are asked for.',
    schema: text,
  },
  classId: { description: 'The NFT class.', schema: text },
  instanceId: { description: 'The instance within its class.', schema: text },
  holdId: { description: 'The hold.', schema: text },
  attestationId: { description: 'The attestation.', schema: text },
  importId: { description: 'The import: a UUID in either case.', schema: text },
  clientId: { description: 'The client.', schema: text },
  webhookId: { description: 'The webhook.', schema: text },
  shardId: { description: 'The number of the shard.', schema: text },
  sequence: { description: 'The place of the entry in its chain, from 0 on.', schema: text },
  level: { description: 'The level of the tile, or `entries`.', schema: text },
  tile: {
    description:
      'The number of the tile, such as `x001/x234/067`, and the width of an incomplete one, such as `.p/17`.',
    schema: text,
  },
  guide: { description: 'The name of the guide.', schema: text },
  version: { description: 'The version of the files, as the page names it.', schema: text },
  file: { description: 'The name of the file.', schema: text },
  slug: {
    description: 'The type of problem: the last part of its `type`.',
    schema: v.picklist(Object.keys(PROBLEM_TYPES) as [string, ...string[]]),
  },
}

export const PAGE_SIZE: Parameter = {
  name: 'page_size',
  in: 'query',
  description: `How many rows a page has at most. Above ${MAX_PAGE_SIZE} is served as ${MAX_PAGE_SIZE}. It may change between pages.`,
  schema: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), DEFAULT_PAGE_SIZE),
}

export const PAGING: readonly Parameter[] = [
  PAGE_SIZE,
  {
    name: 'page_token',
    in: 'query',
    description: 'The `next_page_token` of the page before, asked for with the same filters by the same client.',
    schema: pageToken,
  },
]

export const IDEMPOTENCY_KEY_HEADER: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Identifies the request, within the client and the path. A request with the same key within 24 hours, with any body, gets the original response byte for byte, with `Idempotency-Replayed: true`, and `Idempotency-Payload-Mismatch: true` if the body differs. A refusal (4xx, or 503 with `outcome` `not_applied`) frees the key.',
  schema: idempotencyKeyField,
}

export const PREFER_WAIT: Parameter = {
  name: 'Prefer',
  in: 'header',
  description:
    '`wait=N` (RFC 7240): answer when it is final, or after N seconds; above 30 is 30. When too many wait already, the answer is immediate.',
  schema: v.pipe(v.string(), v.metadata({ pattern: 'wait *= *"?[0-9]+' })),
}

export const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` that the client has.',
  schema: v.string(),
}
