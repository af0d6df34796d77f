/** A ledger as `ledger up` runs it, from the build, with a client that signs. */
import { spawn, type ChildProcess } from 'node:child_process'
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { identityOf } from '../../infra/embedded/process-table.ts'
import { coordinatesOf } from '../support/client-keys.ts'
import { freePorts } from '../support/free-ports.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const PROGRAM = join(ROOT, 'dist', 'infra', 'main', 'ledger.js')
const POLL_MS = 50
/** Of some dozen processes beside those of other tests. */
const START_MS = 120_000

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** Builds if needed, so that the present sources are tested. */
export async function buildOnce(): Promise<void> {
  const { code, err } = await finish(spawn(process.execPath, [join(ROOT, 'infra', 'main', 'ledger.mjs'), '--help']))
  if (code !== 0) throw new Error(`the build failed:\n${err}`)
}

/** Runs a command of `ledger` to its end. */
export async function runLedger(
  args: readonly string[],
  env: Record<string, string> = {},
  input = '',
): Promise<Finished> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...cleanEnvironment(), ...env } })
  child.stdin.end(input)
  return finish(child)
}

/** A part beside those that `ledger up` runs. */
export function startPart(
  command: 'node' | 'edge',
  env: Record<string, string>,
): { readonly stop: () => Promise<Finished> } {
  const child = spawn(process.execPath, [PROGRAM, command], { env: { ...cleanEnvironment(), ...env } })
  const finished = finish(child)
  return {
    stop: () => {
      child.kill('SIGTERM')
      return finished
    },
  }
}

/** Without the settings of the user who runs the tests. */
function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LEDGER_')))
}

/** As much of curl as the printed commands need, so that no curl must be there: -s, -H, -d TEXT, -d @FILE, -d @-. */
const CURL = `
const args = process.argv.slice(1)
const headers = {}
let body, url
for (let i = 0; i < args.length; i += 1) {
  if (args[i] === '-H') { const [name, value] = args[(i += 1)].split(': '); headers[name] = value }
  else if (args[i] === '-d') { const data = args[(i += 1)]; body = data.startsWith('@') ? require('node:fs').readFileSync(data === '@-' ? 0 : data.slice(1), 'utf8') : data }
  else if (args[i] !== '-s') url = args[i]
}
fetch(url, { method: body === undefined ? 'GET' : 'POST', headers, body })
  .then((response) => response.text()).then((text) => process.stdout.write(text))
`

/** Pastes text into a shell, in this directory. */
export function paste(text: string, cwd: string): Promise<Finished> {
  const prelude = `curl() { '${process.execPath}' -e "$CURL" -- "$@"; }\n`
  return finish(spawn('/bin/sh', ['-c', `${prelude}${text}`], { cwd, env: { ...cleanEnvironment(), CURL } }))
}

function finish(child: ChildProcess): Promise<Finished> {
  let out = ''
  let err = ''
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, out, err }))
  })
}

export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

export function isRunning(pid: number): boolean {
  return identityOf(pid) !== undefined
}

export async function freshDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'ledger-e2e-'))
}

export class LedgerUp {
  readonly dataDir: string
  readonly address: string
  readonly finished: Promise<Finished>
  private readonly child: ChildProcess
  private readonly said: { out: string; err: string }

  private constructor(dataDir: string, port: number, child: ChildProcess) {
    this.dataDir = dataDir
    this.address = `http://127.0.0.1:${port}`
    this.child = child
    this.said = { out: '', err: '' }
    child.stdout?.on('data', (chunk: Buffer) => (this.said.out += chunk.toString()))
    child.stderr?.on('data', (chunk: Buffer) => (this.said.err += chunk.toString()))
    this.finished = finish(child)
  }

  /** Resolves once it says that it is ready. */
  static async start(
    dataDir: string,
    options: { nodes?: number; edges?: number; env?: Record<string, string> } = {},
  ): Promise<LedgerUp> {
    const { nodes = 1, edges = 1 } = options
    const [port = 0] = await freePorts(edges)
    const child = spawn(process.execPath, [PROGRAM, 'up', '--nodes', `${nodes}`, '--edges', `${edges}`], {
      env: {
        ...cleanEnvironment(),
        LEDGER_PORT: String(port),
        LEDGER_DATA_DIR: dataDir,
        LEDGER_SHARDS: '16',
        ...options.env,
      },
    })
    const ledger = new LedgerUp(dataDir, port, child)
    const isReady = (): true | undefined => {
      if (child.exitCode !== null) throw new Error(`it ended:\n${ledger.said.err}`)
      return ledger.said.out.includes('Ctrl-C stops it.') ? true : undefined
    }
    await until('the ledger is ready', isReady, START_MS)
    return ledger
  }

