import { availableParallelism, cpus } from 'node:os'

export interface Machine {
  readonly cores: number
  readonly model: string
  /** Version of Node.js. */
  readonly node: string
}

export function thisMachine(): Machine {
  return { cores: availableParallelism(), model: cpus()[0]?.model ?? '', node: process.versions.node }
}
