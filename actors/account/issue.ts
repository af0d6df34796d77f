/**
 * The issuer's part in the registration of a token or an NFT class. The account is created if absent, consents,
 * reserves room for the supply, and is credited once the token exists.
 */
import { type ActorAddress, tokenAddress } from '../address.ts'
import type { Refusal } from '../refusal.ts'
import { parseQuantity } from '../money.ts'
import { invariant } from '../result.ts'
import type { AccountCommandOf } from './commands.ts'
import type { Evidence } from './evidence.ts'
import { sent } from './outcome.ts'
import { inOneWrite, openAccount } from './postings.ts'
import { carriedOut } from './record.ts'
import type { AccountData } from './state.ts'
import { type AccountChange, Turn } from './turn.ts'

/** An unknown issuer is created without a key: it can receive and cannot submit. */
export function openIssuer(command: AccountCommandOf<'prepare_issue'>): AccountChange {
  return opening(command, (account) => prepareIssue(account, command))
}

export function openClassIssuer(command: AccountCommandOf<'prepare_class'>): AccountChange {
  return opening(command, (account) => prepareClass(account, command))
}

function opening(
  command: AccountCommandOf<'prepare_issue' | 'prepare_class'>,
  prepare: (account: AccountData) => AccountChange,
): AccountChange {
  const { accountId, shardId, clientId } = command
  const opened = openAccount({ accountId, shardId, key: null, clientId }, command)
  return inOneWrite(opened, prepare(opened.data))
}

/** A class credits nothing: the issuer only has to exist and not be closed. */
export function prepareClass(account: AccountData, command: AccountCommandOf<'prepare_class'>): AccountChange {
  const turn = new Turn(account, command)
  turn.send(registryOf(command), { type: 'issue_prepared', refused: null })
  return turn.done(issuerOf(account, command.clientId))
}

type Prepare = AccountCommandOf<'prepare_issue' | 'prepare_class'>

/** The token or class that is being registered. */
function registryOf(command: Prepare): ActorAddress {
  return command.type === 'prepare_issue' ? tokenAddress(command.tokenId) : { kind: 'class', id: command.name }
}

export function refuseClosedIssuer(turn: Turn, command: Prepare): void {
  const refused = { code: 'account_closed', detail: 'The issuer is closed.' } as const
  turn.send(registryOf(command), { type: 'issue_prepared', refused })
}

/** Whether the issuer has a key, and did not sign a registration that needs its signature. */
export function lacksConsent({ key }: AccountData, command: Prepare, verdict: Evidence['verdict']): boolean {
  const { consentNeeded, signature } = command
  if (!consentNeeded || key === null) return false
  return signature === '' || verdict(key.keyId, signature) !== true
}

/** The account is neither changed nor written. */
export function refuseConsent(account: AccountData, command: Prepare): AccountChange {
  const detail = 'The issuer did not sign this registration.'
  const refused = { code: 'issuer_consent_missing', detail, keyId: account.key?.keyId ?? '' } as const
  return { data: account, effects: [sent(registryOf(command), { type: 'issue_prepared', refused })] }
}

/** An unclaimed account becomes the registering client's. */
function issuerOf(account: AccountData, clientId: string): Pick<AccountData, 'issues' | 'registeredBy'> {
  return { issues: true, registeredBy: account.registeredBy || clientId }
}

export function prepareIssue(account: AccountData, command: AccountCommandOf<'prepare_issue'>): AccountChange {
  const { tokenId, totalSupply } = command
  const turn = new Turn(account, command)
  const refused = refusesIssue(turn, command)
  const supply = parseQuantity(totalSupply)
  if (refused === null && supply !== 0n) {
    turn.change(tokenId, { room: supply })
    turn.keep({ kind: 'issue', tokenId, totalSupply })
  }
  turn.send(tokenAddress(tokenId), { type: 'issue_prepared', refused })
  return turn.done(refused === null ? issuerOf(account, command.clientId) : {})
}

function refusesIssue(turn: Turn, { tokenId, totalSupply }: AccountCommandOf<'prepare_issue'>): Refusal | null {
  const { incoming } = turn.before
  if (incoming === 'refuse') return { code: 'account_refuses', detail: 'The issuer refuses incoming value.' }
  const supply = parseQuantity(totalSupply)
  const lacks = supply === 0n ? undefined : turn.lacksRoom(tokenId, supply)
  return lacks === undefined ? null : { code: lacks, detail: 'The issuer has no room for the supply.' }
}

export function creditIssue(turn: Turn, command: AccountCommandOf<'credit_issue'>): void {
  const { tokenId, totalSupply: amount } = command
  const hold = turn.hold(`issue ${tokenId}`)
  invariant(hold?.kind === 'issue', `the supply of ${tokenId} was credited to an account without a hold for it`)
  const supply = parseQuantity(amount)
  turn.letGo(hold)
  turn.change(tokenId, { balance: supply, room: -supply })
  carriedOut(turn, { type: 'mint', amount, tokenId, groupId: null, cause: `issue ${tokenId}` })
  turn.send(tokenAddress(tokenId), { type: 'issue_credited' })
}
