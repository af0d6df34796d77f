/** Commands and accounts for tests of the domain: everything given, nothing random. */
import { BASE_UNIT } from '../../actors/money.ts'
import { sha256Hex } from '../../actors/audit-chain.ts'
import { canonicalJson } from '../../actors/canonical-json.ts'
import { accountActor } from '../../actors/account/actor.ts'
import {
  type AccountCommand,
  accountOf,
  type Caller,
  type ChangeStatusCommand,
  type EraseCommand,
  type MintCommand,
  type RegisterCommand,
  type RotateKeyCommand,
  type Submission,
  type SubmitCommand,
} from '../../actors/account/commands.ts'
import type { AccountKey, AccountState } from '../../actors/account/state.ts'
import type { Evidence } from '../../actors/account/evidence.ts'
import type { StepResult } from '../../actors/define-actor.ts'
import type { RegisterGroupCommand, RevertGroupCommand } from '../../actors/group/state.ts'
import type { Terms } from '../../actors/group/terms.ts'
import { encodeUlid } from '../../actors/identifiers.ts'
import type { RegisterTokenCommand } from '../../actors/token/state.ts'
import type { RegisterClassCommand } from '../../actors/nft-class/state.ts'

export const ACCOUNT = 'alice@example'
export const KEY: AccountKey = { keyId: 'key-1', publicKey: 'public-1' }
export const OTHER_KEY: AccountKey = { keyId: 'key-2', publicKey: 'public-2' }

/** Reads `public-N`. */
export function readTestKey(input: unknown): AccountKey | undefined {
  if (typeof input !== 'string' || !input.startsWith('public-')) return undefined
  return { keyId: input.replace('public', 'key'), publicKey: input }
}
export const CALLER: Caller = { clientId: 'client-1', role: 'transactor', boundary: true }
export const SALT = '00112233445566778899aabbccddeeff'
export const START_MS = 1_790_000_000_000
/** Of commands that make no transaction. */
export const TXN_ID = `txn_${encodeUlid({ timeMs: START_MS, counter: 0, shardId: 7, random: 0 })}`
const STAMP = { newTxnId: TXN_ID, caller: CALLER, atMs: START_MS, salt: SALT }

export function registerCommand(changes: Partial<RegisterCommand> = {}): RegisterCommand {
  return {
    type: 'register',
    accountId: ACCOUNT,
    shardId: 7,
    key: KEY,
    registrationKey: null,
    ...STAMP,
    ...changes,
  }
}

let serial = 0

export function submitCommand(fields: Partial<Submission> = {}, changes: Partial<SubmitCommand> = {}): SubmitCommand {
  serial += 1
  const submission: Submission = {
    accountId: ACCOUNT,
    type: 'credit',
    amount: '10',
    tokenId: BASE_UNIT,
    groupId: null,
    idempotencyKey: `key-${serial}`,
    toAccountId: null,
    receive: null,
    metadata: null,
    termsHash: null,
    ledgerId: null,
    expiresAtMs: null,
    refunds: null,
    ...fields,
  }
  const { receive, capture, ...rest } = submission
  const payload = canonicalJson({
    ...rest,
    receive: receive === null ? null : { ...receive },
    ...(capture === undefined ? undefined : { capture: { ...capture } }),
  })
  return {
    type: 'submit',
    newTxnId: `txn_${encodeUlid({ timeMs: START_MS, counter: serial, shardId: 7, random: 1 })}`,
    submission,
    payload,
    payloadHash: sha256Hex(payload),
    signature: 'signature',
    idempotencyKey: submission.idempotencyKey,
    caller: CALLER,
    atMs: START_MS + serial,
    salt: SALT,
    ...changes,
  }
}

export function rotateCommand(changes: Partial<RotateKeyCommand> = {}): RotateKeyCommand {
  const payload = '{"rotate":true}'
  return {
    type: 'rotate_key',
    accountId: ACCOUNT,
    newKey: OTHER_KEY,
    ledgerId: null,
    proof: null,
    payload,
    payloadHash: sha256Hex(payload),
    signature: 'signature',
    idempotencyKey: 'rotation-1',
    ...STAMP,
    ...changes,
  }
}

export function statusCommand(changes: Partial<ChangeStatusCommand> = {}): ChangeStatusCommand {
  return {
    type: 'change_status',
    accountId: ACCOUNT,
    status: null,
    incoming: null,
    reason: 'because',
    registrationKey: null,
    ...STAMP,
    caller: { ...CALLER, role: 'admin' },
    ...changes,
  }
}

