import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import {
  CommandFailed,
  EXIT_FAILED,
  EXIT_OK,
  readArgs,
  UsageError,
  type Command,
  type CommandIo,
} from './common/command.ts'
import type { GivenAssertion } from '../../api/schemas/assertion.ts'
import { readExport, readJwks, type ExportedPage } from './verify/export-file.ts'
import { unfitOf } from './verify/jwks-fit.ts'
import { type CheckedChain, type GivenEntry, verifyChain } from './verify/verify-chain.ts'
import { isExport, verifyExport } from './verify/verify-export.ts'
import {
  problemOfGivenAssertion,
  problemOfLiabilityProof,
  type GivenLiabilityProof,
} from './verify/verify-liabilities.ts'
import { problemOfReceipt, type GivenReceipt, type ReceiptKeys } from './verify/verify-receipt.ts'

const NO_KEYS: ReceiptKeys = { name: 'the JWKS', ledgerId: undefined, keys: [] }
const TIP = /^sha256:[0-9a-f]{64}$/

export const verifyCommand: Command = {
  summary: 'check what was saved or exported of a ledger, offline; which accounts went back',
  help: `Usage: ledger verify [--jwks FILE] [--tip HASH] FILE...
       ledger verify --checkpoint FILE [--jwks FILE] [--offline]

Checks what was saved of the interface, without asking the ledger. Each FILE (- for standard input) holds pages of
GET /v1/accounts/{id}/audit-chain, receipts of GET /v1/transactions/{id}/receipt, assertions of POST /v1/assertions/..., proofs
of GET /v1/accounts/{id}/liability-proof, a list of them, or one of them a line. All pages of one account's chain must be
given, in any order. Or each FILE is what ledger export wrote: every line is checked, the first that is not as it was
written is named, and so is what the export holds.

  --jwks FILE   the document of /.well-known/jwks.json; needed for all but chains
  --tip HASH    the audit_hash that the account is known to have (sha256:...): shows that no entry at the end is missing

Every hash is computed anew from entry 0; each receipt's signature, key and place in the chain are checked; so are what an
assertion's key signed, and the way from an account's shares to the total that was signed. A proof of liabilities shows what
the ledger owed the account, token by token, at the moment of the proof.

  --checkpoint FILE   what ledger checkpoint wrote: names each account that is no longer where it was then, or further, and
                      checks the checkpoints in the database. Needs the database and the master key
  --offline           only whether FILE is whole and was signed by the ledger; needs --jwks, and nothing else

Exit code 0: everything holds. 1: something does not, and the first entry that was tampered with is named; or it was NOT
CHECKED, because the JWKS is of another ledger or lacks the key that is named: it says which to fetch. A checkpoint that is
empty or was cut off is UNREADABLE.
`,
  run: async (args, io) => {
    const { values, positionals } = readArgs(
      args,
      {
        jwks: { type: 'string' },
        tip: { type: 'string' },
        checkpoint: { type: 'string' },
        offline: { type: 'boolean' },
      },
      { least: 0, most: 10_000, what: 'FILE' },
    )
    if (values.tip !== undefined && !TIP.test(values.tip)) {
      throw new UsageError('--tip must be an audit_hash: sha256: and 64 digits of 0-9 and a-f')
    }
    if (values.checkpoint !== undefined || values.offline === true) return verifySaved(values, positionals, io)
    if (positionals.length === 0) throw new UsageError('FILE is missing')
    const exports = positionals.filter((name) => isExport(name, io))
    if (exports.length > 0) return verifyExports(exports, positionals, values, io)
    const pages: ExportedPage[] = []
    const receipts: GivenReceipt[] = []
    const assertions: GivenAssertion[] = []
    const proofs: GivenLiabilityProof[] = []
    for (const name of positionals) {
      const found = readExport(await readText(name, io), name)
      pages.push(...found.pages)
      receipts.push(...found.receipts)
      assertions.push(...found.assertions)
      proofs.push(...found.proofs)
    }
    const signed = receipts.length + assertions.length + proofs.length
    if (signed === 0 && pages.every((page) => page.entries.length === 0)) {
      throw new CommandFailed('there is nothing to check: no entry, and nothing that is signed')
    }
    if (signed > 0 && values.jwks === undefined) throw new UsageError('--jwks is missing: what is signed needs it')
    const keys = values.jwks === undefined ? NO_KEYS : readJwks(await readText(values.jwks, io), values.jwks)
    const chains = checkChains(pages, values.tip, io)
    if (chains === undefined) return EXIT_FAILED
    const good = [
      checkReceipts(receipts, keys, chains, io),
      checkAssertions(assertions, keys, io),
      checkProofs(proofs, keys, io),
    ]
    return good.every(Boolean) ? EXIT_OK : EXIT_FAILED
  },
}

