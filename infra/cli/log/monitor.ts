/** `ledger monitor`: follows a log, and verifies that it has one history, with the entries of the given accounts. */
import { resolve } from 'node:path'
import { meetsQuorum, parsePolicy, PolicyMalformed, type TrustPolicy } from '../../../api/client/log/trust-policy.ts'
import { TooManyTags } from '../../log/monitor/account-tags.ts'
import type { Finding, FindingKind } from '../../log/monitor/finding.ts'
import { createLogReader, getOver, LogUnreachable } from '../../log/monitor/log-reader.ts'
import { monitorLog, type MonitorOptions, type MonitorReport } from '../../log/monitor/log-monitor.ts'
import { createMonitorFile, MonitorFileUnusable } from '../../log/monitor/monitor-file.ts'
import { headOfWitness, type OtherHead } from '../../log/monitor/other-heads.ts'
import { createSystemClock } from '../../system/clock-system.ts'
import {
  CommandFailed,
  type CommandIo,
  type CommandSetup,
  exitUnless,
  integerBetween,
  OutcomeUnknown,
  UsageError,
} from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { readGivenText } from '../common/given-file.ts'
import { addOutputOptions, type OutputOptions } from '../common/output.ts'
import { withProgress } from '../common/progress.ts'
import { type VerdictIo, verdictIo, type VerdictLine, type VerdictWord } from '../verify/verdicts.ts'
import { type GivenHead, readGivenHeads } from './given-heads.ts'
import { readAccountKeys, readKnownEntries } from './known-entries.ts'

interface Options extends OutputOptions {
  readonly url?: string
  readonly policy: string
  readonly state: string
  readonly accountKey: readonly string[]
  readonly head: readonly string[]
  readonly ahead: number
  readonly maxAge?: number
  readonly anew?: boolean
  readonly follow?: boolean
  readonly every: number
  readonly askWitnesses: boolean
}

const WORDS: Readonly<Record<FindingKind, VerdictWord>> = {
  untrusted: 'UNTRUSTED',
  went_back: 'WENT BACK',
  forked: 'FORKED',
  tampered: 'TAMPERED',
  withheld: 'INCOMPLETE',
  stale: 'STALE',
  missing: 'MISSING',
  not_shown: 'NOT SHOWN',
}
const MOST_SECONDS = 999_999_999
const DEFAULT_MAX_AGE_S = 600
const MOST_AHEAD = 100_000

export const monitorCommand: CommandSetup = (command, io) => {
  command
    .usage('[--url <url>] --policy <file> --state <file> [--account-key <file>]... [--head <file>]... [file...]')
    .description(
      `Follows the log of a ledger (C2SP tlog-tiles) without trust in it, and keeps one file. A run verifies that
the shown head has the signatures that the policy demands, that it continues the last verified head, and
that all entries behind that have the root of the head. Then it ends, for cron; with --follow it goes on,
and reads the files again each time. A run that was interrupted continues where it was.

With --account-key it also compares what you know of accounts with the log. The files are pages of
GET /v1/accounts/{id}/audit-chain and receipts, as ledger verify --account --save writes them. Each of
their entries must be in the log, and the hash of each entry of a page is computed again. A receipt is
believed until ledger verify has verified its signature and its contents. No other entry of the
account may be there: one that no file has was not shown to you, and two in one place of the chain are
two histories.

With --head it compares the log with heads that others were shown: what /log/checkpoint returned in
another place, or the file .forks of a witness. The witnesses of the policy are asked for the last head
that they signed. All these heads are also compared with each other.

Verdicts: UNTRUSTED: signatures are missing. WENT BACK: an old head is shown. FORKED: there are two
histories. TAMPERED: entries or tiles are not those that were signed, or an entry in a file does not
have its hash. INCOMPLETE: the log does not show a part of itself. STALE: the head is older than
--max-age. MISSING: an entry that you know is not in the log. NOT SHOWN: the log has an entry that you do not
know.

Exit code 0: nothing is wrong. 1: something is, and a line names it. 2: the command line or a file is
wrong. 3: the log could not be reached, so that nothing is known.`,
    )
    .argument('[file...]', 'pages of chains, and receipts')
    .option('--url <url>', 'address of the log, such as https://ledger.example.com/log; default: that in the policy')
    .requiredOption('--policy <file>', 'policy (C2SP) with the key of the log, its witnesses and the quorum')
    .requiredOption('--state <file>', 'file of the monitor; it is made in the first run')
    .option(
      '--account-key <file>',
      'file with lines "ACCOUNT_ID LOG_KEY", or a response of GET /v1/accounts/{id}/log-key; may be given several times',
      oneMore,
      [],
    )
    .option(
      '--head <file>',
      'head of the log that others were shown, or the file .forks of a witness; may be given several times',
      oneMore,
      [],
    )
    .option('--no-ask-witnesses', 'do not ask the witnesses of the policy for the last head that they signed')
    .option(
      '--max-age <seconds>',
      'age of a head, by the time of its witnesses, from which it is STALE; 0: any age; default: 600 if the quorum needs witnesses. A ledger has its heads signed anew each minute, also without new entries',
      integerBetween(0, MOST_SECONDS),
    )
    .option(
      '--ahead <entries>',
      'entries of an account that are searched behind its last known one',
      integerBetween(1, MOST_AHEAD),
      1_000,
    )
    .option('--anew', 'read all entries of the log again')
    .option('--follow', 'go on until Ctrl-C')
    .option('--every <seconds>', 'with --follow: time between two runs', integerBetween(1, MOST_SECONDS), 10)
    .action(async (names: readonly string[], options: Options) => {
      const shown = verdictIo(io, options.json === true)
      if (options.accountKey.length === 0 && names.length > 0) throw new UsageError('the files need --account-key')
      exitUnless(options.follow === true ? await follow(names, options, shown) : await runOnce(names, options, shown))
    })
  addOutputOptions(command)
  addExamples(command, [
    'ledger monitor --url https://ledger.example.com/log --policy log.policy --state log.state',
    'ledger monitor --url https://ledger.example.com/log --policy log.policy --state log.state --account-key alice.key alice/chain.ndjson alice/receipts.ndjson',
  ])
}

