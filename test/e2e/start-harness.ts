/** Runs `ledger up` from the build. */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { identityOf } from '../../infra/embedded/process-table.ts'
import { type Credentials, LedgerClient } from '../support/client/client.ts'
import { freePorts } from '../support/processes/free-ports.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const PROGRAM = join(ROOT, 'dist', 'infra', 'main', 'ledger.js')
const POLL_MS = 50
/** A deadline for some dozen processes beside those of other tests. */
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

/** The environment without settings of the user that runs the tests. */
function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:LEDGER|OTEL)_/.test(name)))
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

  /** Resolves once the ledger prints that it is ready. */
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

  client(role: 'viewer' | 'transactor' | 'admin' = 'transactor'): Promise<LedgerClient> {
    return LedgerClient.login(this.address, this.credentials(role))
  }

  /** As the first start has written them. */
  credentials(role: 'viewer' | 'transactor' | 'admin'): Credentials {
    const known = JSON.parse(readFileSync(join(this.dataDir, 'clients.json'), 'utf8')) as readonly Record<
      string,
      string
    >[]
    const found = known.find((client) => client['role'] === role)
    return { clientId: found?.['client_id'] ?? '', clientSecret: found?.['client_secret'] ?? '' }
  }
}
