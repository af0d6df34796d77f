/** SF1-SF3: a fixed list of files, under URLs whose content never changes, compressed once. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createStaticFiles, type FileSource, filesIn, type StaticFiles } from '../../../../api/http/static-files.ts'
import { createEdgeFixture } from '../fakes/edge-fixture.ts'

const SCRIPT = 'export const answer = 42\n'.repeat(100)

function text(content: string): FileSource {
  return () => Promise.resolve(Buffer.from(content))
}

/** A path in the notations that some servers take for one. */
function escaped(path: string): readonly string[] {
  return ['%2f', '%2F', '%5c', '%252f'].flatMap((slash) => {
    const plain = path.replaceAll('/', slash)
    return [plain, plain.replaceAll('..', '%2e%2e')]
  })
}

function filesOf(sources: Readonly<Record<string, FileSource>>): StaticFiles {
  return createStaticFiles('/files', new Map(Object.entries(sources)))
}

/** Sends a request for a URL of the files; 404 if they have no reply. */
async function send(
  files: StaticFiles,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const app = new Hono()
  app.get('/files/:version/:file', async (http) => {
    const reply = await files.reply(http, http.req.param('version'), http.req.param('file'))
    if (reply === undefined) return new Response(null, { status: 404 })
    const { body, contentType, headers: own, status } = reply
    return new Response(status === 200 ? Buffer.from(body) : null, {
      status,
      headers: { ...own, 'content-type': contentType },
    })
  })
  return app.request(path, { headers })
}

describe('SF1: a list of files', () => {
  test('of a directory are its files, without subdirectories and links', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'static-files-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    mkdirSync(join(directory, 'nested.js'))
    writeFileSync(join(directory, 'app.js'), SCRIPT)
    writeFileSync(join(directory, 'secret.txt'), 'secret')
    mkdirSync(join(directory, 'public'))
    writeFileSync(join(directory, 'public', 'page.css'), 'a {}')
    symlinkSync(join(directory, 'secret.txt'), join(directory, 'public', 'link.txt'))
    expect([...filesIn(directory).keys()].sort()).toEqual(['app.js', 'secret.txt'])
    const files = createStaticFiles('/files', filesIn(join(directory, 'public')))
    const url = await files.urlOf('page.css')
    expect(await (await send(files, url)).text()).toBe('a {}')
    for (const name of ['link.txt', ...escaped('../secret.txt'), 'page.css%00', '.']) {
      expect([name, (await send(files, url.replace('page.css', name))).status]).toEqual([name, 404])
    }
  })

  test('refuses names of the prototype, and files of an unknown kind', async () => {
    const files = filesOf({ 'app.js': text(SCRIPT) })
    const url = await files.urlOf('app.js')
    for (const name of ['__proto__', 'constructor', 'toString', 'APP.JS', 'app.js.map']) {
      expect([name, (await send(files, url.replace('app.js', name))).status]).toEqual([name, 404])
    }
    expect(() => filesOf({ 'run.exe': text('') })).toThrow('the content type of run.exe is known')
    await expect(files.urlOf('other.js')).rejects.toThrow('other.js is a listed file')
  })

  test('at the edge, no path leads to a file of the disk', async () => {
    const edge = createEdgeFixture()
    const [url = ''] = /\/docs\/assets\/[^"]*scalar\.js/.exec(await (await edge.get('/docs')).text()) ?? []
    expect((await edge.get(url)).status).toBe(200)
    for (const name of ['..', ...escaped('../../package.json')]) {
      expect([name, (await edge.get(url.replace('scalar.js', name))).status]).toEqual([name, 404])
    }
  })
})

