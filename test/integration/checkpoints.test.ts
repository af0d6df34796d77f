/**
 * An attacker with write access to the database restores all old rows of an account. An audit of the rows cannot detect
 * this; the comparison with a checkpoint does, and names the account.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noteText } from '../../api/client/log/signed-note.ts'
import { createServiceKeySeals } from '../../infra/keys/service-key-seals.ts'
import { createNoteSigner, signedHead } from '../../infra/log/log-signer.ts'
import { main } from '../../infra/main/ledger.ts'
import {
  createMissingServiceKeys,
  createServiceKeys,
  type PostgresServiceKeys,
} from '../../infra/postgres/access/service-keys-postgres.ts'
import { recordActs } from '../support/postgres/administrative-acts.ts'
import { keepLog } from '../support/log/kept-log.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import {
  createLedgerDatabase,
  secretsOf,
  TEST_MASTER_KEY_TEXT,
  TEST_MASTER_KEYS,
} from '../support/postgres/ledger-database.ts'
import { silentIo } from '../unit/cli/silent-io.ts'
import { createTampered, type DatabaseCopy, failedOf, type Tampered } from '../support/postgres/tampering.ts'

/** Tables with rows of an account. */
const TABLES = ['accounts', 'account_keys', 'balances', 'holds', 'audit_entries', 'transactions', 'operations'] as const

const LOG_TABLES = ['log_head', 'log_batches', 'log_tiles']
/** Columns of rows that are written anew in another commit. */
const REWRITTEN = ['shard_id', 'account_id', 'sequence', 'previous_hash', 'audit_hash', 'payload'] as const

