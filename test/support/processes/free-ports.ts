/**
 * Ports for servers that a test starts, and ports that a test needs to know free.
 *   P1. They are below those that the kernel gives to outgoing connections (32768 on, ip_local_port_range in ip(7)) and to
 *       servers that ask for any: such a port may be lost between being found free and being used, or while its server is
 *       being started again.
 *   P2. None is given twice while the process that asked lives, neither by it nor by another that asks here: a worker
 *       of the test runner takes them from a range of its own, and a claim on each keeps apart what has the same range.
 *   P3. Nothing listened on it on the loopback address when it was given.
 */
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { isPortFree, LOOPBACK } from '../../../infra/embedded/free-port.ts'

/** The first of all ranges; the last ends at 31,999. */
const LOWEST_PORT = 10_000
const RANGE = 1_000
const RANGES = 22

/** 0: a program that no test runner has started. */
const worker = Number(process.env['VITEST_POOL_ID'] ?? 0)
const lowest = LOWEST_PORT + (worker % RANGES) * RANGE
let next = randomInt(RANGE)

/** So many in a row, ascending. Throws when the range has no such row any more. */
export async function freePorts(count: number): Promise<readonly number[]> {
  for (let tries = 0; tries < RANGE; tries += 1) {
    const row = nextRow(count)
    const claims = await Promise.all(row.map(claim))
    // Looked at only once it is claimed: a look takes the port for a moment, and its server might come in that moment.
    const isOurs = claims.every((made) => made !== undefined)
    if (isOurs && (await Promise.all(row.map((port) => isPortFree(port)))).every(Boolean)) return row
    for (const made of claims) made?.close()
  }
  throw new Error(`no ${count} free ports in a row from ${lowest} to ${lowest + RANGE - 1}`)
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1)
  if (port === undefined) throw new Error('one port was asked for')
  return port
}

function nextRow(count: number): readonly number[] {
  if (count > RANGE) throw new Error(`${count} ports are more than the ${RANGE} of a range`)
  if (next + count > RANGE) next = 0
  const row = Array.from({ length: count }, (_, index) => lowest + next + index)
  next += count
  return row
}

/**
 * Undefined: it is claimed already. A claim is a UDP socket with the port's number, which no TCP listener conflicts with;
 * the kernel gives it up when this process ends, however that may be.
 */
function claim(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.unref()
    socket.once('error', () => {
      socket.close()
      resolve(undefined)
    })
    socket.bind({ port, address: LOOPBACK, exclusive: true }, () => resolve(socket))
  })
}
