/**
 * While a simulation runs, real time and real randomness throw: a run that used them would not depend on its seed
 * alone. WebCrypto is replaced.
 */
import { restoreCrypto, simulateCrypto } from './sim-crypto.ts'

const FORBIDDEN = [
  [globalThis, 'setTimeout'],
  [globalThis, 'setInterval'],
  [Math, 'random'],
  [Date, 'now'],
] as const

const originals: { readonly target: object; readonly name: string; readonly value: unknown }[] = []
let depth = 0

/** Stays in force until the returned function is called. */
export function forbidRealTime(): () => void {
  depth += 1
  if (depth === 1) {
    simulateCrypto()
    for (const [target, name] of FORBIDDEN) {
      originals.push({ target, name, value: Reflect.get(target, name) })
      Reflect.set(target, name, () => {
        throw new Error(`${name} inside a simulation: use the Clock or Random port`)
      })
    }
  }
  return () => {
    depth -= 1
    if (depth > 0) return
    restoreCrypto()
    for (const { target, name, value } of originals.splice(0)) Reflect.set(target, name, value)
  }
}
