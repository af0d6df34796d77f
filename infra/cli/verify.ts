/** `ledger verify`. Does not load the PostgreSQL driver unless it verifies a checkpoint against the database. */
import { InvalidArgumentError, Option } from 'commander'
import { CommandFailed, type CommandIo, type CommandSetup, exitUnless, UsageError } from './common/command.ts'
import { addExamples } from './common/examples.ts'
import { readGivenText } from './common/given-file.ts'
import { readAccountKeys } from './log/known-entries.ts'
import { readProfile } from './profile/profiles.ts'
import { addSessionOptions, type SessionOptions } from './profile/session.ts'
import { checkAdministrativeChains } from './verify/check-administrative-chain.ts'
import { checkChains, type ExpectedChain } from './verify/check-chains.ts'
import { checkLogProofs, type LogProofs, readPolicy } from './verify/check-log-proofs.ts'
import { type Exported, isSignedOrFilled, noneExported, readExport, readJwks } from './verify/export-file.ts'
import {
  checkAssertion,
  checkProof,
  checkReceipt,
  checkStatement,
  type ExpectedReceipt,
  incompleteProofs,
  mixedLedgers,
  statementsOf,
} from './verify/findings.ts'
import type { ReceiptKeys } from './verify/jwks.ts'
import { type VerdictIo, verdictIo, type VerdictLine } from './verify/verdicts.ts'
import { isExport, verifyExport } from './verify/verify-export.ts'

const NO_KEYS: ReceiptKeys = { name: 'the JWKS', ledgerId: undefined, keys: [], document: { keys: [] } }
const STATUS_NEEDS_RECEIPTS = '--status is for receipts'
const POLICY_NEEDS_PROOFS = '--policy and --proof are for receipts, chains and exports'
const TIP = /^sha256:[0-9a-f]{64}$/
const STATUSES = ['completed', 'failed'] as const
const JWKS_MISSING = '--jwks is missing: it is needed to verify signatures'

type Status = (typeof STATUSES)[number]

interface VerifyOptions extends SessionOptions {
  readonly jwks?: string
  readonly tip?: string
  readonly checkpoint?: string
  readonly offline?: boolean
  readonly account?: string
  readonly txn?: readonly string[]
  readonly save?: string
  readonly status?: Status
  readonly policy?: string
  readonly proof: readonly string[]
  readonly accountKey: readonly string[]
}

const DESCRIPTION = `Verifies an account's chain and receipts here, with the public keys of the ledger; or saved responses of
the API, exports and checkpoints, without a request to the ledger.

With --account and --txn the responses are fetched with the profile. That shows that they agree with
each other and with the ledger's keys, and are about the requested account or transaction. --jwks names
keys that you kept: then it also shows that the ledger has not replaced its keys.

"ok" means that the ledger signed this, not that value has moved: the line of a receipt ends with its
outcome, such as FAILED, and that of an assertion with its result, such as NOT COMPLIANT. With
--status completed a receipt of a failed transaction is UNEXPECTED.

Each file contains pages of GET /v1/accounts/{id}/audit-chain, receipts of
GET /v1/transactions/{id}/receipt, assertions of POST /v1/assertions/..., proofs of
GET /v1/accounts/{id}/liability-proof, pages of GET /v1/accounts/{id}/statements, or pages of
GET /v1/admin/audit-chain: one value, a list, or one value a line. Give all pages of a chain and of a
statement, in any order. Or each file is an export: then the first changed line is named, and the content
is summarized. Lines of an export are counted from 0, as in their field "line".

Every hash is recomputed from entry 0. For each receipt the signature, the key and the place in the
chain are verified. So are the signatures of assertions, and the path from an account's shares to the
signed total. The movements of a statement are added up. A proof of liabilities shows the amount of
each token that the ledger owed the account. Each page of the administrative chain must be signed up to
its last entry, and the pages must have as many entries as the signatures count. Its payloads are never erased: an entry without one is TAMPERED. Pages that were requested
with account_id are not signed, and are INCOMPLETE.

With --policy and --proof the entry of each receipt, or of a later entry of its chain, is in the log of
the ledger, whose head the log and the witnesses of the policy signed: the ledger cannot show others
another log. With --account-key all who have the log key of the account find the entry there, and would
find another one in its place; without it the ledger could have logged one. A proof is the response of GET /v1/transactions/{id}/receipt?proof=log, and of
GET /v1/accounts/{id}/audit-chain/{sequence}/proof. With --account or --txn it is fetched. An export names
the head of the log at its moment; with --policy that head, and the proofs of its accounts, are verified.

Exit code 0: everything verifies. 1: something does not, and the first changed entry is named. Also 1
for UNEXPECTED: a valid reply is about another account, transaction, ledger or status than requested;
for NOT CHECKED: the JWKS is of another ledger or lacks the named key, or the policy does not name the
log; for INCOMPLETE: a part is missing, too few witnesses signed, or the published log does not have an
entry yet; for UNREADABLE: a checkpoint is empty or cut off.`

