/** The log of the ledger for witnesses and monitors, as C2SP serves logs: https://c2sp.org/tlog-tiles */
import { type EdgeContext, pathValue, type PublicEndpoint } from '../../endpoint/route.ts'
import { notFound } from '../../http/problem.ts'
import { textReply } from '../../http/reply.ts'
import { parseTilePath } from '../../../runtime/log/tile-paths.ts'
import { TILE_WIDTH } from '../../../runtime/log/tree.ts'

const UNAVAILABLE = 'PostgreSQL does not respond.'
const TEXT = 'text/plain; charset=utf-8'
const TILE_CACHE = 'public, max-age=31536000, immutable'
/** A wider one replaces it, and a restored older copy of the database may have others. */
const PARTIAL_TILE_CACHE = 'public, max-age=300'
const HEAD_CACHE = 'public, max-age=1'

export const getLogHead: PublicEndpoint<EdgeContext> = {
  id: 'getLogHead',
  method: 'GET',
  path: '/log/checkpoint',
  summary: 'Get the head of the log',
  description:
    'The number of entries and the root of their Merkle tree, signed by the log and by its witnesses: a checkpoint of C2SP (`tlog-checkpoint`).',
  roles: null,
  answers: [{ status: 200, description: 'The head.', content: 'text/plain' }],
  refusals: { ERR_NOT_FOUND: 'No head has been published yet.', ERR_DOWNSTREAM_FAILURE: UNAVAILABLE },
  async handle({ ledgerLog }) {
    const note = await ledgerLog.checkpoint()
    if (note === undefined) return notFound('No head of the log has been published yet.')
    return textReply(200, TEXT, note, { 'Cache-Control': HEAD_CACHE })
  },
}

export const getLogKey: PublicEndpoint<EdgeContext> = {
  id: 'getLogKey',
  method: 'GET',
  path: '/log/key',
  summary: 'Get the public key of the log',
  description: 'Its name and its key of Ed25519, as witnesses and policies take them (a vkey of C2SP).',
  roles: null,
  answers: [{ status: 200, description: 'The key.', content: 'text/plain' }],
  handle: ({ ledgerLog }) => textReply(200, TEXT, `${ledgerLog.verifierKey}\n`),
}

export const getLogTile: PublicEndpoint<EdgeContext> = {
  id: 'getLogTile',
  method: 'GET',
  path: '/log/tile/:level/:tile{.+}',
  summary: 'Get a tile of the log',
  description:
    'Hashes of the tree, or with `entries` as the level the entries themselves, at the addresses of C2SP (`tlog-tiles`). A tile never changes. An entry tells nothing of its account.',
  roles: null,
  answers: [{ status: 200, description: 'The tile.', content: 'application/octet-stream' }],
  refusals: { ERR_NOT_FOUND: 'The published log has no such tile.', ERR_DOWNSTREAM_FAILURE: UNAVAILABLE },
  async handle({ ledgerLog }, call) {
    const address = parseTilePath(`${pathValue(call, 'level')}/${pathValue(call, 'tile')}`)
    const body = address && (await ledgerLog.tile(address))
    if (body === undefined) return notFound('The published log has no such tile.')
    const headers = { 'Cache-Control': address?.width === TILE_WIDTH ? TILE_CACHE : PARTIAL_TILE_CACHE }
    return { kind: 'static', status: 200, contentType: 'application/octet-stream', body, headers }
  },
}
