/**
 * An attacker with write access to the database restores all old rows of an account. An audit of the rows cannot detect
 * this; the comparison with a checkpoint does, and names the account.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allCheckpoints } from '../../infra/checkpoints/checkpoint-rows.ts'
import { createServiceKeySeals } from '../../infra/keys/service-key-seals.ts'
import { main } from '../../infra/main/ledger.ts'
import {
  createMissingServiceKeys,
  type PostgresServiceKeys,
} from '../../infra/postgres/access/service-keys-postgres.ts'
import { onWriter, onWriterWithinHour } from '../support/checkpoint-writer.ts'
import { createLedgerDatabase, TEST_MASTER_KEY_TEXT, TEST_MASTER_KEYS } from '../support/postgres/ledger-database.ts'
import { silentIo } from '../unit/cli/silent-io.ts'
import { createTampered, type DatabaseCopy, failedOf, type Tampered } from '../support/postgres/tampering.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Tables with rows of an account. */
const TABLES = ['accounts', 'account_keys', 'balances', 'holds', 'audit_entries', 'transactions', 'operations'] as const

let tampered: Tampered
let directory: string
let victim: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-checkpoints-'))
  tampered = await createTampered(async ({ sql, vault }, parties, { alice }) => {
    victim = vault.accountRef(alice.accountId)
    await sql`CREATE SCHEMA old`
    for (const table of TABLES) {
      await sql.unsafe(`CREATE TABLE old.${table} AS SELECT * FROM public.${table} WHERE account_id = '${victim}'`)
    }
    await sql`CREATE TABLE old.boundary_crossings AS SELECT * FROM public.boundary_crossings`
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

/** Runs `work` on a copy of the database that has one checkpoint, with a checkpoint file. */
async function onCheckpointed(
  work: (copy: DatabaseCopy, file: string) => Promise<void>,
  withWriter: typeof onWriter = onWriter,
): Promise<void> {
  await tampered.onCopy(async (copy) => {
    await withWriter(copy.url, ({ write }) => write())
    await work(copy, await checkpointOf(copy.url))
  })
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
      const changed = /WENT BACK: checkpoint 1 of .*: shard [0-9]+: entries were removed or changed since/
      const out = await expectVerifyFails(url, file, changed)
      const named = out.split('\n').filter((line) => line.startsWith('WENT BACK: account'))
      expect(named).toEqual([
        expect.stringMatching(new RegExp(`^WENT BACK: account alice-one \\(${victim}\\): it ended with entry [0-9]+`)),
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

  test('finds restored rows by a stored checkpoint if the file is younger than the attack', async () => {
    await onCheckpointed(async ({ url, sql }) => {
      await restoreOldRows(sql)
      const later = await onWriter(url, async ({ write, pass }) => {
        pass(MINUTE_MS)
        expect(await write()).toBe('written')
        return checkpointOf(url)
      })
      const out = await expectVerifyFails(url, later, /WENT BACK: checkpoint 1 of .*: shard [0-9]+/)
      expect(out).not.toContain('WENT BACK: account')
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
      await onWriter(url, async ({ keys }) => {
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

describe('the checkpoints in the database', () => {
  test('C1, C2: a checkpoint links to the previous one of any writer, and is written only when it is due', async () => {
    await tampered.onCopy(async ({ url, sql }) => {
      await onWriter(url, async (first) => {
        expect([await first.write(), await first.write()]).toEqual(['written', 'not due'])
        await onWriter(url, async (second) => {
          expect(await second.write()).toBe('not due')
          second.pass(MINUTE_MS)
          expect(await second.write()).toBe('written')
          first.pass(2 * MINUTE_MS)
          expect(await first.write()).toBe('written')
          expect([...first.logged, ...second.logged]).not.toContain('checkpoints_lost')
        })
      })
      const stored = await allCheckpoints(sql)
      expect(stored.map(({ statement }) => statement.number)).toEqual([1, 2, 3])
      // Nothing was appended.
      expect(new Set(stored.map(({ statement }) => statement.chains)).size).toBe(1)
      expect(await ledger(url, 'verify', '--checkpoint', await checkpointOf(url))).toMatchObject({
        code: 0,
        out: expect.stringContaining('ok: 3 checkpoints in the database, 3 recomputed'),
      })
    })
  })

  test('C4: the loss of a checkpoint is logged, and a file from before the loss shows it', async () => {
    await onCheckpointed(async ({ url, sql }) => {
      await onWriter(url, async ({ write, pass, logged }) => {
        pass(MINUTE_MS)
        await write()
        const file = await checkpointOf(url)
        await sql`DELETE FROM checkpoints WHERE number = 2`
        pass(MINUTE_MS)
        await write()
        expect(logged).toContain('checkpoints_lost')
        await expectVerifyFails(url, file, /WENT BACK: checkpoint 2 has changed, but the file links to it/)
      })
    })
  })

  test('after an operator deletes all checkpoints, numbers start at 1 and new files verify; older files do not', async () => {
    await onCheckpointed(async ({ url, sql }, olderFile) => {
      await onWriter(url, async ({ write, pass, logged }) => {
        pass(MINUTE_MS)
        await write()
        await sql`DELETE FROM checkpoints`
        for (const _ of ['anew', 'after it']) {
          pass(MINUTE_MS)
          expect(await write()).toBe('written')
        }
        expect(logged.filter((event) => event === 'checkpoints_lost')).toHaveLength(1)
        const stored = await allCheckpoints(sql)
        expect(stored.map(({ statement }) => statement.number)).toEqual([1, 2])
        const good = { code: 0, out: expect.stringContaining('ok: 2 checkpoints in the database, 2 recomputed') }
        expect(await ledger(url, 'verify', '--checkpoint', await checkpointOf(url))).toMatchObject(good)
        const changed = /WENT BACK: checkpoint 1 has changed, but the file links to it/
        await expectVerifyFails(url, olderFile, changed, /^ok: \d+ accounts are not behind/m)
      })
    })
  })

  test('no checkpoint follows one that was changed', async () => {
    const changes = [
      `UPDATE checkpoints SET level = 'hour' WHERE number = 2`,
      `UPDATE checkpoints SET sums = (SELECT sums FROM checkpoints WHERE number = 1) WHERE number = 2`,
      `UPDATE checkpoints SET statement = regexp_replace(statement, '"position":"[0-9]+"', '"position":"3"') WHERE number = 2`,
    ]
    for (const change of changes) {
      await onCheckpointed(async ({ url, sql }) => {
        const failed = await onWriterWithinHour(url, async ({ write, pass }) => {
          pass(MINUTE_MS)
          await write()
          await sql.unsafe(change)
          pass(MINUTE_MS)
          return write().then(
            () => 'written',
            () => 'refused',
          )
        })
        expect({ change, failed }).toEqual({ change, failed: 'refused' })
      }, onWriterWithinHour)
    }
  })

  test('C2: sums of an earlier checkpoint of the same number are refused', async () => {
    await onCheckpointed(async ({ url, sql }) => {
      await onWriter(url, async ({ write, pass }) => {
        pass(MINUTE_MS)
        await write()
        await sql`CREATE TABLE old.sums AS SELECT sums FROM checkpoints WHERE number = 2`
        await sql`DELETE FROM checkpoints WHERE number = 2`
        await sql`
          INSERT INTO audit_entries (shard_id, account_id, sequence, previous_hash, audit_hash, payload)
          SELECT shard_id, account_id, sequence + 1, tip, sha256('x'), '{}' FROM accounts
           WHERE account_id = ${victim}`
        await write()
        const changed = await sql`UPDATE checkpoints SET sums = (SELECT sums FROM old.sums) WHERE number = 2`
        expect(changed.count).toBe(1)
        pass(MINUTE_MS)
        await expect(write()).rejects.toThrow('its sums are not those that were signed')
      })
    })
  })

  test('old checkpoints are thinned out, and the remaining ones still form a chain', async () => {
    await tampered.onCopy(async ({ url, sql }) => {
      await onWriterWithinHour(url, async ({ write, pass, logged }) => {
        for (let written = 0; written < 6; written += 1) {
          expect(await write()).toBe('written')
          pass(MINUTE_MS * 20)
        }
        pass(2 * DAY_MS)
        await write()
        pass(MINUTE_MS)
        await write()
        const kept = await allCheckpoints(sql)
        const levels = kept.map(({ statement }) => statement.level)
        expect(levels.slice(-2)).toEqual(['day', 'minute'])
        // Six were written within two hours. The first of all, and the first of each hour remain.
        expect(levels.slice(0, -2)).not.toContain('minute')
        expect(kept.length).toBeLessThan(8)
        expect(logged).not.toContain('checkpoint_failed')
        // The exit code is not checked: the keys were not active at these future times.
        const { out } = await ledger(url, 'verify', '--checkpoint', await checkpointOf(url))
        expect(out).not.toContain('WENT BACK')
        await sql`DELETE FROM checkpoints WHERE number = (SELECT max(number) FROM checkpoints WHERE level = 'day')`
        const after = await ledger(url, 'verify', '--checkpoint', await checkpointOf(url))
        expect(after.out).toMatch(/WENT BACK: checkpoint 7 is gone/)
      })
    })
  })

  test('K1: checkpoints of a revoked key still verify if a later checkpoint links to them', async () => {
    await onCheckpointed(async ({ url }) => {
      await onWriter(url, async ({ write, pass, keys }) => {
        await keys.revoke(keys.current('assertion'))
        // The new key signs the file, which names that key.
        expect(await ledger(url, 'verify', '--checkpoint', await checkpointOf(url))).toMatchObject({ code: 0 })
        pass(MINUTE_MS)
        await write()
        expect(await ledger(url, 'verify', '--checkpoint', await checkpointOf(url))).toMatchObject({ code: 0 })
      })
    })
  })

  test.for(['audit_entries', 'commits'])(
    'C5: no checkpoint is written while %s have rows of a commit that is not visible yet',
    async (table) => {
      await tampered.onCopy(async ({ url, sql }) => {
        await sql`UPDATE ${sql(table)} SET commit_xid = '900000000000'
                 WHERE commit_xid = (SELECT max(commit_xid::text::bigint)::text::xid8 FROM ${sql(table)})`
        await onWriter(url, async ({ write, logged }) => {
          expect(await write()).toBe('not due')
          expect(logged).toEqual(['checkpoints_paused'])
        })
      })
    },
  )
})