export const verifyCommand: CommandSetup = (command, io) => {
  command
    .usage(
      '--account <id>\n       ledger verify --txn <id...> [--status completed]\n       ledger verify [--jwks <file>] [--tip <hash>] [--policy <file> --proof <file>] <file...>\n       ledger verify --checkpoint <file> [--jwks <file>] [--offline]',
    )
    .description(DESCRIPTION)
    .argument('[file...]', 'saved responses or exports; - for standard input')
    .option('--account <id>', 'fetch and verify the chain of this account, and the receipts of all its transactions')
    .option('--txn <id...>', 'fetch and verify the receipts of these transactions')
    .addOption(new Option('--status <status>', 'status that every receipt must have').choices(STATUSES))
    .option('--save <directory>', 'with --account or --txn: save the responses there, to verify them again later')
    .option('--jwks <file>', 'the document of /.well-known/jwks.json; needed for everything but chains of accounts')
    .option(
      '--tip <hash>',
      'a known audit_hash of the account, such as that of an old receipt: proves that no entry up to it is missing',
      tipOf,
    )
    .option(
      '--policy <file>',
      'the logs and witnesses that you trust, in the form of C2SP (tlog-policy): verifies proofs of the log',
    )
    .option(
      '--proof <file>',
      'with --policy: a proof (C2SP tlog-proof); may be given several times',
      (one, all: readonly string[]) => [...all, one],
      [],
    )
    .option(
      '--account-key <file>',
      'with --policy: lines "ACCOUNT_ID LOG_KEY", from GET /v1/accounts/{id}/log-key; may be given several times',
      (one, all: readonly string[]) => [...all, one],
      [],
    )
    .option(
      '--checkpoint <file>',
      'a file of ledger checkpoint: names each account whose chain is behind it or differs, and compares the log of the ledger with its rows; needs the database and the master key',
    )
    .option('--offline', 'with --checkpoint: verify only that the file is complete and signed; needs only --jwks')
    .action((names: readonly string[], options: VerifyOptions) => verify(names, options, io))
  addSessionOptions(command)
  addExamples(command, [
    'ledger verify --account alice --save alice-2030',
    'ledger verify --txn txn_01M8GJ6PMX00000HDX6TDQ7NRE --status completed',
    'ledger verify --jwks alice-2030/jwks.json alice-2030/chain.ndjson alice-2030/receipts.ndjson',
    'ledger verify --jwks jwks.json --policy policy.txt --proof receipt.tlog-proof receipt.json',
  ])
}

async function verify(names: readonly string[], options: VerifyOptions, io: CommandIo): Promise<void> {
  const { checkpoint, offline = false, account, txn } = options
  const shown = verdictIo(io, options.json === true)
  if (options.policy === undefined && options.accountKey.length > 0) {
    throw new UsageError('--account-key needs --policy')
  }
  if (checkpoint !== undefined && (options.policy ?? options.proof[0]) !== undefined) {
    throw new UsageError(POLICY_NEEDS_PROOFS)
  }
  if (account !== undefined || txn !== undefined) return exitUnless(await verifyFetched(names, options, shown))
  if (options.save !== undefined) throw new UsageError('--save needs --account or --txn')
  if (checkpoint !== undefined && options.status !== undefined) throw new UsageError(STATUS_NEEDS_RECEIPTS)
  exitUnless(
    checkpoint === undefined && !offline
      ? await verifyFiles(names, options, shown)
      : await verifySavedCheckpoint(options, names, shown),
  )
}