async function verifyExports(
  exports: readonly string[],
  all: readonly string[],
  { jwks, tip }: Pick<CheckpointValues, 'jwks' | 'tip'>,
  io: CommandIo,
): Promise<number> {
  if (exports.length < all.length || tip !== undefined) throw new UsageError('exports are checked by themselves')
  if (jwks === undefined) throw new UsageError('--jwks is missing: what is signed needs it')
  const keys = readJwks(await readText(jwks, io), jwks)
  let good = true
  for (const name of exports) good = (await verifyExport(name, keys, io)) && good
  return good ? EXIT_OK : EXIT_FAILED
}

interface CheckpointValues {
  readonly checkpoint?: string | undefined
  readonly offline?: boolean | undefined
  readonly jwks?: string | undefined
  readonly tip?: string | undefined
}

async function verifySaved(values: CheckpointValues, others: readonly string[], io: CommandIo): Promise<number> {
  const { checkpoint, offline, jwks, tip } = values
  if (checkpoint === undefined) throw new UsageError('--offline is for --checkpoint: all else is checked offline')
  if (others.length > 0 || tip !== undefined) throw new UsageError('--checkpoint is checked alone')
  const keys = jwks === undefined ? undefined : readJwks(await readText(jwks, io), jwks)
  // Only here: it needs the database driver, and checking a receipt in a shell must not wait for that.
  const { verifyCheckpoint, verifyCheckpointOffline } = await import('./checkpoint/verify-checkpoint.ts')
  if (offline !== true) return verifyCheckpoint(checkpoint, keys, io)
  if (keys === undefined) throw new UsageError('--jwks is missing: what is signed needs it')
  return verifyCheckpointOffline(checkpoint, keys, io)
}

/** Undefined when a chain does not hold. */
function checkChains(
  pages: readonly ExportedPage[],
  tip: string | undefined,
  io: CommandIo,
): readonly CheckedChain[] | undefined {
  const chains: CheckedChain[] = []
  const byAccount = groupPages(pages)
  if (tip !== undefined && byAccount.length !== 1) throw new UsageError('--tip needs the chain of exactly one account')
  for (const { accountId, entries, total } of byAccount) {
    const result = verifyChain(entries)
    if (!result.ok) {
      const { sequence, txnId, problem } = result.problem
      io.out(`TAMPERED: entry ${sequence}${txnId === null ? '' : ` (${txnId})`}: ${problem}\n`)
      return undefined
    }
    if (tip !== undefined && result.chain.tip !== tip) {
      io.out(`TAMPERED: the chain ends with ${result.chain.tip}, not with ${tip}\n`)
      return undefined
    }
    if (result.chain.entries.size < total) {
      io.out(`INCOMPLETE: ${result.chain.entries.size} of ${total} entries are at hand: give all pages\n`)
      return undefined
    }
    const of = result.chain.accountId === '' ? accountId : result.chain.accountId
    const chain = { ...result.chain, accountId: of }
    const erased =
      chain.erased === 0 ? '' : ` (of ${chain.erased} the payload is erased, and only the links were checked)`
    io.out(`ok: chain of ${of}, ${chain.entries.size} entries${erased}, ends with ${chain.tip}\n`)
    chains.push(chain)
  }
  return chains
}

