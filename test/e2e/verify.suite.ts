/** Goal: what a client has saved can be checked by anybody, offline, and names the first thing that is not as it was. */
import { spawn } from 'node:child_process'
import { createHash, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpReply, membersOf, send, textOf } from '../support/client.ts'
import { canonical, type Members, newAccountKeys } from '../support/client-keys.ts'
import { projectRoot } from '../support/cluster-process.ts'
import type { GetRunning } from './running.ts'

const SUBMISSIONS = 6

interface Entry {
  readonly sequence: number
  txn_id: string | null
  readonly previous_hash: string
  audit_hash: string
  payload: string
}

interface Saved {
  readonly chain: { readonly account_id: string; entries: Entry[] }
  readonly receipts: { receipt: Record<string, unknown>; signature: string }[]
}

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** As the chain's rule has it: SHA-256(previous hash || SHA-256(payload)). */
function hashOf(previousHash: string, payload: string): string {
  const digest = createHash('sha256').update(payload).digest()
  const previous = Buffer.from(previousHash.slice('sha256:'.length), 'hex')
  return `sha256:${createHash('sha256').update(previous).update(digest).digest('hex')}`
}

export function verifySuite(running: GetRunning): void {
  describe('ledger verify', () => {
    let directory = ''
    let saved = ''
    let jwks = ''
    let tip = ''
    let txnIds: readonly string[] = []

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'ledger-verify-'))
      const { client, cluster } = running()
      const holder = await client.register('exported@verify')
      const replies: HttpReply[] = []
      for (let number = 0; number < SUBMISSIONS; number += 1) {
        replies.push(
          await client.submit(holder, {
            amount: number % 2 === 0 ? '10' : '4.5',
            type: number % 2 === 0 ? 'credit' : 'debit',
            idempotency_key: `${number}`,
          }),
        )
      }
      replies.push(await client.submit(holder, { amount: '1000', type: 'debit', idempotency_key: 'fails' }))
      txnIds = replies.map((reply) => textOf(membersOf(reply), 'txn_id'))
      const receipts = await Promise.all(txnIds.map((txnId) => client.read(`/v1/transactions/${txnId}/receipt`)))
      const chain = await client.read('/v1/accounts/exported@verify/audit-chain')
      const state = await client.read('/v1/accounts/exported@verify/state')
      tip = textOf(state, 'audit_hash')
      saved = JSON.stringify({ chain, receipts })
      jwks = (await send(cluster.origin, { method: 'GET', path: '/.well-known/jwks.json' })).body
    })

    afterAll(() => rmSync(directory, { recursive: true, force: true }))

    /** Runs the real command on what a client saved, after `tamper` has had it. */
    async function verify(
      tamper: (export_: Saved) => void,
      { keys = jwks, knownTip = [tip] }: { keys?: string; knownTip?: readonly string[] } = {},
    ): Promise<Ended> {
      const tampered = JSON.parse(saved) as Saved
      tamper(tampered)
      const file = (name: string, text: string): string => {
        const path = join(directory, name)
        writeFileSync(path, text)
        return path
      }
      const chain = file('chain.json', JSON.stringify(tampered.chain))
      const receipts = file('receipts.ndjson', tampered.receipts.map((receipt) => JSON.stringify(receipt)).join('\n'))
      const program = join(projectRoot(), 'infra', 'main', 'ledger.mjs')
      const tips = knownTip.flatMap((known) => ['--tip', known])
      const args = [program, 'verify', '--jwks', file('jwks.json', keys), ...tips, chain, receipts]
      return new Promise((resolve, reject) => {
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
        let output = ''
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding('utf8').on('data', (text: string) => {
            output += text
          })
        }
        child.once('error', reject)
        child.once('close', (code) => resolve({ code, output }))
      })
    }

    function entryOf(export_: Saved, sequence: number): Entry {
      const entry = export_.chain.entries[sequence]
      if (entry === undefined) throw new Error(`there is no entry ${sequence}`)
      return entry
    }

    function receiptOf(export_: Saved, index: number): Saved['receipts'][number] {
      const receipt = export_.receipts[index]
      if (receipt === undefined) throw new Error(`there is no receipt ${index}`)
      return receipt
    }

    test('I6, I7: an untouched export of a chain and its receipts is accepted', async () => {
      const { code, output } = await verify(() => undefined)
      expect(output).toContain(`chain of exported@verify, ${SUBMISSIONS + 1} entries`)
      for (const txnId of txnIds) expect(output).toContain(`ok: receipt of ${txnId}`)
      expect(output).not.toContain('TAMPERED')
      expect(code).toBe(0)
    })

    const tamperings: readonly (readonly [what: string, sequence: number, tamper: (export_: Saved) => void])[] = [
      [
        'another amount in the payload',
        3,
        (export_) => {
          const entry = entryOf(export_, 3)
          entry.payload = entry.payload.replace('"amount":"10"', '"amount":"99"')
        },
      ],
      [
        'a payload rewritten and hashed anew, the rest as it was',
        2,
        (export_) => {
          const entry = entryOf(export_, 2)
          entry.payload = entry.payload.replace('"amount":"4.5"', '"amount":"0.5"')
          entry.audit_hash = hashOf(entry.previous_hash, entry.payload)
        },
      ],
      ['an entry taken out', 4, (export_) => export_.chain.entries.splice(4, 1)],
      [
        'an entry given a second time, in another wording',
        5,
        (export_) => {
          const { payload, ...entry } = entryOf(export_, 5)
          const other = payload.replace('"amount":"10"', '"amount":"1000"')
          const { previous_hash: previousHash } = entry
          export_.chain.entries.push({ ...entry, payload: other, audit_hash: hashOf(previousHash, other) })
        },
      ],
      [
        'two payloads that changed places',
        1,
        (export_) => {
          const [one, other] = [entryOf(export_, 1), entryOf(export_, 3)]
          const { payload } = one
          one.payload = other.payload
          other.payload = payload
        },
      ],
      [
        'another transaction named',
        3,
        (export_) => {
          entryOf(export_, 3).txn_id = entryOf(export_, 1).txn_id
        },
      ],
      [
        'a registration under another key, hashed anew',
        0,
        (export_) => {
          const entry = entryOf(export_, 0)
          entry.payload = entry.payload.replace(/"public_key":"[^"]+"/, '"public_key":"AAAA"')
          entry.audit_hash = hashOf(entry.previous_hash, entry.payload)
        },
      ],
    ]
    test.for(tamperings)('I6: %s is found, and entry %i is named', async ([, sequence, tamper]) => {
      const { code, output } = await verify(tamper)
      expect(output).toMatch(new RegExp(`TAMPERED: entry ${sequence}\\b`))
      expect(code).toBe(1)
    })

    test('I6: a chain cut short at its end does not have the known tip', async () => {
      const { code, output } = await verify((export_) => export_.chain.entries.splice(-1))
      expect(output).toContain('TAMPERED')
      expect(code).toBe(1)
    })

    test('I7: a last entry rewritten and hashed anew is found by its receipt, where the tip is not known', async () => {
      const { code, output } = await verify(
        (export_) => {
          const entry = entryOf(export_, SUBMISSIONS)
          entry.payload = entry.payload.replace('"amount":"4.5"', '"amount":"0.5"')
          entry.audit_hash = hashOf(entry.previous_hash, entry.payload)
        },
        { knownTip: [] },
      )
      expect(output).toContain(`TAMPERED: receipt of ${txnIds[SUBMISSIONS - 1] ?? 'nothing'}`)
      expect(code).toBe(1)
    })

    const forgeries: readonly (readonly [what: string, index: number, forge: (export_: Saved) => void])[] = [
      [
        'a receipt that says another amount',
        2,
        (export_) => {
          receiptOf(export_, 2).receipt['amount'] = '11'
        },
      ],
      [
        'the signature of another receipt',
        1,
        (export_) => {
          receiptOf(export_, 1).signature = receiptOf(export_, 0).signature
        },
      ],
      [
        'a failed transaction made out as completed',
        SUBMISSIONS,
        (export_) => {
          receiptOf(export_, SUBMISSIONS).receipt['status'] = 'completed'
        },
      ],
      [
        'a signature by a key of the forger',
        0,
        (export_) => {
          const forged = receiptOf(export_, 0)
          forged.receipt['amount'] = '1000000'
          const payload = Buffer.from(canonical(forged.receipt as Members))
          forged.signature = sign('sha256', payload, newAccountKeys().privateKey).toString('base64')
        },
      ],
    ]
    test.for(forgeries)('I7: %s is found, and its transaction is named (receipt %i)', async ([, index, forge]) => {
      const { code, output } = await verify(forge)
      expect(output).toContain(`TAMPERED: receipt of ${txnIds[index] ?? 'nothing'}`)
      expect(code).toBe(1)
    })

    test('I7: receipts of a key that the JWKS does not have are not accepted, nor called tampered', async () => {
      const others = JSON.parse(jwks) as { keys: { purpose: string }[] }
      const { code, output } = await verify(() => undefined, {
        keys: JSON.stringify({ ...others, keys: others.keys.filter(({ purpose }) => purpose !== 'receipt') }),
      })
      expect(output).toContain('NOT CHECKED: receipt of')
      expect(code).toBe(1)
    })
  })
}