async function verifyFetched(
  names: readonly string[],
  { account, txn = [], save, jwks, tip, checkpoint, status, policy, proof, accountKey, ...options }: VerifyOptions,
  io: VerdictIo,
): Promise<boolean> {
  if (names.length > 0 || checkpoint !== undefined || tip !== undefined || proof.length > 0) {
    throw new UsageError(
      '--account and --txn fetch what they verify: give neither files nor --tip, --checkpoint or --proof',
    )
  }
  const pinned = jwks === undefined ? undefined : await readKeys(jwks, io)
  const trusted = policy === undefined ? undefined : await readPolicy(policy, io)
  const { ledgerId } = readProfile(options, io)
  const { fetchResponses } = await import('./verify/fetched.ts')
  const fetched = await fetchResponses({ account, txnIds: txn, save, policy }, options, io)
  const found = noneExported()
  for (const text of fetched.pages) readExport(text, 'the response', found)
  for (const { text } of fetched.receipts) readExport(text, 'the response', found)
  if (found.pages.length !== fetched.pages.length || found.receipts.length !== fetched.receipts.length) {
    throw new CommandFailed('the ledger sent other documents than the requested ones')
  }
  const keys = pinned ?? readJwks(fetched.keySet, "the ledger's keys")
  if (keys.ledgerId !== undefined && keys.ledgerId !== ledgerId) {
    io.verdict({ verdict: 'UNEXPECTED', detail: `${keys.name} is of ledger ${keys.ledgerId}, not of ${ledgerId}` })
    return false
  }
  const receipts = fetched.receipts.map(({ txnId, accountId }) => {
    const ofAccount = accountId === undefined ? {} : { account_id: accountId }
    return { txn_id: txnId, ledger_id: ledgerId, ...ofAccount }
  })
  const accountKeys = await readLogKeys(accountKey, io)
  const logProofs = trusted && { policy: trusted, ...fetched.logProofs, accountKeys }
  return verifyFound(found, { keys, chain: { last: fetched.tip, accountId: account }, receipts, status, logProofs }, io)
}

function tipOf(text: string): string {
  if (TIP.test(text)) return text
  throw new InvalidArgumentError('It must be an audit_hash: sha256: and 64 digits of 0-9 and a-f.')
}

async function verifyFiles(
  names: readonly string[],
  { jwks, tip, status, policy, proof, accountKey }: VerifyOptions,
  io: VerdictIo,
): Promise<boolean> {
  if (names.length === 0) throw new UsageError('a file is missing')
  const exports = names.filter((name) => isExport(name, io))
  if (exports.length > 0) {
    if (exports.length < names.length || tip !== undefined || proof.length + accountKey.length > 0)
      throw new UsageError('verify exports separately')
    if (status !== undefined) throw new UsageError(STATUS_NEEDS_RECEIPTS)
    if (jwks === undefined) throw new UsageError(JWKS_MISSING)
    return verifyExports(exports, { jwks, policy }, io)
  }
  if ((policy === undefined) !== (proof.length === 0)) throw new UsageError('--policy and --proof need each other')
  const found = noneExported()
  for (const name of names) readExport(await readGivenText(name, io), name, found)
  const { pages, administrative, receipts, assertions, proofs, statements } = found
  const acts = administrative.filter(isSignedOrFilled)
  const signed = acts.length + receipts.length + assertions.length + proofs.length + statements.length
  if (signed === 0 && pages.every((page) => page.entries.length === 0)) {
    throw new CommandFailed('the files have no entry of a chain, and nothing signed')
  }
  if (signed > 0 && jwks === undefined) throw new UsageError(JWKS_MISSING)
  const keys = jwks === undefined ? NO_KEYS : await readKeys(jwks, io)
  const logProofs = policy === undefined ? undefined : await readLogProofs(policy, { proof, accountKey }, io)
  return verifyFound(found, { keys, chain: { tip }, receipts: [], status, logProofs }, io)
}

