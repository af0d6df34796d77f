/** Common HTTP clients behind one interface. Each sends its calls in sequence. */
import axios from 'axios'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent as HttpAgent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { Agent, request } from 'undici'
import type { Members } from '../support/client/client-keys.ts'
import { hasPython, hasRequests, runPython } from '../support/processes/python.ts'

export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Members
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** The decompressed body. */
  readonly text: string
  /** Interim statuses, where the client shows them. */
  readonly interim?: readonly number[]
}

export type Send = (origin: string, calls: readonly Call[]) => Promise<readonly Reply[]>

export interface HttpClient {
  readonly name: string
  readonly installed: boolean
  readonly keepsConnection: boolean
  /** `waits`: the client sends the body after 100 (Continue) only. Empty: it refuses to send the header `Expect`. */
  readonly expectContinue: readonly ('waits' | 'does not wait')[]
  readonly send: Send
}

const sendWithUndici: Send = async (origin, calls) => {
  const dispatcher = new Agent({ connections: 1 })
  const replies: Reply[] = []
  for (const { method, path, headers, body } of calls) {
    const reply = await request(`${origin}${path}`, {
      dispatcher,
      method,
      headers: { 'accept-encoding': 'gzip', 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const bytes = Buffer.from(await reply.body.arrayBuffer())
    const text = reply.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
    replies.push({ status: reply.statusCode, headers: reply.headers, text: text.toString() })
  }
  await dispatcher.close()
  return replies
}

/** Axios writes and reads JSON by itself, and decompresses. */
const sendWithAxios: Send = async (origin, calls) => {
  const httpAgent = new HttpAgent({ keepAlive: true })
  const instance = axios.create({ baseURL: origin, httpAgent, proxy: false, validateStatus: () => true })
  const replies: Reply[] = []
  for (const { method, path, headers, body } of calls) {
    const reply = await instance.request<unknown>({ method, url: path, headers, data: body })
    const text = typeof reply.data === 'string' ? reply.data : JSON.stringify(reply.data)
    replies.push({ status: reply.status, headers: reply.headers, text })
  }
  httpAgent.destroy()
  return replies
}

const sendWithCurl: Send = async (origin, calls) => {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-curl-'))
  const file = (index: number, part: string): string => join(directory, `${index}.${part}`)
  const args = calls.flatMap(({ method, path, headers, body }, index) => {
    // Without the timeout curl would send the body after one second.
    const options = ['-X', method, '--compressed', '--noproxy', '*', '--expect100-timeout', '30']
    const content = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)]
    const output = ['-D', file(index, 'head'), '-o', file(index, 'body'), `${origin}${path}`]
    const given = Object.entries(headers).flatMap((header) => ['-H', header.join(': ')])
    return [index === 0 ? '-sS' : '--next', ...options, ...given, ...content, ...output]
  })
  try {
    await promisify(execFile)('curl', args)
    return calls.map((_, index) => {
      const heads = readFileSync(file(index, 'head'), 'latin1').trimEnd().split('\r\n\r\n')
      const [status = 0, ...interim] = heads.map((head) => Number(head.split(' ')[1])).toReversed()
      const lines = (heads.at(-1) ?? '').split('\r\n').slice(1)
      const headers = lines.map((line) => [line.split(': ')[0]?.toLowerCase(), line.split(': ')[1]] as const)
      const text = readFileSync(file(index, 'body'), 'utf8')
      return { status, interim, headers: Object.fromEntries(headers) as Reply['headers'], text }
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function sendWithPython(library: 'requests' | 'urllib'): Send {
  return async (origin, calls) => (await runPython('http_calls.py', { library, origin, calls })) as readonly Reply[]
}

const hasCurl = spawnSync('curl', ['--version']).status === 0
if (!hasCurl) process.stderr.write('NOT TESTED: curl. It is not on the PATH.\n')

const usual = { installed: true, keepsConnection: true, expectContinue: ['does not wait'] } as const

export const HTTP_CLIENTS: readonly HttpClient[] = [
  { ...usual, name: 'undici', expectContinue: [], send: sendWithUndici },
  { ...usual, name: 'axios', send: sendWithAxios },
  { ...usual, name: 'curl', installed: hasCurl, expectContinue: ['waits'], send: sendWithCurl },
  { ...usual, name: 'requests', installed: hasRequests, send: sendWithPython('requests') },
  // It sends `Connection: close` with each request.
  { ...usual, name: 'urllib', installed: hasPython, keepsConnection: false, send: sendWithPython('urllib') },
]
