/** `ledger verify`. Does not load the PostgreSQL driver unless it verifies a checkpoint against the database. */
import { InvalidArgumentError } from 'commander'
import { chainHash, showHash } from '../../actors/audit-chain.ts'
import type { VerifiedChain } from '../../api/client/index.ts'
import { type GivenEntry, judgeChain } from '../../api/client/verify/verify-chain.ts'
import { CommandFailed, type CommandIo, type CommandSetup, exitUnless, UsageError } from './common/command.ts'
import { addExamples } from './common/examples.ts'
import { readGivenText } from './common/given-file.ts'
import { shownJson, shownText } from './common/shown-text.ts'
import { addSessionOptions, type SessionOptions } from './profile/session.ts'
import { type Exported, readExport, readJwks, type ExportedPage } from './verify/export-file.ts'
import {
  checkAssertion,
  checkProof,
  checkReceipt,
  checkStatement,
  type Finding,
  mixedLedgers,
  statementsOf,
} from './verify/findings.ts'
import type { ReceiptKeys } from './verify/jwks.ts'
import { isExport, verifyExport } from './verify/verify-export.ts'

const NO_KEYS: ReceiptKeys = { name: 'the JWKS', ledgerId: undefined, keys: [], document: { keys: [] } }
const TIP = /^sha256:[0-9a-f]{64}$/
const JWKS_MISSING = '--jwks is missing: it is needed to verify signatures'

interface VerifyOptions extends SessionOptions {
  readonly jwks?: string
  readonly tip?: string
  readonly checkpoint?: string
  readonly offline?: boolean
  readonly account?: string
  readonly txn?: readonly string[]
  readonly save?: string
}

export const verifyCommand: CommandSetup = (command, io) => {
  command
    .usage(
      '--account <id>\n       ledger verify [--jwks <file>] [--tip <hash>] <file...>\n       ledger verify --checkpoint <file> [--jwks <file>] [--offline]',
    )
    .description(
      `Verifies an account's chain and receipts here, with the public keys of the ledger; or saved responses of
the API, exports and checkpoints, without a request to the ledger.

With --account and --txn the responses are fetched with the profile. That shows that they agree with
each other and with the ledger's keys. --jwks names keys that you kept: then it also shows that
the ledger has not replaced its keys.

Each file contains pages of GET /v1/accounts/{id}/audit-chain, receipts of
GET /v1/transactions/{id}/receipt, assertions of POST /v1/assertions/..., proofs of
GET /v1/accounts/{id}/liability-proof, or pages of GET /v1/accounts/{id}/statements: one value, a list,
or one value a line. Give all pages of an account's chain and of a statement, in any order. Or each file is an export: then the first changed line is named, and
the content is summarized. Lines of an export are counted from 0, as in their field "line".

Every hash is recomputed from entry 0. For each receipt the signature, the key and the place in the
chain are verified. So are the signatures of assertions, and the path from an account's shares to the
signed total. The movements of a statement are added up. A proof of liabilities shows the amount of each token that the ledger owed the account.

Exit code 0: everything verifies. 1: something does not, and the first changed entry is named. Also 1
for NOT CHECKED: the JWKS is of another ledger or lacks the named key; for UNREADABLE: a checkpoint
is empty or cut off.`,
    )
    .argument('[file...]', 'saved responses or exports; - for standard input')
    .option('--account <id>', 'fetch and verify the chain of this account, and the receipts of all its transactions')
    .option('--txn <id...>', 'fetch and verify the receipts of these transactions')
    .option('--save <directory>', 'with --account or --txn: save the responses there, to verify them again later')
    .option('--jwks <file>', 'the document of /.well-known/jwks.json; needed for everything but chains')
    .option('--tip <hash>', 'the known audit_hash of the account: proves that no entry at the end is missing', tipOf)
    .option(
      '--checkpoint <file>',
      'a file of ledger checkpoint: names each account whose chain is behind it or differs, and verifies the checkpoints in the database; needs the database and the master key',
    )
    .option('--offline', 'with --checkpoint: verify only that the file is complete and signed; needs only --jwks')
    .action(async (names: readonly string[], options: VerifyOptions) => {
      const { checkpoint, offline = false, account, txn } = options
      const shown = options.json === true ? { ...io, out: (text: string) => io.out(jsonOfVerdicts(text)) } : io
      if (account !== undefined || txn !== undefined) return exitUnless(await verifyFetched(names, options, shown))
      if (options.save !== undefined) throw new UsageError('--save needs --account or --txn')
      exitUnless(
        checkpoint === undefined && !offline
          ? await verifyFiles(names, options, shown)
          : await verifySavedCheckpoint(options, names, shown),
      )
    })
  addSessionOptions(command)
  addExamples(command, [
    'ledger verify --account alice --save alice-2030',
    'ledger verify --jwks alice-2030/jwks.json alice-2030/chain.ndjson alice-2030/receipts.ndjson',
  ])
}

