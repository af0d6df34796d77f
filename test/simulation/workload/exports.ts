/** Another ledger of a run: its exports, complete or partial, and the keys that its accounts used there. */
import { accountAddress, classAddress, instanceAddress, tokenAddress } from '../../../actors/address.ts'
import type { ArrivedFrom, ArrivingAccount } from '../../../actors/arrival.ts'
import { chainHash, GENESIS, sha256Hex } from '../../../actors/audit-chain.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import type { Import, SignedRecord, ForeignKeyUses } from '../reference/imports.ts'
import type { Cast, ClientAccount, NftRecord, TokenRecord } from './cast.ts'

const WALL_MS = Date.UTC(2025, 0, 1)
const THEN = '2025-01-01T00:00:00.000Z'
/** A class ID is `cls_` and 26 digits; the last digits name the ledger. */
const CLASS_DIGITS = 26

export interface ExportedAccount {
  readonly player: ClientAccount
  readonly account: ArrivingAccount
}

/** Exported records of one ledger, which may be imported several times. */
export interface Exported {
  readonly ledgerId: string
  readonly accounts: readonly ExportedAccount[]
  /** The number of used keys in one record; another record has the others. */
  readonly cut: number
  /** Of the token and of the class. */
  readonly issuer: string
  readonly token: TokenRecord | undefined
  readonly nft: NftRecord | undefined
  readonly records: readonly SignedRecord[]
}

type Unaddressed = Omit<SignedRecord, 'from'>

export function drawExport(cast: Cast, name: string): Exported {
  const { random } = cast
  const ledgerId = `ledger ${name}`
  const keySalt = random.hex(16)
  const players = Array.from({ length: 1 + random.integer(3) }, (_, index) => playerOf(cast, `${name}-${index}`))
  // An account whose ID exists here.
  if (random.chance(0.08)) players.push({ ...cast.pickAccount(), sent: [] })
  const [first] = players
  const issuer = first === undefined || random.chance(0.3) ? `${name}-issuer` : first.accountId
  const token =
    random.chance(0.4) && first !== undefined
      ? { tokenId: random.chance(0.06) ? 'gold' : `Ore${name}`, issuer }
      : undefined
  const classId = `cls_${'7'.padEnd(CLASS_DIGITS, String(random.integer(10)))}`
  const nft =
    random.chance(0.35) && first !== undefined
      ? { class_id: classId, instance_id: 'relic', owner: (players[random.integer(players.length)] ?? first).accountId }
      : undefined
  const accounts = players.map((player) => ({ player, account: accountOf(cast, player, { keySalt, token, nft }) }))
  const cut = random.chance(0.3) ? 1 + random.integer(3) : Infinity
  const exported = { ledgerId, accounts, cut, issuer, token, nft }
  return { ...exported, records: recordsOf(exported, name) }
}

/** The token of the same ledger alone. Each holder may bring it, because its issuer only has to exist. */
export function tokenOf({ ledgerId, issuer, token, cut }: Exported): Exported | undefined {
  if (token === undefined) return undefined
  const part = { ledgerId, issuer, token, cut, accounts: [], nft: undefined }
  return { ...part, records: recordsOf(part, '') }
}

