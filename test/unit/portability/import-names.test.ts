/** Tests that names such as `__proto__` survive: in a part, in storage, and in commands to actors. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import {
  openPart,
  type OpenedBalances,
  sealedPart,
  type StagedPart,
} from '../../../infra/portability/import-documents.ts'
import { workOf } from '../../../infra/portability/import-commands.ts'
import { checkPart } from '../../../infra/portability/import-part.ts'
import { ImportSurvey } from '../../../infra/portability/import-survey.ts'
import { LEDGER_KEY_NAME } from '../../../infra/vault/key-name.ts'
import type { RecordBody } from '../../../infra/portability/export-lines.ts'
import { sealingVault } from '../../support/postgres/row-vaults.ts'
import { anAccount, ledgerBody, TOKEN_BODY } from './export-scene.ts'
import { contextOf, fileOf, given, IMPORT_ID } from './import-scene.ts'

const NAMES = ['7', 'prototype', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'] as const
const HELD = Object.fromEntries(NAMES.map((name, at) => [name, String(at + 1)]))

const file = await fileOf(() => [
  ledgerBody(),
  ...NAMES.map((symbol) => ({ ...TOKEN_BODY, symbol }) as RecordBody),
  anAccount('alice', HELD),
  anAccount('constructor', { prototype: '1' }),
])

async function staged(): Promise<StagedPart> {
  const checked = await checkPart(given(file.records), true, undefined, contextOf(file.keys))
  if (!checked.ok) throw new Error(`refused as a part: ${JSON.stringify(checked.refusal)}`)
  return checked.part.staged
}

function surveyed(part: StagedPart): ReturnType<ImportSurvey['end']> {
  const survey = new ImportSurvey()
  survey.take(part)
  return survey.end()
}

const LINE = NAMES.length + 1

describe('tokens named like a member of every object', () => {
  const vault = sealingVault([LEDGER_KEY_NAME])
  const reread = (part: StagedPart): StagedPart =>
    openPart(IMPORT_ID, 0, Buffer.from(sealedPart(IMPORT_ID, 0, part, vault), 'hex'), vault)

  test('are decrypted and stored unchanged', async () => {
    const part = await staged()
    expect(Object.fromEntries(part.balances.get(LINE) ?? [])).toEqual(HELD)
    const again = reread(part)
    expect(Object.fromEntries(again.balances.get(LINE) ?? [])).toEqual(HELD)
    expect(Object.fromEntries(again.balances.get(LINE + 1) ?? [])).toEqual({ prototype: '1' })
  })

  test('arrive at their actors unchanged', async () => {
    const part = reread(await staged())
    const end = surveyed(part)
    if (!end.ok) throw new Error(JSON.stringify(end.refusal))
    const source = { ledgerId: 'other', partial: true, keySalt: '00' }
    const { homecomings } = workOf(part, { importId: IMPORT_ID, source, index: end.index })
    const arriving = homecomings.flatMap(({ actor, arrival }) =>
      arrival.kind === 'account' ? [[actor.id, { ...arrival.account?.balances }]] : [],
    )
    expect(arriving).toEqual([
      ['alice', HELD],
      ['constructor', { prototype: '1' }],
    ])
    // And over the wire.
    expect(Object.entries(JSON.parse(JSON.stringify(arriving[0]?.[1])) as JsonObject)).toHaveLength(NAMES.length)
  })
})

describe('the decrypted balances of an account', () => {
  const without = (opened: OpenedBalances, name: string): OpenedBalances =>
    new Map([...opened].filter(([tokenId]) => tokenId !== name))
  const faultsOf = async (change: (opened: OpenedBalances) => OpenedBalances): Promise<readonly string[]> => {
    const part = await staged()
    const balances = new Map([...part.balances, [LINE, change(part.balances.get(LINE) ?? new Map<string, string>())]])
    const end = surveyed({ ...part, balances })
    if (end.ok || end.refusal.kind !== 'invalid') return []
    return end.refusal.faults.map(({ code, field }) => `${code} ${field}`)
  }

  test('must match its record, or the import is refused', async () => {
    expect(await faultsOf((opened) => opened)).toEqual([])
    expect(await faultsOf((opened) => new Map([...opened, ['GOLD', '1']]))).toEqual([`balance lines[${LINE}].balances`])
    expect(await faultsOf((opened) => without(opened, 'prototype'))).toEqual([
      `balance lines[${LINE}].balances`,
      `balance lines[${LINE}].balances[1].encrypted_balance`,
    ])
    expect(await faultsOf((opened) => new Map([...without(opened, 'toString'), ['GOLD', '1']]))).toEqual([
      `balance lines[${LINE}].balances[3].encrypted_balance`,
    ])
    const part = await staged()
    expect(surveyed({ ...part, balances: new Map() })).toMatchObject({ ok: false, refusal: { kind: 'invalid' } })
  })
})