/** Not `<file...>`, which would also take the documents that follow. */
function oneMore(name: string, names: readonly string[]): readonly string[] {
  return [...names, name]
}

async function runOnce(names: readonly string[], options: Options, io: VerdictIo): Promise<boolean> {
  const lines = await linesOf(names, options, io, io.err)
  for (const line of lines) io.verdict(line)
  return lines.every(({ verdict }) => verdict === 'ok')
}

/** Prints each verdict once, until it no longer holds, and each note once. False: something was wrong. */
async function follow(names: readonly string[], options: Options, io: VerdictIo): Promise<boolean> {
  const stop = io.stopSignal()
  let [isGood, hasRun] = [true, false]
  let failed: string | undefined
  let before = new Set<string>()
  const noted = new Set<string>()
  const note = (text: string): void => {
    if (!noted.has(text)) io.err(text)
    noted.add(text)
  }
  while (!stop.aborted) {
    try {
      const lines = await linesOf(names, options, io, note)
      for (const line of lines) if (!before.has(line.detail)) io.verdict(line)
      before = new Set(lines.map(({ detail }) => detail))
      isGood &&= lines.every(({ verdict }) => verdict === 'ok')
      ;[hasRun, failed] = [true, undefined]
    } catch (error) {
      // A file that was there may be absent while it is replaced.
      const isFile = hasRun && error instanceof UsageError && error.cause instanceof CommandFailed
      if (!isFile && !(error instanceof OutcomeUnknown)) throw error
      if (failed !== error.message) io.err(`${error.message}; trying again (Ctrl-C ends it)\n`)
      failed = error.message
    }
    await pause(options.every, stop)
  }
  return isGood
}

function pause(seconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      stop.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, seconds * 1_000)
    stop.addEventListener('abort', end)
    if (stop.aborted) end()
  })
}

/**
 * The verdicts of a run. Files are read anew, so that receipts can be added while the command runs. `note`: prints a line for
 * people.
 */
