/** Lists of transactions as lines, as a client takes them. */
import { request } from 'node:http'
import type { LedgerClient } from './client.ts'
import type { Members } from './client-keys.ts'
import { linesOf } from './documented-interface.ts'

export const AS_LINES = { accept: 'application/x-ndjson' }

/** All lines of an answer that must be whole. */
export async function readLines(client: LedgerClient, path: string): Promise<readonly Members[]> {
  const reply = await client.get(path, AS_LINES)
  if (reply.status !== 200) throw new Error(`GET ${path}: ${reply.status} ${reply.body}`)
  const lines = linesOf(reply.body) as readonly Members[]
  if (lines.at(-1)?.['end'] !== true) throw new Error(`GET ${path}: it has no end: ${JSON.stringify(lines.at(-1))}`)
  return lines
}

/** The text that arrived before the client hung up, after that many bytes: the last line may be incomplete. */
export function readSome({ origin, ...client }: LedgerClient, path: string, bytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${client.token}`, ...AS_LINES }
    const asking = request(`${origin}${path}`, { headers, agent: false }, (incoming) => {
      let text = ''
      incoming.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        if (text.length >= bytes) incoming.destroy()
      })
      incoming.on('error', () => undefined)
      incoming.on('close', () => resolve(text))
    })
    asking.once('error', reject)
    asking.end()
  })
}

export function transactionsIn(lines: readonly Members[]): readonly Members[] {
  return lines.filter((line) => line['txn_id'] !== undefined)
}
