/**
 * Seeded randomness: xoshiro128** (Blackman and Vigna 2018) seeded by splitmix32. Each purpose forks its own stream, so
 * that an additional draw in one place does not shift the others.
 */
import type { Random } from '../../../runtime/ports/random.ts'
import { hash32 } from './trace.ts'

export interface SeededRandom extends Random {
  /** 32 random bits, as a non-negative number. */
  readonly bits: () => number
  /** From 0 up to, not including, 1. */
  readonly fraction: () => number
  /** From `from` up to, not including, `to`. */
  readonly between: (from: number, to: number) => number
  /** Draws nothing if the outcome is certain, so that a fault at rate 0 does not change a run. */
  readonly chance: (probability: number) => boolean
  readonly pick: <T>(values: readonly [T, ...T[]]) => T
  /** A stream of its own, by seed and name alone: it does not depend on earlier draws. */
  readonly fork: (name: string) => SeededRandom
}

const TWO_32 = 0x1_0000_0000

export function createSeededRandom(seed: number, name = ''): SeededRandom {
  const next = xoshiro128(hash32(name, hash32(String(seed))), seed >>> 0)
  const fraction = (): number => next() / TWO_32
  const integer = (below: number): number =>
    below <= TWO_32
      ? Math.floor(fraction() * below)
      : Math.floor(((next() >>> 5) * 67_108_864 + (next() >>> 6)) * 2 ** -53 * below)
  return {
    bits: next,
    fraction,
    integer,
    between: (from, to) => from + fraction() * (to - from),
    chance: (probability) => probability > 0 && (probability >= 1 || fraction() < probability),
    pick: (values) => values[integer(values.length)] ?? values[0],
    hex: (size) => {
      let digits = ''
      while (digits.length < 2 * size) digits += next().toString(16).padStart(8, '0')
      return digits.slice(0, 2 * size)
    },
    fork: (child) => createSeededRandom(seed, `${name}/${child}`),
  }
}

/** The Random port of one incarnation: each incarnation, also after a restart, draws other values. */
export function createSimRandom(worldRandom: SeededRandom, incarnationId: string): Random {
  return worldRandom.fork(`process ${incarnationId}`)
}

function xoshiro128(seedA: number, seedB: number): () => number {
  const split = splitmix32(seedA ^ Math.imul(seedB, 0x9e3779b1))
  let a = split()
  let b = split()
  let c = split()
  let d = split()
  return () => {
    const product = Math.imul(b, 5)
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << 11) | (d >>> 21)
    return result
  }
}

function splitmix32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}
