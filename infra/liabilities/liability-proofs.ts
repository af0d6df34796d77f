/**
 * Reads inclusion proofs from the pages of a run: one page of the index, and per share one tile for every seven levels of
 * its tree. Every proof is verified before it is returned, so a changed page never yields a proof.
 */
import { problemOfInclusion, type ShareProof, type TokenProof } from '../../runtime/liabilities/inclusion.ts'
import { ENTRY_BYTES, LeafHasher } from '../../runtime/liabilities/hashes.ts'
import { decimalOf } from '../../runtime/liabilities/sums.ts'
import {
  climb,
  pathThrough,
  type Sibling,
  TILE_ENTRIES,
  tileCounts,
  type TilePlace,
} from '../../runtime/liabilities/tree.ts'
import type { LiabilityProof, LiabilityProofQuestion } from '../../runtime/ports/assertion-source.ts'
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import type { QueryPool } from '../postgres/connection/query-pool.ts'
import { createFingerprint } from './liability-book.ts'
import {
  createNonces,
  findIndexRows,
  indexPageOf,
  type IndexRow,
  type LeafTile,
  type Nonces,
  openPage,
  PAGE_KINDS,
  PageBroken,
  type PageKind,
  readRecord,
  writeLeaves,
} from './liability-pages.ts'
import { liabilitiesOf, type LiabilityRun, type RunToken } from './liability-runs.ts'

/** Tokens per query and turn of the event loop: at most about 20 ms of hashing. */
const TOKENS_A_TURN = 16

/** Throws PageBroken, SealBroken, or an error of the pool. */
export async function readProof(
  pool: QueryPool,
  key: Buffer,
  run: LiabilityRun,
  question: LiabilityProofQuestion,
): Promise<LiabilityProof> {
  const { accountId, after, limit } = question
  const { tokens } = run.document
  const source: ProofSource = {
    pool,
    key,
    run,
    nonces: createNonces(run.document.seed),
    firstTiles: firstTilesOf(tokens),
  }
  const account = Buffer.from(accountId, 'latin1')
  const rows = (await findRows(source, account))
    .filter(({ token }) => after === null || (tokens[token]?.tokenId ?? '') > after)
    .sort((one, other) => one.token - other.token)
  const proofs: TokenProof[] = []
  const totals = tokens.map(({ tokenId, root, units }) => ({ tokenId, root, total: decimalOf(units) }))
  let taken = 0
  for (; taken < rows.length && proofs.length < limit; taken += TOKENS_A_TURN) {
    const turn = rows.slice(taken, taken + TOKENS_A_TURN)
    const tiles = await readTiles(source, turn)
    for (const row of turn) {
      const proof = proofOf(source, account, row, tiles)
      if (proof !== undefined) proofs.push(proof)
    }
  }
  const shown = proofs.slice(0, limit)
  for (const proof of shown) {
    const problem = problemOfInclusion(accountId, proof, totals)
    if (problem !== undefined) throw new PageBroken(`A proof is invalid: ${problem}.`)
  }
  const more = proofs.length > limit || taken < rows.length
  return { liabilities: liabilitiesOf(run), totals, proofs: shown, next: more ? (shown.at(-1)?.tokenId ?? null) : null }
}

interface ProofSource {
  readonly pool: QueryPool
  readonly key: Buffer
  readonly run: LiabilityRun
  readonly nonces: Nonces
  /** Number of a token's first tile, by rank. */
  readonly firstTiles: readonly number[]
}

function firstTilesOf(tokens: readonly RunToken[]): readonly number[] {
  let next = 0
  return tokens.map(({ leaves }) => {
    const first = next
    for (const count of tileCounts(leaves)) next += count
    return first
  })
}

async function findRows(source: ProofSource, account: Buffer): Promise<readonly IndexRow[]> {
  const { seed, indexPages, sharesEach } = source.run.document
  const fingerprint = createFingerprint(seed)(account)
  const number = indexPageOf(fingerprint, 0, indexPages)
  const page = (await readPages(source, 'index', [number])).get(number)
  return page === undefined ? [] : findIndexRows(page, fingerprint, sharesEach)
}

type Tiles = ReadonlyMap<number, Buffer>

