/** An attacker with full access to the database and no key; and the findings of an audit afterwards. */
import type { Finding } from '../../../runtime/audit/finding.ts'
import { vaultOf } from './ledger-database.ts'
import { runAll, type Tamper, type Tampered, walkLedger } from './tampering.ts'

export function withoutKeys(tampered: () => Tampered) {
  async function found(tamper: Tamper): Promise<readonly Finding[]> {
    return tampered().onCopy(async (copy) => {
      await tamper(copy)
      const { findings } = await walkLedger(copy.url, tampered().ledgerId, await vaultOf(copy.url))
      return findings
    })
  }

  /** The findings, each once: accounts by their names, and `txn`, `class`, `leg` for IDs that differ in each run. */
  function namesOf(findings: readonly { readonly subject: string; readonly place: string }[]): readonly string[] {
    const { refOf, told } = tampered()
    const named = findings.map(({ subject, place }) =>
      `${subject}: ${place}`
        .replaceAll(refOf('alice-one'), 'alice')
        .replaceAll(refOf('bob-one'), 'bob')
        .replaceAll(told.classId, 'class')
        .replaceAll(/txn_[0-9A-Z]+/g, 'txn')
        .replace(/(crossing|message|group) .*/, '$1')
        .replace(/hold [0-9a-f-]{36} .*/, 'hold leg'),
    )
    return [...new Set(named)].sort()
  }

  /** `ALICE`, `BOB`, `CLASS` in SQL: what stands for them in rows. */
  function sql(...statements: readonly string[]): Tamper {
    return (copy) => {
      const { refOf, told } = tampered()
      const meant: Readonly<Record<string, string>> = {
        ALICE: refOf('alice-one'),
        BOB: refOf('bob-one'),
        KEPT: told.kept,
        TRAVELLED: told.travelled,
      }
      const named = statements.map((statement) =>
        statement.replaceAll(/ALICE|BOB|KEPT|TRAVELLED/g, (name) => `'${meant[name]}'`),
      )
      return runAll(...named)(copy)
    }
  }

  function flipped(table: string, column: string, where: string): Tamper {
    const last = `length(${column}) - 1`
    return sql(
      `UPDATE ${table} SET ${column} = set_byte(${column}, ${last}, get_byte(${column}, ${last}) # 1) WHERE ${where}`,
    )
  }

  return { found, namesOf, sql, flipped }
}
