/** Concurrent test files and runs never get the same port, nor a port that another process takes before its use. */
import { createServer } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { isPortFree, LOOPBACK } from '../../../infra/embedded/free-port.ts'

/** The lowest port that the kernel gives to outgoing connections, ip(7). */
const EPHEMERAL = 32_768

// Every module instance starts at the same port near the end of its range, so collisions would show.
vi.mock('node:crypto', async (original) => ({ ...(await original<object>()), randomInt: () => 980 }))
afterEach(() => {
  vi.unstubAllEnvs()
})

/** A new instance of the module, as in another process. Each test uses its own worker number. */
function anotherAsker(worker: number) {
  vi.stubEnv('VITEST_POOL_ID', String(worker))
  vi.resetModules()
  return import('../../support/processes/free-ports.ts')
}

test('P1, P3: ports are consecutive, free, and below the range of outgoing connections', async () => {
  const { freePorts } = await anotherAsker(11)
  const row = await freePorts(5)
  const [first = 0] = row
  expect(row).toEqual([first, first + 1, first + 2, first + 3, first + 4])
  expect(Math.max(...row)).toBeLessThan(EPHEMERAL)
  expect(await Promise.all(row.map((port) => isPortFree(port)))).toEqual(row.map(() => true))
})

test('P2: no two callers get the same port, in one process or several', async () => {
  const { freePorts } = await anotherAsker(12)
  const ports = [await freePorts(3), await freePorts(4)]
  for (let other = 0; other < 3; other += 1) ports.push(await (await anotherAsker(12)).freePorts(3))
  expect(new Set(ports.flat()).size).toBe(3 + 4 + 3 * 3)
})

test('P2: each worker has its own range, and continues at its start after its end', async () => {
  const [one, two] = [await anotherAsker(14), await anotherAsker(15)]
  const given = { one: [...(await one.freePorts(15))], two: [...(await two.freePorts(15))] }
  given.one.push(...(await one.freePorts(15)))
  given.two.push(...(await two.freePorts(15)))
  const rangesOf = (ports: readonly number[]) => [...new Set(ports.map((port) => Math.floor(port / 1_000)))]
  expect([rangesOf(given.one), rangesOf(given.two)]).toEqual([[24], [25]])
  await expect(one.freePorts(1_001)).rejects.toThrow('more than the 1000 of a range')
})

test('P3: a port with a listener is skipped', async () => {
  const { freePort, freePorts } = await anotherAsker(16)
  const taken = (await freePort()) + 1
  const server = createServer()
  await new Promise<void>((resolve) => {
    // On an error another process has the port, which is then taken as well.
    server.once('error', () => resolve())
    server.listen(taken, LOOPBACK, resolve)
  })
  expect(await freePorts(3)).not.toContain(taken)
  await new Promise((resolve) => server.close(resolve))
})
