/** Each part shows the room on its disk, and when its certificates expire. */
import { tmpdir } from 'node:os'
import { statfsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { registerCertificateGauge, registerDataDirGauges } from '../../../infra/metrics/process-metrics.ts'
import { createRegistry } from '../../../infra/metrics/registry.ts'
import { sampleOf } from './samples.ts'

const EXPIRES = 'ledger_certificate_expires_timestamp_seconds'

test('the file system of the data directory is measured in bytes that a user may fill', async () => {
  const registry = createRegistry()
  registerDataDirGauges(registry, '/data', () => Promise.resolve({ bsize: 4_096, blocks: 1_000, bavail: 50 }))
  const text = await registry.metrics()
  expect(sampleOf(text, 'ledger_data_dir_size_bytes')).toBe(4_096_000)
  expect(sampleOf(text, 'ledger_data_dir_free_bytes')).toBe(204_800)
})

test('a real directory has its real size, and one that is missing has none', async () => {
  const [real, missing] = [createRegistry(), createRegistry()]
  registerDataDirGauges(real, tmpdir())
  registerDataDirGauges(missing, `${tmpdir()}/no-such-directory`)
  const { bsize, blocks } = statfsSync(tmpdir())
  expect(sampleOf(await real.metrics(), 'ledger_data_dir_size_bytes')).toBe(bsize * blocks)
  expect(sampleOf(await missing.metrics(), 'ledger_data_dir_size_bytes')).toBeUndefined()
})

test('certificates are read again after an hour, after a failure in a minute, and scrapes never wait', async () => {
  const registry = createRegistry()
  let nowMs = 0
  let reads = 0
  const warned: unknown[] = []
  let next: () => Promise<number> = () => Promise.resolve(5_000)
  const read = (): Promise<number> => {
    reads += 1
    return next()
  }
  const log = { warn: (event: string, fields?: object) => void warned.push([event, fields]) }
  registerCertificateGauge(registry, { postgres: read }, log, () => nowMs)
  const scraped = async (): Promise<number | undefined> =>
    sampleOf(await registry.metrics(), EXPIRES, { certificate: 'postgres' })

  await scraped()
  expect([await scraped(), reads]).toEqual([5, 1])
  nowMs = 3_600_000
  next = () => Promise.reject(new Error('away'))
  await scraped()
  expect([await scraped(), reads]).toEqual([5, 2])
  nowMs += 60_000
  await scraped()
  expect([reads, warned]).toEqual([3, [['certificate_not_read', { certificate: 'postgres', reason: 'away' }]]])
  nowMs += 60_000
  next = () => Promise.resolve(9_000)
  await scraped()
  expect([await scraped(), reads]).toEqual([9, 4])
})