function playerOf({ random }: Cast, accountId: string): ClientAccount {
  const keys = (what: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${what} ${accountId} ${index}`)
  const usedThere = {
    transaction: keys('sent there', 2 + random.integer(4)),
    key_rotation: keys('rotated there', 1),
    mint: keys('minted there', random.integer(2)),
    hold: keys('held there', 1),
  }
  return { accountId, keys: [`key ${accountId}`], sent: [], usedThere }
}

const NOTHING_USED: ForeignKeyUses = { transaction: [], key_rotation: [], mint: [], hold: [] }

function accountOf(
  cast: Cast,
  { accountId, keys }: ClientAccount,
  { keySalt, token, nft }: { readonly keySalt: string } & Pick<Exported, 'token' | 'nft'>,
): ArrivingAccount {
  const { random } = cast
  const nfts = nft?.owner === accountId ? 1 : 0
  const status = random.pick([
    'active',
    'active',
    'active',
    'active',
    'frozen',
    nfts === 0 ? 'closed' : 'active',
  ] as const)
  const held = {
    ...(random.chance(0.85) ? { BASE: `${100 + random.integer(400)}.5` } : {}),
    ...(token === undefined || random.chance(0.2) ? {} : { [token.tokenId]: `${20 + random.integer(100)}` }),
  }
  return {
    key: cast.bring(keys[0] ?? ''),
    status,
    incoming: random.chance(0.9) ? 'accept' : 'refuse',
    balances: status === 'closed' ? {} : held,
    nfts,
    keySalt,
    txnCount: random.integer(50),
    tip: random.hex(32),
    createdAt: THEN,
    updatedAt: THEN,
  }
}

/** In the order of an export. An issuer that is not exported only has to exist. */
function recordsOf(
  { ledgerId, accounts, issuer, token, nft }: Omit<Exported, 'records'>,
  name: string,
): readonly SignedRecord[] {
  const records: Unaddressed[] = []
  const add = (
    actor: SignedRecord['actor'],
    arrival: SignedRecord['arrival'],
    usedThere: ForeignKeyUses | null = null,
  ): void => {
    records.push({ actor, arrival, usedThere })
  }
  const isOutside = !accounts.some(({ player }) => player.accountId === issuer)
  if (isOutside && (token !== undefined || nft !== undefined))
    add(accountAddress(issuer), { kind: 'account', account: null })
  if (token !== undefined) {
    const { tokenId } = token
    const supply = { decimals: 2, initialSupply: '1000', totalSupply: '999.25' }
    add(tokenAddress(tokenId), { kind: 'token', token: { tokenId, issuer, ...supply } })
  }
  if (nft !== undefined) {
    const { class_id: classId } = nft
    const nftClass = { classId, name: `Relics ${name}`, description: '', issuer, metadataSchema: {} }
    add(classAddress(nftClass.name), { kind: 'class', nftClass })
  }
  for (const { player, account } of accounts) {
    add(accountAddress(player.accountId), { kind: 'account', account }, player.usedThere ?? NOTHING_USED)
  }
  if (nft !== undefined) add(instanceAddress(`${nft.class_id}/${nft.instance_id}`), instanceOf(nft, issuer))
  return records.map((record) => ({ ...record, from: originOf(ledgerId, record) }))
}

function originOf(ledgerId: string, { actor, arrival }: Unaddressed): ArrivedFrom {
  return { ledgerId, importId: '', recordHash: sha256Hex(JSON.stringify([ledgerId, actor, arrival])) }
}

function instanceOf({ class_id, instance_id, owner }: NftRecord, issuer: string): SignedRecord['arrival'] {
  const events: NftEvent[] = []
  const add = (type: NftEvent['type'], from: string | null, to: string): void => {
    const number = events.length
    const previousHash = events.at(-1)?.eventHash ?? GENESIS
    const fields = { class_id, instance_id, number, type, from, to }
    const payload = canonicalJson(fields)
    const txnId = `txn_there_${number}`
    events.push({
      number,
      type,
      from,
      to,
      txnId,
      atMs: WALL_MS,
      previousHash,
      eventHash: chainHash(previousHash, payload),
      payload,
    })
  }
  add('mint', null, issuer)
  if (owner !== issuer) add('transfer', issuer, owner)
  const times = { mintedAtMs: WALL_MS, acquiredAtMs: WALL_MS }
  return { kind: 'instance', instance: { issuer, owner, status: 'active', metadata: {}, events, ...times } }
}

/** Each import of the same records has an ID of its own. */
export function importOf({ records }: Exported, importId: string): Import {
  const own = records.map((record) => ({ ...record, from: { ...record.from, importId } }))
  return { importId, records: own, status: 'applying', present: new Set() }
}
