/** Reads orders about holds (D25) from the canonical payloads that their signatures cover. */
import type { CreateHoldCommand, Submission } from '../../actors/account/commands.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { isAccountId, isHoldId } from '../../actors/identifiers.ts'
import { BASE_UNIT } from '../../actors/money.ts'
import { parseTimestamp } from '../../actors/timestamp.ts'
import { isAmount, isObject, readAsset, text } from './signed-payload.ts'
import { isNft } from '../../actors/nft-id.ts'

/** Not signed: as the edge has read them of the hold, which refuses a capture that names them wrongly. */
export interface CapturedHold {
  readonly fromAccountId: string
  readonly tokenId: string
}

export function readCapture(fields: JsonObject, { fromAccountId, tokenId }: CapturedHold): Submission | undefined {
  const { final = false } = fields
  const [accountId, holdId, amount] = [text(fields['account_id']), text(fields['hold_id']), text(fields['amount'])]
  const idempotencyKey = text(fields['idempotency_key'])
  if (accountId === null || holdId === null || !isHoldId(holdId) || idempotencyKey === null) return undefined
  if (amount === null || !isAmount(amount) || typeof final !== 'boolean' || isNft(tokenId)) return undefined
  return {
    accountId,
    type: 'transfer',
    amount,
    tokenId,
    groupId: null,
    idempotencyKey,
    toAccountId: null,
    receive: null,
    metadata: null,
    termsHash: null,
    ledgerId: text(fields['ledger_id']),
    expiresAtMs: null,
    refunds: null,
    capture: { holdId, final, fromAccountId },
  }
}

type HoldOrder = Pick<
  CreateHoldCommand,
  'toAccountId' | 'tokenId' | 'amount' | 'expiresAtMs' | 'metadata' | 'idempotencyKey'
>

export function readHoldOrder(fields: JsonObject): HoldOrder | undefined {
  const { metadata = null } = fields
  const [accountId, toAccountId] = [text(fields['account_id']), text(fields['to_account_id'])]
  const [amount, idempotencyKey] = [text(fields['amount']), text(fields['idempotency_key'])]
  const tokenId = readAsset(fields, BASE_UNIT)
  const expiresAtMs = parseTimestamp(text(fields['expires_at']) ?? '')
  if (toAccountId === null || toAccountId === accountId || !isAccountId(toAccountId)) return undefined
  if (amount === null || !isAmount(amount) || idempotencyKey === null) return undefined
  if (tokenId === undefined || isNft(tokenId) || expiresAtMs === undefined) return undefined
  if (metadata !== null && !isObject(metadata)) return undefined
  return { toAccountId, tokenId, amount, expiresAtMs, metadata, idempotencyKey }
}