interface GivenChain {
  readonly accountId: string
  readonly entries: readonly GivenEntry[]
  /** How many entries there were when the first page was made, as far as it says. */
  readonly total: number
}

/** Entries of one account together. Pages that do not say whose they are belong to one chain. */
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

function checkReceipts(
  receipts: readonly GivenReceipt[],
  keys: ReceiptKeys,
  chains: readonly CheckedChain[],
  io: CommandIo,
): boolean {
  let good = true
  const ledgers = new Set<unknown>()
  for (const given of receipts) {
    const named = given.receipt['txn_id']
    const txnId = typeof named === 'string' ? named : '(no txn_id)'
    const chain = chains.find((candidate) => candidate.accountId === given.receipt['account_id'])
    const wrong = wrongOf(given.receipt, keys, () => problemOfReceipt(given, keys, chain))
    ledgers.add(given.receipt['ledger_id'])
    if (wrong === undefined)
      io.out(`ok: receipt of ${txnId}${chain === undefined ? ' (its chain is not at hand)' : ''}\n`)
    else io.out(`${wrong.verdict}: receipt of ${txnId}: ${wrong.why}\n`)
    good &&= wrong === undefined
  }
  if (ledgers.size > 1) {
    io.out('TAMPERED: the receipts are of different ledgers\n')
    return false
  }
  return good
}

function checkAssertions(assertions: readonly GivenAssertion[], keys: ReceiptKeys, io: CommandIo): boolean {
  const wrongs = assertions.map((given) => {
    const wrong = wrongOf(given.result, keys, () => problemOfGivenAssertion(given, keys))
    const { requester, generated_at: generatedAt } = given.result
    const named = `${given.assertionType} for ${shown(requester)} of ${shown(generatedAt)}`
    io.out(wrong === undefined ? `ok: ${named}\n` : `${wrong.verdict}: ${named}: ${wrong.why}\n`)
    return wrong
  })
  return wrongs.every((wrong) => wrong === undefined)
}

function checkProofs(proofs: readonly GivenLiabilityProof[], keys: ReceiptKeys, io: CommandIo): boolean {
  const wrongs = proofs.map((given) => {
    const { accountId, assertion, proofs: tokens } = given
    const wrong = wrongOf(assertion.result, keys, () => problemOfLiabilityProof(given, keys))
    if (wrong !== undefined) {
      io.out(`${wrong.verdict}: liability proof of ${accountId}: ${wrong.why}\n`)
      return wrong
    }
    const of = `in the liabilities of ${shown(assertion.result['as_of'])}`
    for (const { amount, tokenId } of tokens) io.out(`ok: ${accountId} is owed ${amount} ${tokenId} ${of}\n`)
    if (tokens.length === 0) io.out(`ok: ${accountId} is shown no token ${of}, which proves nothing of it\n`)
    return wrong
  })
  return wrongs.every((wrong) => wrong === undefined)
}

interface Wrong {
  readonly verdict: 'TAMPERED' | 'NOT CHECKED'
  readonly why: string
}

/** Undefined when it holds. `signed`: what names ledger and key. */
function wrongOf(signed: JsonObject, keys: ReceiptKeys, problemOf: () => string | undefined): Wrong | undefined {
  const unfit = unfitOf(signed, keys)
  if (unfit !== undefined) return { verdict: 'NOT CHECKED', why: unfit }
  const problem = problemOf()
  return problem === undefined ? undefined : { verdict: 'TAMPERED', why: problem }
}

/** A member of what somebody else wrote. */
function shown(member: Json | undefined): string {
  return JSON.stringify(member ?? null)
}

async function readText(name: string, io: CommandIo): Promise<string> {
  try {
    const bytes = name === '-' ? await io.readInput() : readFileSync(resolve(io.cwd, name))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new CommandFailed(`${name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}
