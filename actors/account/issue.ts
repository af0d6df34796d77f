/**
 * The issuer's part in the registration of a token or an NFT class: it comes into being if need be, agrees, keeps room for the supply,
 * and is credited when the token exists.
 */
import { tokenAddress } from '../address.ts'
import type { Refused } from '../message.ts'
import { parseQuantity } from '../money.ts'
import { invariant } from '../result.ts'
import type { AccountMessageCommand } from './commands.ts'
import { openAccount } from './postings.ts'
import { completed, entered, ordered } from './record.ts'
import { type AccountState, isClosed } from './state.ts'
import { type Posted, Turn } from './turn.ts'

type Heard<Type extends AccountMessageCommand['type']> = Extract<AccountMessageCommand, { readonly type: Type }>

/** An issuer that nobody knows comes into being keyless: it can receive and cannot submit. */
export function openIssuer(command: Heard<'prepare_issue'>): Posted {
  return opening(command, (account) => prepareIssue(account, command))
}

export function openClassIssuer(command: Heard<'prepare_class'>): Posted {
  return opening(command, (account) => prepareClass(account, command))
}

function opening(
  command: Heard<'prepare_issue'> | Heard<'prepare_class'>,
  prepare: (account: AccountState) => Posted,
): Posted {
  const { accountId, shardId, clientId } = command
  const opened = openAccount({ accountId, shardId, key: null, clientId }, command)
  const prepared = prepare(opened.account)
  return {
    // One write: the row is new, whatever happened to it before it was written.
    account: { ...prepared.account, version: opened.account.version },
    effects: [...opened.effects, ...prepared.effects],
  }
}

/** Nothing is credited: the issuer only has to be there, and not closed. */
export function prepareClass(account: AccountState, command: Heard<'prepare_class'>): Posted {
  const turn = new Turn(account, command)
  const refused: Refused | null = isClosed(account) ? { code: 'account_closed', detail: 'The issuer is closed.' } : null
  turn.send({ kind: 'class', id: command.name }, { type: 'issue_prepared', refused })
  return turn.done(refused === null ? issuerOf(account, command.clientId) : {})
}

/** What was nobody's is the client's who names it as an issuer. */
function issuerOf(account: AccountState, clientId: string): Pick<AccountState, 'issues' | 'registeredBy'> {
  return { issues: true, registeredBy: account.registeredBy || clientId }
}

export function prepareIssue(account: AccountState, command: Heard<'prepare_issue'>): Posted {
  const { tokenId, totalSupply } = command
  const turn = new Turn(account, command)
  const refused = refusesIssue(turn, command)
  const supply = parseQuantity(totalSupply)
  if (refused === null && !supply.isZero()) {
    turn.change(tokenId, { room: supply })
    turn.keep({ kind: 'issue', tokenId, totalSupply })
  }
  turn.send(tokenAddress(tokenId), { type: 'issue_prepared', refused })
  return turn.done(refused === null ? issuerOf(account, command.clientId) : {})
}

function refusesIssue(turn: Turn, { tokenId, totalSupply }: Heard<'prepare_issue'>): Refused | null {
  const { incoming } = turn.before
  if (isClosed(turn.before)) return { code: 'account_closed', detail: 'The issuer is closed.' }
  if (incoming === 'refuse') return { code: 'account_refuses', detail: 'The issuer refuses incoming value.' }
  const lacks = turn.lacksRoom(tokenId, parseQuantity(totalSupply))
  return lacks === undefined ? null : { code: lacks, detail: 'The issuer has no room for the supply.' }
}

export function creditIssue(account: AccountState, command: Heard<'credit_issue'>): Posted {
  const { tokenId, totalSupply: amount } = command
  const turn = new Turn(account, command)
  const hold = turn.hold(`issue ${tokenId}`)
  invariant(hold?.kind === 'issue', `the supply of ${tokenId} came to an account that does not expect it`)
  const supply = parseQuantity(amount)
  turn.letGo(hold)
  turn.change(tokenId, { balance: supply, room: supply.negated() })
  entered(
    turn,
    completed(turn, ordered(turn, { type: 'mint', amount, tokenId, groupId: null, cause: `issue ${tokenId}` })),
  )
  turn.send(tokenAddress(tokenId), { type: 'issue_credited' })
  return turn.done()
}
