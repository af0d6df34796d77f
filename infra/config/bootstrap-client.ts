/** The clients in LEDGER_BOOTSTRAP_CLIENTS. Their secrets appear in no message. */
import * as v from 'valibot'
import { ROLES, type Role } from '../../actors/account/commands.ts'
import { areScopeEntries, SCOPE_RULE, type ScopeEntry } from '../../actors/account-scope.ts'
import { type OwnRate, RATE_RULE, readOwnRate } from '../../actors/rate.ts'
import { isTokenId } from '../../api/schemas/fields.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { NEW_CLIENT_ID_FORM, NEW_CLIENT_ID_RULE } from '../../runtime/ports/access-store.ts'
import { readBy } from './read-by.ts'
import { LONGEST_SECRET } from '../keys/client-secrets.ts'

export interface BootstrapClient {
  readonly clientId: string
  readonly clientSecret: string
  readonly role: Role
  /** undefined: true in the sandbox, false in production. */
  readonly boundary: boolean | readonly string[] | undefined
  /** The client's scope; null: all accounts. */
  readonly accounts: readonly ScopeEntry[] | null
  /** undefined: as it is; for a new client the default. */
  readonly rate: OwnRate | undefined
}

/** Shorter secrets can be guessed: a warning in the sandbox, refused in production. */
export const SHORTEST_SAFE_SECRET = 16

const BOUNDARY_RULE = 'boundary must be true, false or a list of token IDs'
const ACCOUNTS_RULE = `accounts ${SCOPE_RULE}`
/** Of lists, whose items are no fields. */
const LIST_RULES = [BOUNDARY_RULE, ACCOUNTS_RULE]
const ALLOWED =
  'a JSON array of {"client_id", "client_secret", "role": "viewer" | "transactor" | "admin", "boundary"?: true | false | [token IDs], "accounts"?: [account IDs or prefixes of them that end in *], "rate"?: "requests per second", "requests per second/burst" or "none"}'

const clientSchema = v.strictObject({
  client_id: v.pipe(v.string(), v.regex(NEW_CLIENT_ID_FORM, `client_id ${NEW_CLIENT_ID_RULE}`)),
  client_secret: v.pipe(
    v.string(),
    v.nonEmpty('client_secret must not be empty'),
    v.maxLength(LONGEST_SECRET, `client_secret must have at most ${LONGEST_SECRET} characters`),
  ),
  role: v.picklist(ROLES, `role must be one of ${ROLES.join(', ')}`),
  boundary: v.optional(
    v.union([v.boolean(), v.array(v.pipe(v.string(BOUNDARY_RULE), v.check(isTokenId, BOUNDARY_RULE)))], BOUNDARY_RULE),
  ),
  // null is refused, because a mistake must not give access to all accounts.
  accounts: v.optional(
    v.pipe(
      v.array(v.string(ACCOUNTS_RULE), ACCOUNTS_RULE),
      v.check((entries) => areScopeEntries(entries), ACCOUNTS_RULE),
    ),
  ),
  rate: v.optional(readBy(readClientRate)),
})

/** The error describes the allowed values and the problem. */
export function readBootstrapClients(text: string): Result<readonly BootstrapClient[], string> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return refuse(ALLOWED)
  }
  if (!Array.isArray(parsed)) return refuse(ALLOWED)
  const clients: BootstrapClient[] = []
  for (const [index, given] of parsed.entries()) {
    const read = v.safeParse(clientSchema, given)
    if (!read.success) return refuse(`${ALLOWED}; client ${index + 1}: ${read.issues.map(problemOf).join('; ')}`)
    const client = read.output
    if (clients.some((other) => other.clientId === client.client_id)) {
      return refuse(`${ALLOWED}; client ${index + 1} has the client_id of an earlier one`)
    }
    clients.push({
      clientId: client.client_id,
      clientSecret: client.client_secret,
      role: client.role,
      boundary: client.boundary,
      accounts: client.accounts ?? null,
      rate: client.rate,
    })
  }
  return ok(clients)
}

function readClientRate(text: string): Result<OwnRate, string> {
  const rate = readOwnRate(text)
  return rate === undefined ? refuse(`rate must be ${RATE_RULE}, or none`) : ok(rate)
}

/** Messages of valibot would show the value. */
function problemOf(issue: v.BaseIssue<unknown>): string {
  const key = issue.path?.map((item) => String(item.key)).join('.') ?? ''
  if (issue.kind === 'schema' && issue.type === 'strict_object')
    return key === '' ? 'it must be an object' : `${key} is ${issue.input === undefined ? 'missing' : 'not known'}`
  if (issue.kind === 'schema' && issue.type === 'string' && !LIST_RULES.includes(issue.message))
    return `${key} must be a string`
  return issue.message
}