export function eraseCommand(changes: Partial<EraseCommand> = {}): EraseCommand {
  const { type: _type, status: _status, incoming: _incoming, ...common } = statusCommand()
  return { ...common, type: 'erase', ...changes }
}

export function registerTokenCommand(changes: Partial<RegisterTokenCommand> = {}): RegisterTokenCommand {
  serial += 1
  return {
    type: 'register_token',
    tokenId: 'GOLD',
    decimals: 2,
    issuer: ACCOUNT,
    totalSupply: '1000',
    payload: '{}',
    signature: '',
    consentNeeded: false,
    registrationKey: `request ${serial}`,
    ...STAMP,
    ...changes,
  }
}

export function registerClassCommand(changes: Partial<RegisterClassCommand> = {}): RegisterClassCommand {
  serial += 1
  return {
    type: 'register_class',
    newClassId: `cls_${encodeUlid({ timeMs: START_MS, counter: serial, shardId: 7, random: 1 })}`,
    name: 'Gems',
    description: 'Stones of value',
    issuer: ACCOUNT,
    metadataSchema: {},
    payload: '{}',
    signature: '',
    consentNeeded: false,
    registrationKey: `request ${serial}`,
    ...STAMP,
    ...changes,
  }
}

export function mintCommand(
  fields: Partial<MintCommand> & Pick<MintCommand, 'accountId' | 'classId' | 'instanceId'>,
): MintCommand {
  serial += 1
  const idempotencyKey = fields.idempotencyKey ?? `mint-${serial}`
  const { accountId, classId, instanceId, owner = accountId, metadata = {} } = fields
  const payload = canonicalJson({ accountId, classId, instanceId, owner, metadata, idempotencyKey })
  return {
    type: 'mint',
    owner,
    metadata,
    metadataVerdict: 'valid',
    ledgerId: null,
    idempotencyKey,
    payload,
    payloadHash: sha256Hex(payload),
    signature: 'signature',
    ...STAMP,
    ...fields,
  }
}

export function registerGroupCommand(terms: Terms, changes: Partial<RegisterGroupCommand> = {}): RegisterGroupCommand {
  serial += 1
  return {
    type: 'register_group',
    groupId: terms.groupId,
    terms,
    registrationKey: `request ${serial}`,
    ...STAMP,
    ...changes,
  }
}

export function revertGroupCommand(groupId: string, changes: Partial<RevertGroupCommand> = {}): RevertGroupCommand {
  return {
    type: 'revert_group',
    groupId,
    reason: 'because',
    transactions: [],
    ...STAMP,
    ...changes,
  }
}

/** A caller whose signature holds, in a ledger with nothing in it but the account. */
export const SIGNED: Evidence = {
  ledgerId: 'ledger-1',
  production: false,
  earlier: undefined,
  verdict: () => true,
  transaction: undefined,
  token: () => undefined,
  nftClass: () => undefined,
  minted: () => false,
  exists: () => false,
  groupUses: [],
  usedElsewhere: undefined,
  residence: { resident: true, mailbox: 1 },
}

/** Steps commands one after another and demands that each changes the account. */
export function afterSteps(...commands: AccountCommand[]): AccountState {
  let account: AccountState | null = null
  for (const command of commands) {
    account = steppedOf(stepAccount(account, command)).state
  }
  if (account === null) throw new Error('There is no account.')
  return account
}

export function stepAccount(
  account: AccountState | null,
  command: AccountCommand,
  evidence: Evidence = SIGNED,
): StepResult<AccountState> {
  return accountActor.step(accountOf(command), account, command, evidence)
}

/** Of a step that changed the account. */
export function steppedOf(result: StepResult<AccountState>) {
  if (result.kind !== 'stepped' || result.state === null) throw new Error(`Not stepped: ${JSON.stringify(result)}`)
  return { kind: result.kind, state: result.state, effects: result.effects, answer: result.answer }
}

export function stateAfter(result: StepResult<AccountState>): AccountState {
  return steppedOf(result).state
}

export function refusalOf(result: StepResult<unknown>): string | undefined {
  if (result.kind !== 'answered' || result.answer === null || result.answer === 'deferred') return undefined
  return result.answer.kind === 'refused' ? result.answer.code : undefined
}
