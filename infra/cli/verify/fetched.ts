/** The responses that `ledger verify --account` and `--txn` verify, fetched with the profile. */
import { join } from 'node:path'
import type { AuditChain, LedgerClient, Receipt } from '../../../api/client/index.ts'
import type { CommandIo } from '../common/command.ts'
import { withNewFile } from '../common/new-file.ts'
import { withProgress } from '../common/progress.ts'
import { type SessionOptions, withSession } from '../profile/session.ts'
import { makeUserDirectory } from '../profile/config-directory.ts'

export interface FetchRequest {
  readonly account?: string | undefined
  readonly txnIds: readonly string[]
  /** Directory for the responses, so that they can be verified again without the ledger. */
  readonly save?: string | undefined
}

/** JSON texts of responses, as the API sent them. */
export interface Fetched {
  readonly pages: readonly string[]
  readonly receipts: readonly string[]
  readonly keySet: string
  /** `audit_hash` of the account; undefined without an account. */
  readonly tip: string | undefined
}

const PAGE_SIZE = 1_000

/** With an account: its chain, and the receipts of all transactions in it. */
export async function fetchResponses(request: FetchRequest, options: SessionOptions, io: CommandIo): Promise<Fetched> {
  const fetched = await withSession(options, io, async ({ client }): Promise<Fetched> => {
    const keySet = JSON.stringify(await client.keySet())
    const { account } = request
    const state = account === undefined ? undefined : await client.call('getAccount', { path: { accountId: account } })
    const chain = account === undefined ? [] : await chainOf(account, state?.sequence ?? 0, client)
    const inChain = chain.flatMap(({ entries }) => entries.flatMap(({ txn_id }) => txn_id ?? []))
    const receipts = await receiptsOf([...inChain, ...request.txnIds], client, io)
    return { pages: chain.map(textOf), receipts: receipts.map(textOf), keySet, tip: state?.audit_hash }
  })
  if (request.save !== undefined) await save(fetched, request.save, io)
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

async function receiptsOf(txnIds: readonly string[], client: LedgerClient, io: CommandIo): Promise<readonly Receipt[]> {
  const found: Receipt[] = []
  await withProgress(
    () => `fetching receipts: ${found.length} of ${txnIds.length}`,
    io,
    async () => {
      for (const txnId of txnIds) found.push(await client.receipt(txnId))
    },
  )
  return found
}

function textOf(value: object): string {
  return JSON.stringify(value)
}

async function save({ pages, receipts, keySet }: Fetched, directory: string, io: CommandIo): Promise<void> {
  makeUserDirectory(directory)
  const files = [
    ['chain.ndjson', pages],
    ['receipts.ndjson', receipts],
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
  const given = saved.map(([path]) => path).filter((path) => !path.endsWith('jwks.json'))
  io.err(`saved; verify again with: ledger verify --jwks ${join(directory, 'jwks.json')} ${given.join(' ')}\n`)
}