async function linesOf(
  names: readonly string[],
  options: Options,
  io: CommandIo,
  note: (text: string) => void,
): Promise<readonly VerdictLine[]> {
  let text = 'reading the log'
  try {
    const monitored = await monitorOptions(names, options, { ...io, err: note })
    const onProgress = (done: number, size: number): void => {
      text = `reading the log: ${done} of ${size} entries`
    }
    const report = await withProgress(
      () => text,
      io,
      () => monitorLog({ ...monitored, onProgress }),
    )
    return verdictsOf(report)
  } catch (error) {
    if (error instanceof LogUnreachable) throw new OutcomeUnknown(error.message, { cause: error })
    const isUnusable = error instanceof MonitorFileUnusable || error instanceof TooManyTags
    if (isUnusable || error instanceof CommandFailed) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

async function monitorOptions(
  names: readonly string[],
  options: Options,
  io: CommandIo,
): Promise<Omit<MonitorOptions, 'onProgress'>> {
  const policy = await readPolicy(options.policy, io)
  const url = addressOf(options.url, policy)
  const maxAge = options.maxAge ?? (meetsQuorum(policy, new Set()) ? 0 : DEFAULT_MAX_AGE_S)
  if (maxAge > 0 && policy.witnesses.size === 0) {
    throw new UsageError('--max-age needs witnesses in the policy: they state the time of a head')
  }
  const accounts = await readAccountKeys(options.accountKey, io)
  const given = await readGivenHeads(options.head, io)
  return {
    reader: createLogReader(getOver(url), url),
    policy,
    store: createMonitorFile(resolve(io.cwd, options.state)),
    accounts,
    known: await readKnownEntries(names, accounts, io),
    ahead: options.ahead,
    maxAgeMs: maxAge === 0 ? undefined : maxAge * 1_000,
    isAnew: options.anew === true,
    others: async (origin) => [
      ...headsOf(origin, given, io),
      ...(options.askWitnesses ? await headsOfWitnesses(policy, origin, io) : []),
    ],
    nowMs: createSystemClock().now,
  }
}

function addressOf(given: string | undefined, { logs }: TrustPolicy): string {
  const [url, ...others] = given === undefined ? logs.flatMap((log) => log.url ?? []) : [given]
  if (url === undefined || others.length > 0)
    throw new UsageError('--url is needed: the policy has not one URL of a log')
  if (/^https?:/.test(url) && URL.canParse(url)) return url
  throw new UsageError(`${url} is no address of a log, such as https://ledger.example.com/log`)
}

async function readPolicy(name: string, io: CommandIo): Promise<TrustPolicy> {
  try {
    return await parsePolicy(await readGivenText(name, io))
  } catch (error) {
    if (error instanceof PolicyMalformed) throw new UsageError(`${name}: ${error.message}`, { cause: error })
    throw error
  }
}

/** A witness keeps pairs of heads of all its logs in one file. */
function headsOf(origin: string, given: readonly GivenHead[], io: CommandIo): readonly OtherHead[] {
  const heads = given.filter((head) => (head.origin ?? origin) === origin)
  if (heads.length === 0 && given.length > 0) io.err(`no given head is one of the log ${origin}\n`)
  return heads
}

/** A witness that does not respond is only named: the quorum of the policy is what counts. */
async function headsOfWitnesses(
  { witnesses }: TrustPolicy,
  origin: string,
  io: CommandIo,
): Promise<readonly OtherHead[]> {
  const heads = await Promise.all(
    [...witnesses].map(async ([name, { url }]): Promise<readonly OtherHead[]> => {
      if (url === undefined) return []
      try {
        const note = await headOfWitness(getOver(url), origin)
        return note === undefined ? [] : [{ name: `witness ${name}`, note }]
      } catch (error) {
        if (!(error instanceof LogUnreachable)) throw error
        io.err(`witness ${name}: ${error.message}\n`)
        return []
      }
    }),
  )
  return heads.flat()
}

function verdictsOf({ findings, head, read, accounts }: MonitorReport): readonly VerdictLine[] {
  const good: VerdictLine[] = []
  if (head !== undefined) {
    const { origin, size, witnesses, witnessedAtMs } = head
    const at = witnessedAtMs === undefined ? '' : ` at ${new Date(witnessedAtMs).toISOString()}`
    const by = witnesses.length === 0 ? 'no witness' : witnesses.join(', ')
    const detail = `the log ${origin} has ${size} entries, ${read} of them read now; its head is signed by ${by}${at}`
    good.push({ verdict: 'ok', detail, facts: { origin, size, read, witnesses } })
  }
  for (const { accountId, found, pending, findings: wrong } of accounts) {
    if (wrong.length > 0) continue
    const fresh = pending === 0 ? '' : `; ${pending} of the last minute may still come`
    const detail = `${accountId}: ${found} known entries are in the log, and no others${fresh}`
    good.push({ verdict: 'ok', detail, facts: { account_id: accountId, found, pending } })
  }
  return [...good, ...findings.map(lineOf)]
}

function lineOf({ kind, detail, facts }: Finding): VerdictLine {
  return { verdict: WORDS[kind], detail, ...(facts === undefined ? {} : { facts }) }
}
