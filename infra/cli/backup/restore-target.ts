/** The place of a restore: a data directory, or the embedded PostgreSQL of `ledger up`. */
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { BackupUnusable } from '../../backup/backup-directory.ts'
import type { Manifest } from '../../backup/manifest.ts'
import type { Configuration } from '../../config/configuration.ts'
import { DATABASE, placeFor, USER } from '../../embedded/postgres-server.ts'
import { newPassword, readRecord, writeRecord } from '../../embedded/server-record.ts'
import { unprivilegedUser } from '../../embedded/unprivileged-user.ts'
import { connect } from '../../postgres/connection/connection.ts'
import { makePrivateDirectory } from '../../system/private-file.ts'
import { postgresDirectory } from '../common/configured.ts'

export interface RestoreTarget {
  /** The data directory. */
  readonly path: string
  /** Throws BackupUnusable. */
  readonly accept: (manifest: Manifest) => void
  /** Called with the verified server. */
  readonly finish: (url: string) => Promise<void>
}

export function dataDirectory(path: string): RestoreTarget {
  return { path, accept: () => undefined, finish: () => Promise.resolve() }
}

/** Throws BackupUnusable if there is data. The server gets a new password: that of the backup is not known. */
export function embeddedTarget(configuration: Configuration): RestoreTarget {
  if (configuration.databaseUrl !== undefined)
    throw new BackupUnusable('--embedded and LEDGER_DATABASE_URL exclude each other')
  const given = postgresDirectory(configuration)
  makePrivateDirectory(configuration.dataDir)
  makePrivateDirectory(given)
  const directory = realpathSync(given)
  const found = readRecord(directory)
  const place = found?.place ?? placeFor(directory, unprivilegedUser())
  const path = join(place, 'data')
  if (existsSync(path))
    throw new BackupUnusable(`${configuration.dataDir} has a ledger: set LEDGER_DATA_DIR to a new directory`)
  const password = found?.password ?? newPassword()
  return {
    path,
    accept: ({ superuser, database }) => {
      if (superuser === USER && database === DATABASE) return
      throw new BackupUnusable('the backup is not of an embedded PostgreSQL: restore it with --to')
    },
    finish: async (url) => {
      const connection = await connect({ url, applicationName: 'ledger restore' })
      try {
        // The password is of base64url.
        await connection.sql.unsafe(`ALTER ROLE ${USER} PASSWORD '${password}'`)
      } finally {
        await connection.end()
      }
      // Before the data has its name: ledger up then reports missing data, and creates none.
      writeRecord(directory, { port: null, password, place, made: true, launcher: null })
    },
  }
}
