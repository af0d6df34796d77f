import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Loaded } from './loaded.ts'

export interface Loading<Value> {
  readonly loaded: Loaded<Value>
  /** Loads again, and shows the old value meanwhile. */
  readonly reload: () => void
}

/** Loads when a dependency changes. The signal ends a load whose result is no longer wanted. */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  dependencies: readonly unknown[],
): Loading<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' })
  const [count, setCount] = useState(0)
  useEffect(() => setLoaded({ state: 'loading' }), dependencies)
  useEffect(() => {
    const stop = new AbortController()
    load(stop.signal).then(
      (value) => {
        if (!stop.signal.aborted) setLoaded({ state: 'done', value })
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setLoaded({ state: 'failed', error })
      },
    )
    return () => stop.abort()
  }, [...dependencies, count])
  return { loaded, reload: useCallback(() => setCount((before) => before + 1), []) }
}
