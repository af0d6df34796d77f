import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Loaded } from './loaded.ts'

export interface Loading<Value> {
  readonly loaded: Loaded<Value>
  /** Loads again, and shows the old value meanwhile. */
  readonly reload: () => void
}

interface Settled<Value> {
  readonly dependencies: readonly unknown[]
  readonly loaded: Loaded<Value>
}

/** Loads when a dependency changes. The signal ends a load whose result is no longer wanted. */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  dependencies: readonly unknown[],
): Loading<Value> {
  const [last, setLast] = useState<Settled<Value>>()
  const [count, setCount] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    const settle = (loaded: Loaded<Value>): void => {
      if (!stop.signal.aborted) setLast({ dependencies, loaded })
    }
    load(stop.signal).then(
      (value) => settle({ state: 'done', value }),
      (error: unknown) => settle({ state: 'failed', error }),
    )
    return () => stop.abort()
  }, [...dependencies, count])
  // The page is drawn before effects run, and it must not show the result of other dependencies.
  const isCurrent = last?.dependencies.every((one, index) => Object.is(one, dependencies[index])) === true
  return {
    loaded: isCurrent ? last.loaded : { state: 'loading' },
    reload: useCallback(() => setCount((before) => before + 1), []),
  }
}
