/** Accounts with their balances and holds, which an account's document has a digest of once it is sealed. */
import { Balances } from '../../actors/account/balances.ts'
import { Holds } from '../../actors/account/holds.ts'
import { type AccountState, type Hold, holdId } from '../../actors/account/state.ts'
import { accountKeyName } from '../vault/key-name.ts'
import { plainText } from '../vault/row-vault.ts'
import { ACCOUNT_COLUMNS, type AccountDocument, type AccountRow, accountText } from './account-document.ts'
import { balanceFrom, balanceText, partsDigest } from './account-parts.ts'
import { arrayLiteral } from './array-literal.ts'
import { inBatches, type ShardSealer } from './encrypt-sealer.ts'
import { PLACES } from './row-sealer.ts'

const BATCH_ROWS = 500

const ACCOUNTS = `
SELECT ${ACCOUNT_COLUMNS},
       (SELECT json_agg(json_build_array(b.token_id, encode(b.document, 'base64')))
          FROM balances b WHERE b.shard_id = a.shard_id AND b.account_id = a.account_id) AS balances,
       (SELECT json_agg(json_build_array(h.hold_id, encode(h.document, 'base64')))
          FROM holds h WHERE h.shard_id = a.shard_id AND h.account_id = a.account_id) AS holds
  FROM accounts a WHERE a.shard_id = $1::integer`

interface WholeRow extends AccountRow {
  /** Token or hold's reference, and text in base64. */
  readonly balances: readonly (readonly [string, string])[] | null
  readonly holds: readonly (readonly [string, string])[] | null
}

/** `part`: the token or the hold; empty of the account itself. */
interface Sealed {
  readonly ref: string
  readonly part: string
  readonly hex: string
}

export async function encryptAccounts(sealer: ShardSealer): Promise<void> {
  await inBatches<WholeRow>(sealer, ACCOUNTS, BATCH_ROWS, async (rows) => {
    await sealer.demandKeys(rows.map((row) => accountKeyName(row.account_id)))
    const opened = rows.map((row) => sealedOf(row, sealer))
    await update(
      sealer,
      'accounts',
      undefined,
      opened.map(({ account }) => account),
    )
    await update(
      sealer,
      'balances',
      'token_id',
      opened.flatMap(({ balances }) => balances),
    )
    await update(
      sealer,
      'holds',
      'hold_id',
      opened.flatMap(({ holds }) => holds),
    )
  })
}

interface SealedAccount {
  readonly account: Sealed
  readonly balances: readonly Sealed[]
  readonly holds: readonly Sealed[]
}

function sealedOf(row: WholeRow, { shardId, vault, made }: ShardSealer): SealedAccount {
  const { account_id: ref } = row
  const name = accountKeyName(ref)
  const version = Number(row.version)
  const { parts: _parts, ...document } = JSON.parse(plainText(row.document)) as AccountDocument
  const balances = (row.balances ?? []).map(([tokenId, text]) => [tokenId, balanceFrom(decoded(text))] as const)
  const holds = (row.holds ?? []).map(([holdRef, text]) => [holdRef, JSON.parse(decoded(text)) as Hold] as const)
  const state: AccountState = {
    kind: 'account',
    ...document,
    shardId,
    version,
    balances: Balances.of(balances),
    holds: Holds.of(holds.map(([, hold]) => [holdId(hold), hold])),
  }
  const text = accountText(state, partsDigest(state, vault, name, made))
  return {
    account: { ref, part: '', hex: vault.seal(name, PLACES.account(shardId, ref, version), text, made) },
    balances: balances.map(([tokenId, balance]) => ({
      ref,
      part: tokenId,
      hex: vault.seal(name, PLACES.balance(shardId, ref, tokenId), balanceText(balance), made),
    })),
    holds: holds.map(([holdRef, hold]) => ({
      ref,
      part: holdRef,
      hex: vault.seal(name, PLACES.hold(shardId, ref, holdRef), JSON.stringify(hold), made),
    })),
  }
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8')
}

async function update(
  { sql, shardId }: ShardSealer,
  table: 'accounts' | 'balances' | 'holds',
  part: 'token_id' | 'hold_id' | undefined,
  rows: readonly Sealed[],
): Promise<void> {
  if (rows.length === 0) return
  const texts = (value: (row: Sealed) => string): string => arrayLiteral('text', rows.map(value))
  const documents = arrayLiteral(
    'bytea',
    rows.map(({ hex }) => hex),
  )
  await sql.unsafe(
    `UPDATE ${table} t SET document = i.document
       FROM unnest($2::text[], $3::text[], $4::bytea[]) AS i (account_id, part, document)
      WHERE t.shard_id = $1::integer AND t.account_id = i.account_id${part === undefined ? '' : ` AND t.${part} = i.part`}`,
    [shardId, texts(({ ref }) => ref), texts((row) => row.part), documents],
    { prepare: true },
  )
}