  get out(): string {
    return this.said.out
  }

  get err(): string {
    return this.said.err
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  /** The process that runs this part now. */
  pidOf(part: 'postgres' | 'nats-server' | `node-${number}` | `edge-${number}` | `auditor-${number}`): number {
    if (part === 'postgres')
      return Number(readFileSync(join(this.dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
    if (part === 'nats-server') return this.natsPid()
    const pids = [...this.said.err.matchAll(new RegExp(`^${part}: started (?:again )?\\(process (\\d+)\\)`, 'gm'))]
    return Number(pids.at(-1)?.[1])
  }

  /** nats-server writes its pid into every line of its log. */
  private natsPid(): number {
    const lines = readFileSync(join(this.dataDir, 'logs', 'nats.log'), 'utf8')
      .trim()
      .split('\n')
    return Number(/^\[(\d+)\]/.exec(lines.at(-1) ?? '')?.[1])
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Finished> {
    this.signal(signal)
    return this.finished
  }

  /** For the end of a test: ends all processes, and removes the data. */
  async destroy(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.stop()
    await rm(this.dataDir, { recursive: true, force: true })
  }

  async client(role: 'viewer' | 'transactor' | 'admin' = 'transactor'): Promise<Client> {
    const known = JSON.parse(readFileSync(join(this.dataDir, 'clients.json'), 'utf8')) as {
      client_id: string
      client_secret: string
      role: string
    }[]
    const credentials = known.find((client) => client.role === role)
    return Client.login(this.address, { client_id: credentials?.client_id, client_secret: credentials?.client_secret })
  }
}

export interface Reply {
  readonly status: number
  readonly body: Record<string, unknown>
}

export class Client {
  private readonly address: string
  private readonly token: string

  private constructor(address: string, token: string) {
    this.address = address
    this.token = token
  }

  static async login(address: string, credentials: object): Promise<Client> {
    const { status, body } = await send(`${address}/v1/auth/token`, '', credentials)
    if (status !== 200) throw new Error(`no token: ${status}`)
    return new Client(address, String(body['access_token']))
  }

  /** For requests that a test makes by itself. */
  get bearer(): string {
    return this.token
  }

  get(path: string): Promise<Reply> {
    return send(`${this.address}${path}`, this.token)
  }

  post(path: string, body: object): Promise<Reply> {
    return send(`${this.address}${path}`, this.token, body)
  }

  /** A fresh account with a key of its own. */
  async open(accountId: string): Promise<Signer> {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { status } = await this.post('/v1/accounts', {
      account_id: accountId,
      public_key: { kty: 'EC', crv: 'P-256', ...coordinatesOf(publicKey) },
    })
    if (status !== 201) throw new Error(`no account: ${status}`)
    return { accountId, privateKey }
  }

  /** A signed credit in the base unit. */
  credit({ accountId, privateKey }: Signer, amount: string, key: string): Promise<Reply> {
    const payload: JsonObject = { account_id: accountId, amount, type: 'credit', idempotency_key: key }
    const signature = sign('sha256', Buffer.from(canonicalJson(payload)), {
      key: privateKey,
      dsaEncoding: 'ieee-p1363',
    })
    return this.post('/v1/transactions', { ...payload, signature: signature.toString('base64url') })
  }

  /** The transaction once it is final. */
  final(txnId: string): Promise<Record<string, unknown>> {
    return until(`${txnId} is final`, async () => {
      const { status, body } = await this.get(`/v1/transactions/${txnId}`)
      return status === 200 && body['status'] !== 'pending' ? body : undefined
    })
  }

  async balance(accountId: string): Promise<string> {
    const { body } = await this.get(`/v1/accounts/${accountId}/balances/BASE`)
    return String(body['balance'])
  }
}

export interface Signer {
  readonly accountId: string
  readonly privateKey: KeyObject
}

/** 0: no reply. */
export async function send(url: string, token: string, body?: object): Promise<Reply> {
  try {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  } catch {
    return { status: 0, body: {} }
  }
}
