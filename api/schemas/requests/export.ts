/** The shape of what is asked of an export (D20). */
import * as v from 'valibot'
import type { ReadPublicKey } from '../../../runtime/ports/public-keys.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { isUuid } from '../../../actors/identifiers.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import type { ExportOrder } from '../../../runtime/ports/ledger-exports.ts'
import type { Invalid } from '../../http/problem.ts'
import { publicKeyField } from './account.ts'
import { assertionRequestSchema } from './assertion.ts'
import { accountIdField, checkedField, unsignedOptional } from '../fields.ts'
import { FIELD_CODES, schemaErrors } from '../../http/invalid.ts'
import { define } from '../named-schema.ts'

const MAX_ACCOUNTS = 1_000
const ACCOUNTS_RULE = 'must be a list of 1 to 1,000 account IDs'
const ALL_RULE = 'must be true'
const MODE_RULE = 'must be copy or move'
const AUDIENCE_RULE = 'must be the ledger_id of the ledger that it is for'
const PUBLIC_KEY_RULE = 'must be the public_key of GET /v1/imports/key of the ledger that it is for: a P-256 key'

export const exportRequestSchema = define(
  'ExportRequest',
  'The accounts to export and the receiving ledger. Either `account_ids` or `all`.',
  {
    requester: [assertionRequestSchema.entries.requester, 'The identifier of who asks; it is signed.'],
    account_ids: [
      unsignedOptional(
        v.pipe(
          v.array(accountIdField, ACCOUNTS_RULE),
          v.minLength(1, ACCOUNTS_RULE),
          v.maxLength(MAX_ACCOUNTS, ACCOUNTS_RULE),
        ),
      ),
      'The accounts, 1 to 1,000.',
    ],
    all: [unsignedOptional(v.literal(true, ALL_RULE)), 'All of them. Not with `move`.'],
    mode: [
      unsignedOptional(v.picklist(['copy', 'move'], MODE_RULE)),
      '`copy`, unless said: nothing changes here. `move`: the accounts are emptied and closed.',
    ],
    audience: [
      checkedField(AUDIENCE_RULE, isUuid, { format: 'uuid' }),
      'The `ledger_id` of the ledger that it is for.',
    ],
    recipient_public_key: [
      publicKeyField,
      'The `public_key` of `GET /v1/imports/key` of that ledger: a P-256 key, in any form that is taken for accounts.',
    ],
  },
)

const CODES: typeof FIELD_CODES = new Map([...FIELD_CODES, ['recipient_public_key', 'ERR_INVALID_PUBLIC_KEY']])

type Read = v.InferOutput<typeof exportRequestSchema>

/** The request without its client. */
export type RequestedExport = Pick<ExportOrder, 'accountIds' | 'mode' | 'audience' | 'recipient' | 'requester'>

export function readExportRequest(
  body: JsonObject,
  ledgerId: string,
  readPublicKey: ReadPublicKey,
): Result<RequestedExport, readonly Invalid[]> {
  const invalid = schemaErrors(exportRequestSchema, body, CODES).map(namedAccount)
  const recipient = readPublicKey(body['recipient_public_key'])
  if (recipient === undefined && body['recipient_public_key'] !== undefined) {
    invalid.push({ field: 'recipient_public_key', code: 'ERR_INVALID_PUBLIC_KEY', message: PUBLIC_KEY_RULE })
  }
  if (invalid.length === 0) invalid.push(...contradictions(body as Read, ledgerId))
  if (invalid.length > 0 || recipient === undefined) return refuse(invalid)
  const { account_ids: accountIds = null, audience, mode, requester } = body as Read
  return ok({
    accountIds: accountIds === null ? null : [...new Set(accountIds)],
    mode: mode ?? 'copy',
    audience: audience.toLowerCase(),
    recipient,
    requester,
  })
}

/** An element has no name of its own. */
function namedAccount(invalid: Invalid): Invalid {
  return invalid.field.startsWith('account_ids[') ? { ...invalid, code: 'ERR_INVALID_ACCOUNT_ID' } : invalid
}

/** Checks of single members. */
function contradictions({ account_ids: accountIds, all, audience, mode }: Read, ledgerId: string): readonly Invalid[] {
  const invalid: Invalid[] = []
  const isWhole = (all ?? null) !== null
  if (((accountIds ?? null) !== null) === isWhole) {
    const message = 'is required, or else all: true; not both'
    invalid.push({ field: 'account_ids', code: 'ERR_INVALID_FIELD', message })
  }
  if (isWhole && mode === 'move') {
    invalid.push({ field: 'all', code: 'ERR_INVALID_FIELD', message: 'accounts that are moved must be named' })
  }
  if (audience.toLowerCase() === ledgerId) {
    invalid.push({ field: 'audience', code: 'ERR_WRONG_LEDGER', message: 'is this ledger' })
  }
  return invalid
}