/** Each line such as `ok: chain of alice` as JSON. */
function jsonOfVerdicts(text: string): string {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, verdict = '', detail = line] = /^([A-Za-z ]+): (.*)$/.exec(line) ?? []
      return `${shownJson({ ok: verdict === 'ok', verdict: verdict.toLowerCase().replaceAll(' ', '_'), detail })}\n`
    })
    .join('')
}

async function verifyFetched(
  names: readonly string[],
  { account, txn = [], save, jwks, tip, checkpoint, ...options }: VerifyOptions,
  io: CommandIo,
): Promise<boolean> {
  if (names.length > 0 || checkpoint !== undefined || tip !== undefined) {
    throw new UsageError('--account and --txn fetch what they verify: give neither files nor --tip or --checkpoint')
  }
  const pinned = jwks === undefined ? undefined : await readKeys(jwks, io)
  const { fetchResponses } = await import('./verify/fetched.ts')
  const fetched = await fetchResponses({ account, txnIds: txn, save }, options, io)
  const found = noneFound()
  for (const text of [...fetched.pages, ...fetched.receipts]) readExport(text, 'the response', found)
  return verifyFound(found, { keys: pinned ?? readJwks(fetched.keySet, "the ledger's keys"), tip: fetched.tip }, io)
}

function tipOf(text: string): string {
  if (TIP.test(text)) return text
  throw new InvalidArgumentError('It must be an audit_hash: sha256: and 64 digits of 0-9 and a-f.')
}

async function verifyFiles(names: readonly string[], { jwks, tip }: VerifyOptions, io: CommandIo): Promise<boolean> {
  if (names.length === 0) throw new UsageError('a file is missing')
  const exports = names.filter((name) => isExport(name, io))
  if (exports.length > 0) {
    if (exports.length < names.length || tip !== undefined) throw new UsageError('verify exports separately')
    if (jwks === undefined) throw new UsageError(JWKS_MISSING)
    return verifyExports(exports, await readKeys(jwks, io), io)
  }
  const found = noneFound()
  for (const name of names) readExport(await readGivenText(name, io), name, found)
  const { pages, receipts, assertions, proofs, statements } = found
  const signed = receipts.length + assertions.length + proofs.length + statements.length
  if (signed === 0 && pages.every((page) => page.entries.length === 0)) {
    throw new CommandFailed('the files have no entry of a chain, and nothing signed')
  }
  if (signed > 0 && jwks === undefined) throw new UsageError(JWKS_MISSING)
  return verifyFound(found, { keys: jwks === undefined ? NO_KEYS : await readKeys(jwks, io), tip }, io)
}

function noneFound(): Exported {
  return { pages: [], receipts: [], assertions: [], proofs: [], statements: [] }
}

async function verifyFound(
  { pages, receipts, assertions, proofs, statements }: Exported,
  { keys, tip }: { readonly keys: ReceiptKeys; readonly tip: string | undefined },
  io: CommandIo,
): Promise<boolean> {
  const chains = checkChains(pages, tip, io)
  if (chains === undefined) return false
  const findings: Finding[] = []
  for (const given of receipts) findings.push(await checkReceipt(given, keys, chains))
  findings.push(...mixedLedgers(receipts))
  for (const given of assertions) findings.push(await checkAssertion(given, keys))
  for (const given of proofs) findings.push(await checkProof(given, keys))
  for (const given of statementsOf(statements)) findings.push(await checkStatement(given, keys))
  return printed(findings, io)
}