let tampered: Tampered
let directory: string
let victim: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-checkpoints-'))
  tampered = await createTampered(async (audited, parties, { alice }) => {
    const { sql, vault } = audited
    victim = vault.accountRef(alice.accountId)
    await sql`CREATE SCHEMA old`
    for (const table of TABLES) {
      await sql.unsafe(`CREATE TABLE old.${table} AS SELECT * FROM public.${table} WHERE account_id = '${victim}'`)
    }
    await sql`CREATE TABLE old.boundary_crossings AS SELECT * FROM public.boundary_crossings`
    await recordActs(audited, alice.accountId, 10)
    // The attacker undoes a key rotation, to use a stolen old key, and a debit, to be paid twice.
    await parties.submit(alice, { type: 'debit', amount: '7' })
    await parties.rotate(alice)
    await parties.atRest()
  })
})
afterAll(async () => {
  await tampered?.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Restores the old rows of the account and of external accounts. */
async function restoreOldRows(sql: postgres.Sql): Promise<void> {
  for (const table of TABLES) {
    await sql.unsafe(`DELETE FROM public.${table} WHERE account_id = '${victim}'`)
    await sql.unsafe(`INSERT INTO public.${table} SELECT * FROM old.${table}`)
  }
  const removed = await sql`
    DELETE FROM public.boundary_crossings c WHERE NOT EXISTS (
      SELECT FROM old.boundary_crossings o WHERE o.session = c.session AND o.number = c.number)`
  if (removed.count === 0) throw new Error('the debit wrote no row for an external account')
}

async function ledger(url: string, ...args: readonly string[]) {
  let [out, err] = ['', '']
  const code = await main(
    args,
    silentIo({
      env: { LEDGER_DATABASE_URL: url, LEDGER_MASTER_KEY: TEST_MASTER_KEY_TEXT },
      cwd: directory,
      out: (text) => (out += text),
      err: (text) => (err += text),
    }),
  )
  return { code, out, err }
}

let serial = 0

function newFile(): string {
  serial += 1
  return join(directory, `checkpoint-${serial}`)
}

async function checkpointOf(url: string): Promise<string> {
  const file = newFile()
  await createMissingServiceKeys({ url, seals: createServiceKeySeals(TEST_MASTER_KEYS) })
  expect(await ledger(url, 'checkpoint', file)).toMatchObject({ code: 0 })
  return file
}

/** Extends the log of the database until it has all entries. */
async function extendLog(url: string): Promise<void> {
  const { derive } = await secretsOf(url)
  await keepLog(url, derive('log-entries'), async ({ store, workUntil }) => {
    await workUntil(async () => {
      const head = await store.head()
      return head.edge.size > 0 && (await store.since(head.position)).entries.length === 0
    })
  })
}

/** Runs `work` on a copy of the database whose log has all entries, with a checkpoint file. */
async function onCheckpointed(work: (copy: DatabaseCopy, file: string) => Promise<void>): Promise<void> {
  await tampered.onCopy(async (copy) => {
    await extendLog(copy.url)
    await work(copy, await checkpointOf(copy.url))
  })
}

async function withKeys<T>(url: string, work: (keys: PostgresServiceKeys) => Promise<T>): Promise<T> {
  const { serviceKeys: seals } = await secretsOf(url)
  const keys = await createServiceKeys({ url, seals, clock: createSystemClock() })
  try {
    return await work(keys)
  } finally {
    await keys.close()
  }
}

async function expectVerifyFails(url: string, file: string, ...patterns: readonly RegExp[]): Promise<string> {
  const { code, out } = await ledger(url, 'verify', '--checkpoint', file)
  expect(code).toBe(1)
  for (const pattern of patterns) expect(out).toMatch(pattern)
  return out
}

describe('ledger verify --checkpoint', () => {
  test('names an account whose old rows were restored, which an audit of the rows does not find', async () => {
    await onCheckpointed(async ({ url, sql }, file) => {
      const before = await ledger(url, 'verify', '--checkpoint', file)
      expect(before).toMatchObject({ code: 0, out: expect.stringMatching(/ok: [0-9]+ accounts are not behind/) })
      await restoreOldRows(sql)
      expect(failedOf(await tampered.audit(url))).toEqual([])
      const gone = /^WENT BACK: [0-9]+ entries of the log are gone from the rows: of the batch at 0, added 20\S+Z$/m
      const out = await expectVerifyFails(url, file, gone)
      const named = out.split('\n').filter((line) => line.startsWith('WENT BACK: account'))
      expect(named).toEqual([
        expect.stringMatching(new RegExp(`^WENT BACK: account alice-one \\(${victim}\\): it ended with entry [0-9]+`)),
        expect.stringMatching(
          new RegExp(
            `^WENT BACK: account alice-one \\(${victim}\\): it ends with entry [0-9]+, and the log has its next`,
          ),
        ),
      ])
    })
  })

  test('names the reference of an account whose rows were all deleted', async () => {
    await onCheckpointed(async ({ url, sql }, file) => {
      for (const table of TABLES) await sql.unsafe(`DELETE FROM ${table} WHERE account_id = '${victim}'`)
      await expectVerifyFails(url, file, new RegExp(`account ${victim}: it is gone`))
    })
  })

  test('names an account whose last entry was changed before more entries were added', async () => {
    await onCheckpointed(async ({ url, sql }, file) => {
      let changed = 0
      for (const table of ['audit_entries', 'transactions']) {
        const { count } = await sql`
          UPDATE ${sql(table)} e SET audit_hash = sha256('x') FROM accounts a
           WHERE a.account_id = ${victim} AND e.account_id = a.account_id AND e.sequence = a.sequence`
        changed += count
      }
      expect(changed).toBe(1)
      await sql`UPDATE accounts SET sequence = sequence + 5 WHERE account_id = ${victim}`
      await expectVerifyFails(url, file, new RegExp(`account ${victim}: its entry [0-9]+ has changed`))
    })
  })

  test('names an account if only its row was restored, with the same entries', async () => {
    await onCheckpointed(async ({ url, sql }, file) => {
      await sql`UPDATE accounts SET version = version - 1 WHERE account_id = ${victim}`
      const older = new RegExp(`account ${victim}: its row was version [0-9]+ and is version [0-9]+ now`)
      await expectVerifyFails(url, file, older)
    })
  })

  test('names an account whose rows were restored before the file was written', async () => {
    await onCheckpointed(async ({ url, sql }) => {
      await restoreOldRows(sql)
      const later = await checkpointOf(url)
      const shortened = new RegExp(
        `account alice-one \\(${victim}\\): it ends with entry [0-9]+, and the log has its next`,
      )
      const out = await expectVerifyFails(url, later, shortened, /entries of the log are gone from the rows/)
      expect(out).toContain('accounts are not behind')
    })
  })
})

describe('the log that verify compares with the rows', () => {
  /** Changes one table, and expects these problems. */
  async function expectFound(statement: string, ...problems: readonly string[]): Promise<void> {
    await onCheckpointed(async ({ url, sql }, file) => {
      expect((await sql.unsafe(statement)).count).toBe(1)
      const { code, out } = await ledger(url, 'verify', '--checkpoint', file)
      const found = out.split('\n').filter((line) => line.startsWith('WENT BACK'))
      expect({ code, found }).toEqual({ code: 1, found: problems.map((problem) => expect.stringMatching(problem)) })
    })
  }

  test('has all of it, the statement of the file too, and says how many rows are newer', async () => {
    await onCheckpointed(async ({ url }, file) => {
      for (const newer of [1, 0]) {
        const { code, out } = await ledger(url, 'verify', '--checkpoint', file)
        expect([code, out]).toEqual([0, expect.stringMatching(`ok: log of [0-9]+ entries.*; ${newer} rows are newer`)])
        await extendLog(url)
      }
    })
  })

  test('an entry that was rewritten is named with its account', async () => {
    await expectFound(
      `UPDATE audit_entries SET audit_hash = sha256('x') WHERE account_id = '${victim}' AND sequence = 0`,
      `account alice-one \\(${victim}\\): its entry 0 is not the one in the log`,
    )
  })

  test('an entry that was added to an earlier commit is named with its account', async () => {
    await expectFound(
      `INSERT INTO audit_entries (shard_id, account_id, sequence, previous_hash, audit_hash, payload, commit_xid)
       SELECT shard_id, account_id, 900, audit_hash, audit_hash, '', commit_xid FROM audit_entries
        WHERE account_id = '${victim}' AND sequence = 0`,
      `account alice-one \\(${victim}\\): its entry 900 is not in the log`,
    )
  })

  test('an entry that was removed is counted for its batch', async () => {
    await expectFound(
      `DELETE FROM audit_entries WHERE account_id = '${victim}' AND sequence = 0`,
      '1 entries of the log are gone from the rows: of the batch at 0',
    )
  })

  test.for([
    [
      "UPDATE administrative_entries SET audit_hash = sha256('x') WHERE sequence = 7",
      ['7 is not the one in the log', '7: its row was changed, or cannot be read', '8 does not continue entry 7'],
    ],
    [
      `ALTER TABLE administrative_entries DISABLE TRIGGER USER; INSERT INTO administrative_entries
       SELECT 900, commit_xid, account_id, previous_hash, audit_hash, '' FROM administrative_entries WHERE sequence = 7`,
      ['900 is not in the log', '900: its row was changed, or cannot be read', '900 does not continue entry 9'],
    ],
  ] as const)('%s: the administrative entry is named', async ([statement, problems]) => {
    await expectFound(statement, ...problems.map((problem) => `^WENT BACK: administrative entry ${problem}$`))
  })

  test.for([['sequence = 7', [7]] as const, ['sequence > 7', [8, 9]] as const])(
    'administrative entries that were removed are named, also at the end: %s',
    async ([where, removed]) => {
      await onCheckpointed(async ({ url, sql }, file) => {
        const { count } = await sql.unsafe(`DELETE FROM administrative_entries WHERE ${where}`)
        const { out } = await ledger(url, 'verify', '--checkpoint', file)
        const found = out.split('\n').filter((line) => line.startsWith('WENT BACK') && !line.includes('continue'))
        expect(found).toEqual([
          expect.stringMatching(`${count} entries of the log are gone from the rows: of the batch at 0`),
          ...removed.map((sequence) => `WENT BACK: administrative entry ${sequence} is gone from the rows`),
        ])
      })
    },
  )

  test('a transaction that its commit left out, so that the log never had it, is named with its account', async () => {
    await tampered.onCopy(async ({ url, sql }) => {
      const [left] = await sql<{ txn_id: string; sequence: string }[]>`
        SELECT txn_id, sequence FROM transactions WHERE account_id = ${victim} AND sequence IS NOT NULL LIMIT 1`
      const id = sql`${left?.txn_id ?? ''}::text`
      await sql`UPDATE commits SET final = array_remove(final, ${id}), ended = array_remove(ended, ${id})`
      await extendLog(url)
      const { code, out } = await ledger(url, 'verify', '--checkpoint', await checkpointOf(url))
      const found = out.split('\n').filter((line) => line.startsWith('WENT BACK'))
      const problem = `account alice-one (${victim}): its entry ${left?.sequence} is of no commit, so the log never gets it`
      expect({ code, found }).toEqual({ code: 1, found: [expect.stringContaining(problem)] })
    })
  })

  test('a statement of a checkpoint file that was removed is missed', async () => {
    await expectFound('DELETE FROM log_statements', 'does not have the statement of this file any more')
  })

  test.for([
    ['UPDATE log_head SET root = sha256(root)', 'its entries are not those of its head'],
    ['UPDATE log_batches SET entries = entries - 1', 'its batches have [0-9]+ entries, its head [0-9]+'],
    ['UPDATE log_batches SET first = first + 1', 'its batch of entry 1 does not follow the batch before'],
    [
      'UPDATE log_tiles SET content = set_byte(content, 5, get_byte(content, 5) # 1) WHERE level = 0 AND number = 0',
      'its entries are not those of its head|its tile 0 of level 1',
    ],
  ])('%s: a change of the log itself is found', async ([statement = '', problem = '']) => {
    await onCheckpointed(async ({ url, sql }, file) => {
      expect((await sql.unsafe(statement)).count).toBe(1)
      await expectVerifyFails(url, file, new RegExp(`WENT BACK: the log has changed: (${problem})`))
    })
  })

  test('a log that was rolled back is behind the file', async () => {
    await tampered.onCopy(async ({ url, sql }) => {
      const hidden = await sql`DELETE FROM audit_entries WHERE account_id = ${victim} RETURNING *`
      await extendLog(url)
      for (const table of LOG_TABLES) await sql.unsafe(`CREATE TABLE old.${table} AS SELECT * FROM public.${table}`)
      for (const row of hidden) await sql`INSERT INTO audit_entries ${sql(row, ...REWRITTEN)}`
      await extendLog(url)
      const file = await checkpointOf(url)
      for (const table of LOG_TABLES) {
        await sql.unsafe(`DELETE FROM public.${table}`)
        await sql.unsafe(`INSERT INTO public.${table} SELECT * FROM old.${table}`)
      }
      await expectVerifyFails(
        url,
        file,
        /WENT BACK: the log was rolled back: it has [0-9]+ entries, and its head of \S+ had/,
      )
    })
  })

  test('a log that was computed again over other rows does not continue the head in the file', async () => {
    await onCheckpointed(async ({ url, sql }, file) => {
      await sql`UPDATE audit_entries SET audit_hash = sha256('x') WHERE account_id = ${victim} AND sequence = 0`
      for (const table of LOG_TABLES) await sql.unsafe(`DELETE FROM public.${table}`)
      await extendLog(url)
      await expectVerifyFails(
        url,
        file,
        /WENT BACK: the log does not continue its head of \S+: its first [0-9]+ entries/,
      )
    })
  })

  test('a published head is compared if the ledger signed it', async () => {
    await onCheckpointed(async ({ url, sql }, file) => {
      const { derive } = await secretsOf(url)
      const noteOf = async (name: string, seed: Buffer, size: number) =>
        noteText(signedHead(await createNoteSigner(name, 'log', seed), { size, root: new Uint8Array(32) }))
      await sql`INSERT INTO log_published (size, note) VALUES (2, ${await noteOf('a', derive('log-heads'), 2)})`
      await expectVerifyFails(url, file, /WENT BACK: the log does not continue the head that it published: its first 2/)
      await sql`UPDATE log_published SET note = ${await noteOf('a', derive('log-heads'), 10 ** 9)}`
      await expectVerifyFails(
        url,
        file,
        /rolled back: it has [0-9]+ entries, and the head that it published had 1000000000/,
      )
      await sql`UPDATE log_published SET note = ${await noteOf('a', Buffer.alloc(32), 2)}`
      await expectVerifyFails(url, file, /WENT BACK: the ledger did not sign the head that it published/)
    })
  })
})

describe('a checkpoint file', () => {
  test('is refused if a line was changed, removed or added', async () => {
    await onCheckpointed(async ({ url }, file) => {
      const whole = readFileSync(file, 'utf8')
      const lines = whole.split('\n')
      const [first = '', second = '', ...rest] = lines
      const moved = second.replace(/ ([0-9]+) ([0-9]+) /, (_, sequence: string, version: string) => {
        return ` ${Number(sequence) - 1} ${version} `
      })
      const unfinished = [
        whole.slice(0, -2),
        whole.slice(0, whole.length >> 1),
        lines.slice(0, -2).join('\n') + '\n',
        '',
        'x'.repeat(10_000),
      ]
      const broken = [
        [first, moved, ...rest].join('\n'),
        [first, ...rest].join('\n'),
        [first, second, second, ...rest].join('\n'),
        `${whole}${second}\n`,
        `${whole}${lines.at(-2) ?? ''}\n`,
        whole.replace('"accounts', '"Accounts'),
        whole.replace(/"signature":"..../, '"signature":"AAAA'),
        whole.replace(/as_of\\":\\"20/, 'as_of\\":\\"19'),
      ]
      for (const text of [...unfinished, ...broken]) {
        expect(text).not.toBe(whole)
        const changed = newFile()
        writeFileSync(changed, text)
        const { code, out } = await ledger(url, 'verify', '--checkpoint', changed)
        const said = broken.includes(text) ? /^TAMPERED: .*\n$/ : /^UNREADABLE: .*: it is not a complete checkpoint\n$/
        expect({ code, out }).toEqual({ code: 1, out: expect.stringMatching(said) })
      }
    })
  })

  test('is refused if it is of another ledger', async () => {
    const other = await createLedgerDatabase()
    const file = await checkpointOf(other.url)
    await onCheckpointed(async ({ url }) => {
      const { code, out } = await ledger(url, 'verify', '--checkpoint', file)
      expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('it is of another ledger') })
    })
    await other.drop()
  })

  test('is verified offline with the keys of a JWKS, and is refused if its key is revoked', async () => {
    await onCheckpointed(async ({ url }, file) => {
      const jwks = (keys: PostgresServiceKeys, ledgerId: string): string => {
        const path = newFile()
        const shown = keys.published().map(({ keyId, purpose, x, y, activeFromMs, revokedAtMs }) => {
          const revoked = revokedAtMs === null ? {} : { revoked: { revoked_at: Math.floor(revokedAtMs / 1_000) } }
          return { kid: keyId, purpose, x, y, nbf: Math.floor(activeFromMs / 1_000), ...revoked }
        })
        writeFileSync(path, JSON.stringify({ ledger_id: ledgerId, keys: shown }))
        return path
      }
      await withKeys(url, async (keys) => {
        const offline = (path: string) =>
          ledger('postgres://nowhere:1/none', 'verify', '--checkpoint', file, '--offline', '--jwks', path)
        expect(await offline(jwks(keys, tampered.ledgerId))).toMatchObject({ code: 0 })
        const other = await offline(jwks(keys, 'another'))
        expect(other).toMatchObject({
          code: 1,
          out: expect.stringMatching(/^NOT CHECKED: .* it is of ledger \S+, but \S+ is of ledger/),
        })
        await keys.revoke(keys.current('assertion'))
        const revoked = await offline(jwks(keys, tampered.ledgerId))
        expect(revoked).toMatchObject({ code: 1, out: expect.stringContaining('is revoked') })
      })
    })
  })

  test('overwrites no file, and contains no account IDs', async () => {
    await onCheckpointed(async ({ url }, file) => {
      const again = await ledger(url, 'checkpoint', file)
      expect(again).toMatchObject({ code: 1, err: expect.stringContaining('already exists') })
      expect(readFileSync(file, 'utf8')).not.toMatch(/alice-one|bob-one/)
      const shown = await ledger(url, 'checkpoint')
      expect(shown.err).toMatch(/^\d+ accounts as of \S+Z\n$/)
      expect(shown.out.split('\n').slice(0, -2)).toEqual(readFileSync(file, 'utf8').split('\n').slice(0, -2))
    })
  })
})
