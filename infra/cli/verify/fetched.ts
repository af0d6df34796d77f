/** The responses that `ledger verify --account` and `--txn` verify, fetched with the profile. */
import { join } from 'node:path'
import { type AuditChain, isLedgerError, type LedgerClient } from '../../../api/client/index.ts'
import { CommandFailed, type CommandIo } from '../common/command.ts'
import { withNewFile } from '../common/new-file.ts'
import { withProgress } from '../common/progress.ts'
import { shownText } from '../common/shown-text.ts'
import type { GivenLogProof } from './check-log-proofs.ts'
import { type SessionOptions, withSession } from '../profile/session.ts'
import { makeUserDirectory } from '../profile/config-directory.ts'

export interface FetchRequest {
  readonly account?: string | undefined
  readonly txnIds: readonly string[]
  /** Directory for the responses, so that they can be verified again without the ledger. */
  readonly save?: string | undefined
  /** File with the policy: proofs of the log are fetched, too. */
  readonly policy?: string | undefined
}

export interface FetchedReceipt {
  /** As requested. */
  readonly txnId: string
  /** The account whose chain has the transaction; undefined: any. */
  readonly accountId: string | undefined
  readonly text: string
}

/** JSON texts of responses, as the API sent them. */
export interface Fetched {
  readonly pages: readonly string[]
  readonly receipts: readonly FetchedReceipt[]
  readonly keySet: string
  readonly logProofs: FetchedLogProofs
  /** `audit_hash` of the account; undefined without an account. */
  readonly tip: string | undefined
}

export interface FetchedLogProofs {
  readonly given: readonly GivenLogProof[]
  /** Names of proofs of entries that no published head of the log has yet. */
  readonly pending: readonly string[]
}

const PAGE_SIZE = 1_000

/** With an account: its chain, and the receipts of all transactions in it. */
export async function fetchResponses(request: FetchRequest, options: SessionOptions, io: CommandIo): Promise<Fetched> {
  const fetched = await withSession(options, io, async ({ client }): Promise<Fetched> => {
    const keySet = JSON.stringify(await client.keySet())
    const { account } = request
    const state = account === undefined ? undefined : await client.call('getAccount', { path: { accountId: account } })
    if (state !== undefined && state.account_id !== account) {
      throw new CommandFailed(`the ledger sent account ${shownText(state.account_id)} in place of ${account}`)
    }
    const chain = account === undefined ? [] : await chainOf(account, state?.sequence ?? 0, client)
    const inChain = chain.flatMap(({ entries }) => entries.flatMap(({ txn_id }) => txn_id ?? []))
    const wanted = [
      ...inChain.map((txnId) => ({ txnId, accountId: account })),
      ...request.txnIds.map((txnId) => ({ txnId, accountId: undefined })),
    ]
    const receipts = await receiptsOf(wanted, client, io)
    const logProofs =
      request.policy === undefined
        ? { given: [], pending: [] }
        : await withProgress(
            () => 'waiting for a head of the log',
            io,
            () => logProofsOf(request, state?.sequence, client),
          )
    return { pages: chain.map((page) => JSON.stringify(page)), receipts, keySet, logProofs, tip: state?.audit_hash }
  })
  if (request.save !== undefined) await save(fetched, { directory: request.save, policy: request.policy }, io)
  return fetched
}

/** Up to this entry: more may arrive meanwhile, and the tip is that of this entry. */
async function chainOf(account: string, lastSequence: number, client: LedgerClient): Promise<readonly AuditChain[]> {
  const path = { accountId: account }
  const found: AuditChain[] = []
  for await (const page of client.pages('listAuditChain', { path, query: { page_size: PAGE_SIZE } })) {
    const entries = page.entries.filter(({ sequence }) => sequence <= lastSequence)
    found.push({ ...page, entries, total_count: lastSequence + 1 })
    if (entries.length < page.entries.length) break
  }
  return found
}

async function receiptsOf(
  wanted: readonly Omit<FetchedReceipt, 'text'>[],
  client: LedgerClient,
  io: CommandIo,
): Promise<readonly FetchedReceipt[]> {
  const found: FetchedReceipt[] = []
  await withProgress(
    () => `fetching receipts: ${found.length} of ${wanted.length}`,
    io,
    async () => {
      for (const one of wanted) found.push({ ...one, text: JSON.stringify(await client.receipt(one.txnId)) })
    },
  )
  return found
}

/** Of the last entry of a chain, which proves those before, and of each named transaction that has an entry. */
export async function logProofsOf(
  { account, txnIds }: Pick<FetchRequest, 'account' | 'txnIds'>,
  lastSequence: number | undefined,
  client: Pick<LedgerClient, 'logProof' | 'receiptLogProof'>,
): Promise<FetchedLogProofs> {
  const given: GivenLogProof[] = []
  const pending: string[] = []
  const add = async (name: string, fetch: () => Promise<string | undefined>): Promise<void> => {
    try {
      const text = await fetch()
      if (text !== undefined) given.push({ name, text })
    } catch (error) {
      if (!isLedgerError(error, 'ERR_WAIT_TIMEOUT')) throw error
      pending.push(name)
    }
  }
  if (account !== undefined && lastSequence !== undefined) {
    await add('chain.tlog-proof', () => client.logProof(account, lastSequence))
  }
  for (const txnId of txnIds) {
    await add(`${txnId}.tlog-proof`, () =>
      client.receiptLogProof(txnId).catch((error: unknown) => {
        // A failed transaction has no entry. The missing proof of another one is found later.
        if (isLedgerError(error, 'ERR_NOT_FOUND')) return undefined
        throw error
      }),
    )
  }
  return { given, pending }
}

interface SavePlace {
  readonly directory: string
  readonly policy: string | undefined
}

async function save(
  { pages, receipts, keySet, logProofs }: Fetched,
  { directory, policy }: SavePlace,
  io: CommandIo,
): Promise<void> {
  makeUserDirectory(directory)
  const files = [
    ['chain.ndjson', pages],
    ['receipts.ndjson', receipts.map(({ text }) => text)],
    ['jwks.json', [keySet]],
  ] as const
  const saved = files
    .filter(([, lines]) => lines.length > 0)
    .map(([name, lines]) => [join(directory, name), lines] as const)
  for (const [path, lines] of saved) {
    await withNewFile(path, io, async (file) => {
      await file.write(`${lines.join('\n')}\n`)
      await file.finish()
    })
  }
  for (const { name, text } of logProofs.given) {
    await withNewFile(join(directory, name), io, async (file) => {
      await file.write(text)
      await file.finish()
    })
  }
  const proofs = logProofs.given.map(({ name }) => ` --proof ${join(directory, name)}`).join('')
  const trusted = policy === undefined || proofs === '' ? '' : ` --policy ${policy}${proofs}`
  const given = saved.map(([path]) => path).filter((path) => !path.endsWith('jwks.json'))
  io.err(
    `saved; verify again with: ledger verify --jwks ${join(directory, 'jwks.json')}${trusted} ${given.join(' ')}\n`,
  )
}
