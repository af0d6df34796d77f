/** The roles of a deployment, made at a server of the tests by the very file that makes them there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { projectRoot } from '../processes/cluster-process.ts'

const CONNECT = '\\connect ledger'

export type DatabaseRole = 'owner' | 'node' | 'edge' | 'auditor' | 'backup'

/** `url`: the superuser's. Returns that of the database without a password, as the owner. */
export async function makeDatabaseRoles(url: string, secrets: string, database = 'ledger_of_roles'): Promise<string> {
  const address = new URL(url)
  for (const statements of rolesFile(secrets, database)) {
    const sql = postgres(address.toString(), { max: 1, onnotice: () => undefined })
    try {
      for (const statement of statements) await sql.unsafe(statement)
    } finally {
      await sql.end()
    }
    address.pathname = `/${database}`
  }
  address.username = 'ledger_owner'
  address.password = ''
  return address.toString()
}

export function passwordOf(secrets: string, role: DatabaseRole): string {
  return readFileSync(join(secrets, `ledger_${role}.password`), 'utf8').trim()
}

/** The address of the database as the role reaches it. */
export function urlOf(url: string, secrets: string, role: DatabaseRole): string {
  const address = new URL(url)
  address.username = `ledger_${role}`
  address.password = passwordOf(secrets, role)
  return address.toString()
}

/**
 * Its statements, with what psql would put in; first those before it connects to the database, then the others. The embedded server has a database `ledger` of its own already, so that
 * this one has another name.
 */
export function rolesFile(secrets: string, database: string): readonly (readonly string[])[] {
  const text = readFileSync(join(projectRoot(), 'infra', 'deploy', 'postgres', 'roles.sql'), 'utf8')
  const variables = new Map<string, string>()
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const set = /^\\set (\w+) `cat "\$SECRETS\/([\w.]+)"`$/.exec(line)
    if (set !== null) variables.set(set[1] ?? '', readFileSync(join(secrets, set[2] ?? ''), 'utf8').trim())
    else if (line.startsWith('\\') && line !== CONNECT) throw new Error(`not known: ${line}`)
    else if (!line.startsWith('--')) lines.push(line)
  }
  return lines
    .join('\n')
    .replaceAll(/:'(\w+)'/g, (_, name: string) => {
      const value = variables.get(name)
      if (value === undefined) throw new Error(`${name} is not set`)
      return `'${value}'`
    })
    .replaceAll(/DATABASE ledger\b/g, `DATABASE ${database}`)
    .split(CONNECT)
    .map((part) =>
      part
        .split(';')
        .map((statement) => statement.trim())
        .filter((statement) => statement !== ''),
    )
}