async function readLogProofs(
  policy: string,
  { proof, accountKey }: Pick<VerifyOptions, 'proof' | 'accountKey'>,
  io: CommandIo,
): Promise<LogProofs> {
  const given = []
  for (const name of proof) given.push({ name, text: await readGivenText(name, io) })
  return { policy: await readPolicy(policy, io), given, accountKeys: await readLogKeys(accountKey, io) }
}

async function readLogKeys(names: readonly string[], io: CommandIo): Promise<LogProofs['accountKeys']> {
  const accounts = await readAccountKeys(names, io)
  return new Map(accounts.map(({ accountId, key }) => [accountId, key]))
}

interface Expectations {
  readonly keys: ReceiptKeys
  readonly chain: ExpectedChain
  /** In the order of the receipts; empty: any. */
  readonly receipts: readonly ExpectedReceipt[]
  /** Of every receipt; undefined: any. */
  readonly status: Status | undefined
  /** Undefined: the log is not verified. */
  readonly logProofs: LogProofs | undefined
}

async function verifyFound(
  { pages, administrative, receipts, assertions, proofs, statements }: Exported,
  { keys, chain, receipts: expected, status, logProofs }: Expectations,
  io: VerdictIo,
): Promise<boolean> {
  if (status !== undefined && receipts.length === 0) {
    throw new CommandFailed(`there is no receipt, so none is ${status}`)
  }
  const { lines, chains } = checkChains(pages, chain)
  for (const line of lines) io.verdict(line)
  if (chains === undefined) return false
  const ofStatus = status === undefined ? {} : { status }
  const findings: VerdictLine[] = []
  for (const [index, given] of receipts.entries()) {
    findings.push(await checkReceipt(given, keys, { chains, expected: { ...expected[index], ...ofStatus } }))
  }
  const valid = receipts.filter((_, index) => findings[index]?.verdict === 'ok')
  findings.push(...mixedLedgers(receipts))
  for (const given of assertions) findings.push(await checkAssertion(given, keys))
  for (const given of proofs) findings.push(...(await checkProof(given, keys)))
  findings.push(...incompleteProofs(proofs))
  findings.push(...(await checkAdministrativeChains(administrative, keys)))
  for (const given of statementsOf(statements)) findings.push(...(await checkStatement(given, keys)))
  if (logProofs !== undefined) findings.push(...(await checkLogProofs(logProofs, { receipts: valid, chains })))
  for (const line of findings) io.verdict(line)
  return findings.every(({ verdict }) => verdict === 'ok')
}

async function readKeys(jwks: string, io: CommandIo): Promise<ReceiptKeys> {
  return readJwks(await readGivenText(jwks, io), jwks)
}

async function verifyExports(
  names: readonly string[],
  given: { readonly jwks: string; readonly policy: string | undefined },
  io: VerdictIo,
): Promise<boolean> {
  const keys = await readKeys(given.jwks, io)
  const policy = given.policy === undefined ? undefined : await readPolicy(given.policy, io)
  let good = true
  for (const name of names) good = (await verifyExport(name, keys, policy, io)) && good
  return good
}

async function verifySavedCheckpoint(
  { checkpoint, offline = false, jwks, tip }: VerifyOptions,
  names: readonly string[],
  io: VerdictIo,
): Promise<boolean> {
  if (checkpoint === undefined) throw new UsageError('--offline needs --checkpoint')
  if (names.length > 0 || tip !== undefined) throw new UsageError('verify a checkpoint separately')
  const keys = jwks === undefined ? undefined : await readKeys(jwks, io)
  const { verifyCheckpoint, verifyCheckpointOffline } = await import('./checkpoint/verify-checkpoint.ts')
  if (!offline) return verifyCheckpoint(checkpoint, keys, io)
  if (keys === undefined) throw new UsageError(JWKS_MISSING)
  return verifyCheckpointOffline(checkpoint, keys, io)
}