describe('SF2: the URL of a file', () => {
  test('changes with the content of any file, and an earlier URL is 404', async () => {
    const one = filesOf({ 'app.js': text(SCRIPT), 'page.css': text('a {}') })
    const same = filesOf({ 'page.css': text('a {}'), 'app.js': text(SCRIPT) })
    const other = filesOf({ 'app.js': text(SCRIPT), 'page.css': text('b {}') })
    expect(await one.urlOf('app.js')).toMatch(/^\/files\/[A-Za-z0-9_-]{16}\/app\.js$/)
    expect(await same.urlOf('app.js')).toBe(await one.urlOf('app.js'))
    expect(await other.urlOf('app.js')).not.toBe(await one.urlOf('app.js'))
    expect((await send(other, await one.urlOf('app.js'))).status).toBe(404)
  })

  test('is kept by clients for a year; content types are not guessed; no page of others may show it', async () => {
    const files = filesOf({ 'app.js': text(SCRIPT), 'icon.svg': text('<svg/>') })
    const script = await send(files, await files.urlOf('app.js'))
    expect(Object.fromEntries(script.headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    })
    const image = await send(files, await files.urlOf('icon.svg'))
    expect(image.headers.get('content-security-policy')).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
  })
})

describe('SF3: a file', () => {
  test.for([
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip, br;q=0', 'gzip', gunzipSync],
    ['identity', null, (content: Buffer) => content],
  ] as const)('is encoded as accepted (%s), with a tag of its own', async ([accepted, encoding, open]) => {
    const files = filesOf({ 'app.js': text(SCRIPT) })
    const url = await files.urlOf('app.js')
    const reply = await send(files, url, { 'accept-encoding': accepted })
    expect([reply.headers.get('content-encoding'), reply.headers.get('vary')]).toEqual([encoding, 'accept-encoding'])
    expect(open(Buffer.from(await reply.arrayBuffer())).toString()).toBe(SCRIPT)
    const tag = reply.headers.get('etag') ?? ''
    for (const [known, status] of [
      [tag, 304],
      [`W/${tag}`, 304],
      ['"other"', 200],
    ] as const) {
      const again = await send(files, url, { 'accept-encoding': accepted, 'if-none-match': known })
      expect([known, again.status, again.headers.get('etag')]).toEqual([known, status, tag])
    }
  })

  test('is read once and compressed once for many requests', async () => {
    let reads = 0
    const files = filesOf({
      'app.js': () => {
        reads += 1
        return text(SCRIPT)()
      },
    })
    const url = await files.urlOf('app.js')
    const bodies = await Promise.all(
      [1, 2, 3].map(() => {
        const app = new Hono()
        return new Promise<Uint8Array>((resolve, reject) => {
          app.get('*', async (http) => {
            const reply = await files.reply(http, url.split('/')[2] ?? '', 'app.js')
            if (reply === undefined) reject(new Error('no reply'))
            else resolve(reply.body)
            return http.body(null)
          })
          void app.request('/', { headers: { 'accept-encoding': 'br' } })
        })
      }),
    )
    expect(reads).toBe(1)
    expect(new Set(bodies).size).toBe(1)
  })

  test('that could not be read is read again by the next request', async () => {
    let failures = 1
    const files = filesOf({
      'app.js': async () => {
        if (failures > 0) {
          failures -= 1
          throw new Error('too many open files')
        }
        return Buffer.from(SCRIPT)
      },
    })
    await expect(files.urlOf('app.js')).rejects.toThrow('too many open files')
    expect((await send(files, await files.urlOf('app.js'))).status).toBe(200)
  })

  test('that is compressed already is sent as it is', async () => {
    const files = filesOf({ 'icon.png': text(SCRIPT) })
    const reply = await send(files, await files.urlOf('icon.png'), { 'accept-encoding': 'br, gzip' })
    expect(reply.headers.get('content-encoding')).toBeNull()
  })
})

test('HEAD of a file has the length of its encoding, and no body', async () => {
  const { app, get } = createEdgeFixture()
  const [url = ''] = /\/docs\/assets\/[^"]*docs\.css/.exec(await (await get('/docs')).text()) ?? []
  for (const accepted of ['br', 'gzip', 'identity']) {
    const headers = { 'accept-encoding': accepted }
    const size = (await (await app.request(url, { headers })).arrayBuffer()).byteLength
    const head = await app.request(url, { method: 'HEAD', headers })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(size), ''])
    expect(head.headers.get('x-content-type-options')).toBe('nosniff')
  }
})