async function readKeys(jwks: string, io: CommandIo): Promise<ReceiptKeys> {
  return readJwks(await readGivenText(jwks, io), jwks)
}

async function verifyExports(names: readonly string[], keys: ReceiptKeys, io: CommandIo): Promise<boolean> {
  let good = true
  for (const name of names) good = (await verifyExport(name, keys, io)) && good
  return good
}

async function verifySavedCheckpoint(
  { checkpoint, offline = false, jwks, tip }: VerifyOptions,
  names: readonly string[],
  io: CommandIo,
): Promise<boolean> {
  if (checkpoint === undefined) throw new UsageError('--offline needs --checkpoint')
  if (names.length > 0 || tip !== undefined) throw new UsageError('verify a checkpoint separately')
  const keys = jwks === undefined ? undefined : await readKeys(jwks, io)
  const { verifyCheckpoint, verifyCheckpointOffline } = await import('./checkpoint/verify-checkpoint.ts')
  if (!offline) return verifyCheckpoint(checkpoint, keys, io)
  if (keys === undefined) throw new UsageError(JWKS_MISSING)
  return verifyCheckpointOffline(checkpoint, keys, io)
}

/** Undefined if a chain does not verify. */
function checkChains(
  pages: readonly ExportedPage[],
  tip: string | undefined,
  io: CommandIo,
): readonly VerifiedChain[] | undefined {
  const chains: VerifiedChain[] = []
  const byAccount = groupPages(pages)
  if (tip !== undefined && byAccount.length !== 1) throw new UsageError('--tip needs the chain of exactly one account')
  for (const { accountId, entries, total } of byAccount) {
    const result = judgeChain(entries, hashOf)
    if (!result.ok) {
      const { sequence, txnId, problem } = result
      printLine(`TAMPERED: entry ${sequence}${(txnId ?? null) === null ? '' : ` (${txnId})`}: ${problem}`, io)
      return undefined
    }
    if (tip !== undefined && result.tip !== tip) {
      printLine(`TAMPERED: the chain ends with ${result.tip}, not with ${tip}`, io)
      return undefined
    }
    if (result.entries.size < total) {
      printLine(`INCOMPLETE: the files have ${result.entries.size} of ${total} entries: give all pages`, io)
      return undefined
    }
    const chain = { ...result, accountId: result.accountId === '' ? accountId : result.accountId }
    const erased =
      chain.erased === 0 ? '' : ` (${chain.erased} of them with an erased payload: only their links can be verified)`
    printLine(`ok: chain of ${chain.accountId}, ${chain.entries.size} entries${erased}, ends with ${chain.tip}`, io)
    chains.push(chain)
  }
  return chains
}

/** Files have text of strangers, who could otherwise write lines of their own. */
function printLine(text: string, io: CommandIo): void {
  io.out(`${shownText(text)}\n`)
}

/** In this thread: WebCrypto needs about ten times as long. */
function hashOf({ previous_hash: previous, payload }: GivenEntry): string {
  return showHash(chainHash(previous.replace('sha256:', ''), payload ?? ''))
}

interface GivenChain {
  readonly accountId: string
  readonly entries: readonly GivenEntry[]
  /** The smallest total_count of the pages; 0 if none has one. */
  readonly total: number
}

/** Groups the entries by account. Pages without an account_id form one chain. */
function groupPages(pages: readonly ExportedPage[]): readonly GivenChain[] {
  const groups = new Map<string, GivenChain>()
  for (const page of pages) {
    const key = page.accountId ?? ''
    const group = groups.get(key)
    groups.set(key, {
      accountId: key,
      entries: [...(group?.entries ?? []), ...page.entries],
      total: Math.min(page.total ?? Number.POSITIVE_INFINITY, group?.total ?? Number.POSITIVE_INFINITY),
    })
  }
  return [...groups.values()]
    .filter(({ entries }) => entries.length > 0)
    .map(({ accountId, entries, total }) => ({ accountId, entries, total: Number.isFinite(total) ? total : 0 }))
}

function printed(findings: readonly Finding[], io: CommandIo): boolean {
  for (const { lines } of findings) for (const line of lines) printLine(line, io)
  return findings.every(({ ok }) => ok)
}
