/** Breaks of the witnessed log, and how the simulation finds each. */
import { parseCheckpoint } from '../../api/client/log/checkpoint.ts'
import type { LogPublisher } from '../../infra/log/log-publisher.ts'
import type { Witness } from '../../infra/log/witness.ts'
import type { WitnessRequest } from '../../infra/log/witness-request.ts'
import type { LogStore } from '../../runtime/ports/log-store.ts'

/** A method of the object, whichever its name; private ones included. */
function methodOf(target: object, name: string): (...values: readonly unknown[]) => unknown {
  const method: unknown = Reflect.get(target, name)
  if (typeof method !== 'function') throw new Error(`there is no method ${name}`)
  return (...values): unknown => Reflect.apply(method, target, values)
}

/** A refusal counts as a signature. */
function countingRefusals(publisher: LogPublisher): void {
  const cosign = methodOf(publisher, 'cosign')
  Reflect.set(publisher, 'cosign', async (name: string, ...others: readonly unknown[]) => {
    const signature = await cosign(name, ...others)
    return signature ?? { name, keyId: '00000000', bytes: new Uint8Array(72) }
  })
}

function signingUnchecked(witness: Witness): void {
  const sign = methodOf(witness, 'sign')
  Reflect.set(witness, 'judge', ({ checkpoint }: WitnessRequest) => sign(parseCheckpoint(checkpoint.text), checkpoint))
}

/** The sequencer goes on before its batch is stored. */
function notAwaitingAppends(store: LogStore): LogStore {
  return {
    ...store,
    append: (...appended) => {
      store.append(...appended).catch(() => undefined)
      return Promise.resolve(true)
    },
  }
}

export const LOG_MUTATIONS = {
  logFence: {
    rule: 'G1: a batch of the log is stored on top of the head that it was computed from',
    breaks: { database: 'logFence' },
    seeds: [1, 15],
    foundAs: /L1: /,
  },
  logWaits: {
    rule: 'G2: entries of the log are read up to the oldest running commit',
    breaks: { database: 'logWaits' },
    seeds: [6, 20],
    foundAs: /L2: .*not in the log/,
  },
  logAccepted: {
    rule: 'G6: a database that no administrator accepted is not extended',
    breaks: { database: 'logAccepted' },
    seeds: [17, 50],
    foundAs: /L1: /,
  },
  logHandedOnEarly: {
    rule: 'Q2: a head of the log is handed on after the commit that stored it',
    breaks: { logStore: notAwaitingAppends },
    seeds: [1, 5],
    foundAs: /L1: /,
  },
  logRefusalCounted: {
    rule: 'P1: the signature of a witness that refused does not count',
    breaks: { publisher: countingRefusals },
    seeds: [2, 5],
    foundAs: /L3: .*with the signatures of/,
  },
  logSignedUnchecked: {
    rule: 'W1: a witness signs a head that continues the last one that it signed',
    breaks: { witness: signingUnchecked },
    seeds: [1, 5],
    foundAs: /L1: .*asked by an attacker/,
  },
} as const
