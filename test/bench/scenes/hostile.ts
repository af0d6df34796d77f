/** Orders at a constant rate beside requests without a token: each kind of these is measured separately. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { say } from '../context.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import { measureOpenLoopAt, type OpenMeasured } from './open-submissions.ts'

export interface HostileMeasured {
  readonly kind: string
  readonly orders: OpenMeasured
  /** Hostile requests sent a second, and the number of replies by status. */
  readonly sentPerSecond: number
  readonly statuses: Readonly<Record<string, number>>
}

const ORDERS_PER_SECOND = 200
const HOSTILE_PER_SECOND = 1_000
const LONG = 'x'.repeat(16_000)
const SECRETS = ['wrong', 'x'.repeat(512)]

export async function measureHostile(bench: LedgerBench): Promise<readonly HostileMeasured[]> {
  await bench.rate.perSecond()
  const measured: HostileMeasured[] = []
  for (const [kind, requests] of Object.entries(requestsOf(bench)))
    measured.push(await measureKind(bench, kind, requests))
  return measured
}

/** The most expensive request of each kind without a token. */
function requestsOf({ cluster, client }: LedgerBench): Readonly<Record<string, readonly string[]>> {
  const { host } = new URL(cluster.origin)
  const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`
  const post = (path: string, body: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const login = (clientId: string, secret: string): string =>
    post('/v1/auth/token', JSON.stringify({ client_id: clientId, client_secret: secret }))
  const { clientId: known } = cluster.clients.transactor
  const [header = '', payload = '', signature = ''] = client.token.split('.')
  // The full length, so that the whole token is checked.
  const forged = `${signature.slice(43)}${signature.slice(0, 43)}`
  return {
    none: [],
    docs: [get('/docs?q=a'), get('/openapi.json?q=a'), get('/errors/not-found')],
    logins: SECRETS.flatMap((secret) => [login(known, secret), login('unknown', secret)]),
    'forged tokens': [get('/v1/accounts', `Authorization: Bearer ${header}.${payload}.${forged}\r\n`)],
    malformed: [
      post('/v1/auth/token', '['.repeat(LONG.length)),
      post('/v1/auth/token', `{"client_id":0.1${'0'.repeat(LONG.length)}1}`),
      post('/v1/transactions', LONG),
      get(`/v1/transactions?${LONG.slice(0, 8_000)}`),
      'GET / HTTP/9.9\r\n\r\n',
    ],
  }
}

async function measureKind(bench: LedgerBench, kind: string, requests: readonly string[]): Promise<HostileMeasured> {
  const hostile = requests.length === 0 ? undefined : startHostile(bench, requests)
  try {
    const orders = await measureOpenLoopAt(bench, ORDERS_PER_SECOND, kind)
    const { sentPerSecond, statuses } =
      hostile === undefined ? { sentPerSecond: 0, statuses: {} } : await ended(hostile)
    return { kind, orders, sentPerSecond, statuses }
  } finally {
    hostile?.kill('SIGKILL')
  }
}

/** `perSecond`: as far as 64 connections take them. */
export function startHostile(
  { cluster, onEnd }: LedgerBench,
  requests: readonly string[],
  perSecond = HOSTILE_PER_SECOND,
): ChildProcess {
  say(`${perSecond} requests a second begin ...`)
  const { hostname, port } = new URL(cluster.origin)
  const program = fileURLToPath(new URL('hostile-process.js', import.meta.url))
  const child = fork(program, [hostname, port, String(perSecond), ...requests], { execArgv: [] })
  onEnd(() => void child.kill('SIGKILL'))
  return child
}

async function ended(
  hostile: ChildProcess,
): Promise<Pick<HostileMeasured, 'sentPerSecond' | 'statuses'> & { readonly seconds: number }> {
  const report = once(hostile, 'message')
  hostile.send('end')
  const [told] = (await report) as [{ sent: number; seconds: number; statuses: Record<string, number> }]
  return { sentPerSecond: told.sent / told.seconds, statuses: told.statuses, seconds: told.seconds }
}

/** `answered`: with a 200 or a 202. */
export async function stopHostile(
  hostile: ChildProcess,
): Promise<{ readonly answered: number; readonly seconds: number }> {
  try {
    const { statuses, seconds } = await ended(hostile)
    return { answered: (statuses['200'] ?? 0) + (statuses['202'] ?? 0), seconds }
  } finally {
    hostile.kill('SIGKILL')
  }
}
