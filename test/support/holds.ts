/** Commands about holds (D25). */
import type { CreateHoldCommand, ReleaseHoldCommand } from '../../actors/account/commands.ts'
import { sha256Hex } from '../../actors/audit-chain.ts'
import { canonicalJson } from '../../actors/canonical-json.ts'
import type { ReleaseHoldCommand as ForceReleaseCommand } from '../../actors/hold/state.ts'
import { BASE_UNIT } from '../../actors/money.ts'
import { CALLER, SALT, START_MS, TXN_ID } from './accounts.ts'

let serial = 0

const STAMPED = { newTxnId: TXN_ID, caller: CALLER, atMs: START_MS, salt: SALT } as const

export function createHoldCommand(fields: Partial<CreateHoldCommand> = {}): CreateHoldCommand {
  serial += 1
  const named = {
    accountId: 'ann',
    toAccountId: 'bob',
    tokenId: BASE_UNIT,
    amount: '4',
    expiresAtMs: START_MS + 3_600_000,
    metadata: null,
    idempotencyKey: `hold-${serial}`,
    ...fields,
  }
  const payload = canonicalJson({ ...named, caller: null })
  const signed = { payload, payloadHash: sha256Hex(payload), signature: 'signature', ledgerId: null }
  return { type: 'create_hold', ...STAMPED, ...signed, ...named }
}

export function releaseHoldCommand(holdId: string, fields: Partial<ReleaseHoldCommand> = {}): ReleaseHoldCommand {
  const payload = canonicalJson({ holdId })
  const signed = { payload, signature: 'signature', ledgerId: null }
  return { type: 'release_hold', accountId: 'bob', holdId, ...STAMPED, ...signed, ...fields }
}

export function forceReleaseCommand(fields: Partial<ForceReleaseCommand> = {}): ForceReleaseCommand {
  return { type: 'force_release', reason: 'disputed', ...STAMPED, caller: { ...CALLER, role: 'admin' }, ...fields }
}
