/**
 * The scripts, styles and images that pages load.
 *   SF1. A request names a file of a list that is fixed at the start. No part of a request becomes a path of the disk.
 *   SF2. The URL of a file contains a hash of all files of the list. Its content never changes, so clients keep it for a year.
 *   SF3. Each file is read once and compressed once for each encoding, at the first request and outside the event loop.
 */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'hono'
import { invariant } from '../../actors/result.ts'
import { createMadeOnce } from './made-once.ts'
import { RESOURCE_HEADERS } from './page-headers.ts'
import type { StaticReply } from './reply.ts'
import {
  acceptedEncoding,
  BROTLI_QUALITY,
  digestOf,
  type Encoding,
  isKnown,
  representationHeaders,
  tagOf,
} from './representations.ts'

const CACHE_CONTROL = 'public, max-age=31536000, immutable'
const VERSION_LENGTH = 16
const BODILESS = new Uint8Array(0)

interface Kind {
  readonly contentType: string
  /** Whether compression makes it smaller. */
  readonly compressible: boolean
}

/** By extension. */
const KINDS: Readonly<Record<string, Kind>> = {
  '.css': { contentType: 'text/css; charset=utf-8', compressible: true },
  '.html': { contentType: 'text/html; charset=utf-8', compressible: true },
  '.js': { contentType: 'text/javascript; charset=utf-8', compressible: true },
  '.json': { contentType: 'application/json', compressible: true },
  '.map': { contentType: 'application/json', compressible: true },
  '.png': { contentType: 'image/png', compressible: false },
  '.svg': { contentType: 'image/svg+xml', compressible: true },
  '.txt': { contentType: 'text/plain; charset=utf-8', compressible: true },
  '.woff2': { contentType: 'font/woff2', compressible: false },
}

/** Reads the content of a file. */
export type FileSource = () => Promise<Uint8Array>

export interface StaticFiles {
  /** The path of the URL of a listed file. Files of one list can refer to each other by name. */
  readonly urlOf: (name: string) => Promise<string>
  /** undefined: the list has no such file, or the version is not that of the list. */
  readonly reply: (http: Context, version: string, name: string) => Promise<StaticReply | undefined>
}

/** `path`: where the files are served, as `{path}/{version}/{name}`. `sources`: by file name. */
export function createStaticFiles(path: string, sources: ReadonlyMap<string, FileSource>): StaticFiles {
  for (const name of sources.keys()) kindOf(name)
  const once = createMadeOnce<LoadedFiles>()
  const load = (): Promise<LoadedFiles> => once('all', () => loadAll(sources))
  return {
    async urlOf(name) {
      const { files, version } = await load()
      invariant(files.has(name), `${name} is a listed file`)
      return `${path}/${version}/${name}`
    },
    async reply(http, asked, name) {
      if (!sources.has(name)) return undefined
      const { files, version } = await load()
      return asked === version ? files.get(name)?.(http) : undefined
    },
  }
}

/** The files directly in a directory, to be read when they are needed. Throws if there is no such directory. */
export function filesIn(directory: string): ReadonlyMap<string, FileSource> {
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(files.map(({ name }) => [name, () => readFile(join(directory, name))]))
}

type ServedFile = (http: Context) => Promise<StaticReply>

interface LoadedFiles {
  readonly version: string
  readonly files: ReadonlyMap<string, ServedFile>
}

async function loadAll(sources: ReadonlyMap<string, FileSource>): Promise<LoadedFiles> {
  const read = await Promise.all([...sources].map(async ([name, source]) => ({ name, content: await source() })))
  const hash = createHash('sha256')
  const files = new Map<string, ServedFile>()
  for (const { name, content } of read.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const digest = digestOf(content)
    hash.update(`${name}\n${digest}\n`)
    files.set(name, servedFile(name, content, digest))
  }
  return { version: hash.digest('base64url').slice(0, VERSION_LENGTH), files }
}

function servedFile(name: string, content: Uint8Array, digest: string): ServedFile {
  const { contentType, compressible } = kindOf(name)
  const once = createMadeOnce<Uint8Array>()
  return async (http) => {
    const encoding = compressible ? acceptedEncoding(http) : 'identity'
    const tag = tagOf(digest, encoding)
    const headers = {
      ...RESOURCE_HEADERS,
      ...representationHeaders(tag, encoding),
      'cache-control': CACHE_CONTROL,
    }
    return isKnown(http, tag)
      ? { kind: 'static', status: 304, contentType, body: BODILESS, headers }
      : {
          kind: 'static',
          status: 200,
          contentType,
          body: await once(encoding, () => encoded(content, encoding)),
          headers,
        }
  }
}

async function encoded(content: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  if (encoding === 'identity') return content
  if (encoding === 'gzip') return compressGzip(content)
  return compressBrotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
}

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

function kindOf(name: string): Kind {
  const kind = KINDS[extname(name)]
  invariant(kind !== undefined, `the content type of ${name} is known`)
  return kind
}