/** All tiles for the proofs of these rows, in one query. */
function readTiles(source: ProofSource, rows: readonly IndexRow[]): Promise<Tiles> {
  const numbers = rows.flatMap(({ token, leaves }) => leaves.flatMap((leaf) => placesOf(source, token, leaf)))
  return readPages(source, 'tile', [...new Set(numbers.map(({ tile }) => tile))])
}

/** Tiles are numbered across all tokens. */
function placesOf({ run, firstTiles }: ProofSource, token: number, leaf: number): readonly TilePlace[] {
  const first = firstTiles[token] ?? 0
  const { leaves } = tokenAt(run, token)
  return pathThrough(leaves, leaf).map(({ tile, place }) => ({ tile: first + tile, place }))
}

function tokenAt({ document }: LiabilityRun, rank: number): RunToken {
  const token = document.tokens[rank]
  if (token === undefined) throw new PageBroken('A row of the index names an unknown token.')
  return token
}

async function readPages(
  { pool, key, run }: ProofSource,
  kind: PageKind,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Buffer>> {
  if (numbers.length === 0) return new Map()
  const rows = await pool.run(
    (sql) => sql<{ number: number; page: Buffer }[]>`
      SELECT number, page FROM liability_pages
       WHERE run_id = ${run.runId} AND kind = ${PAGE_KINDS[kind]}
         AND number = ANY (${arrayLiteral('integer', numbers)}::integer[])`,
  )
  return new Map(rows.map(({ number, page }) => [number, openPage(key, run.runId, kind, number, page)]))
}

/** Undefined if the row belongs to another account with the same fingerprint. */
function proofOf(source: ProofSource, account: Buffer, row: IndexRow, tiles: Tiles): TokenProof | undefined {
  const token = tokenAt(source.run, row.token)
  let units = 0n
  const shares: ShareProof[] = []
  for (const leaf of row.leaves) {
    const places = placesOf(source, row.token, leaf)
    const { content, siblings } = climbLeaves(source, row.token, leaf, places[0], tiles)
    if (content === undefined || !account.equals(content.account)) return undefined
    const above = places.slice(1).flatMap((place, level) => climbNodes(token, place, level + 1, tiles))
    units += content.units
    shares.push({
      index: leaf,
      amount: decimalOf(content.units),
      nonce: source.nonces(row.token, leaf).toString('hex'),
      siblings: [...siblings, ...above],
    })
  }
  return { tokenId: token.tokenId, amount: decimalOf(units), shares }
}

interface Climbed {
  readonly content: ReturnType<typeof readRecord>
  readonly siblings: readonly Sibling[]
}

function climbLeaves(
  source: ProofSource,
  rank: number,
  leaf: number,
  place: TilePlace | undefined,
  tiles: Tiles,
): Climbed {
  if (place === undefined) throw new PageBroken('A leaf has no place.')
  const { tokenId, leaves } = tokenAt(source.run, rank)
  const page = tileAt(tiles, place)
  const tile: LeafTile = {
    token: rank,
    hasher: new LeafHasher(tokenId),
    firstLeaf: leaf - place.place,
    leaves: Math.min(TILE_ENTRIES, leaves),
  }
  const entries = Buffer.alloc(TILE_ENTRIES * ENTRY_BYTES)
  const records = writeLeaves(entries, page, tile, source.nonces)
  const content = readRecord(page, records[place.place] ?? 0, records[place.place + 1] ?? 0)
  return { content, siblings: climb(entries, tile.leaves, place.place) }
}

/** `level`: counted in tiles; tiles of leaves have level 0. */
function climbNodes({ leaves }: RunToken, place: TilePlace, level: number, tiles: Tiles): readonly Sibling[] {
  const size = Math.min(TILE_ENTRIES, tileCounts(leaves)[level - 1] ?? 0)
  const page = tileAt(tiles, place)
  if (page.length !== size * ENTRY_BYTES) throw new PageBroken('A tile has a wrong number of entries.')
  return climb(Buffer.from(page), size, place.place)
}

function tileAt(tiles: Tiles, { tile }: TilePlace): Buffer {
  const page = tiles.get(tile)
  if (page === undefined) throw new PageBroken('A tile is missing.')
  return page
}
