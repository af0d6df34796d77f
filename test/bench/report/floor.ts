/** The minimal cost of any ledger of signed transactions: one P-256 verification and one signature, on one thread. */
import { generateKeyPairSync, sign, verify } from 'node:crypto'

export interface Floor {
  readonly verifyUs: number
  readonly signUs: number
}

const ROUNDS = 3_000
const PAYLOAD = Buffer.alloc(220, 'x')

/** CPU time, not wall-clock time: other work on the machine does not raise it. */
export function measureFloor(): Floor {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { key: privateKey, dsaEncoding: 'der' as const }
  const signature = sign('sha256', PAYLOAD, key)
  const verifying = { key: publicKey, dsaEncoding: 'der' as const }
  return {
    verifyUs: cpuUsOf(() => {
      if (!verify('sha256', PAYLOAD, verifying, signature)) throw new Error('a good signature does not verify')
    }),
    signUs: cpuUsOf(() => {
      sign('sha256', PAYLOAD, key)
    }),
  }
}

export function meanFloor(floors: readonly Floor[]): Floor {
  const mean = (of: (floor: Floor) => number): number => floors.reduce((sum, one) => sum + of(one), 0) / floors.length
  return { verifyUs: mean((floor) => floor.verifyUs), signUs: mean((floor) => floor.signUs) }
}

function cpuUsOf(work: () => void): number {
  for (let round = 0; round < ROUNDS / 10; round += 1) work()
  const before = process.cpuUsage()
  for (let round = 0; round < ROUNDS; round += 1) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / ROUNDS
}
