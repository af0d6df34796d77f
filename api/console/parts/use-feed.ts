import { useEffect, useRef, useState } from 'preact/hooks'
import type { ArrivedEvent, FeedState } from '../session/event-feed.ts'
import { useSession } from '../session/session.ts'

/** Hears of events while the component is shown and `isOn`. */
export function useFeed(isOn: boolean, onEvents: (events: readonly ArrivedEvent[]) => void): FeedState {
  const { feed } = useSession()
  const [state, setState] = useState<FeedState>('following')
  const listenerRef = useRef(onEvents)
  useEffect(() => {
    listenerRef.current = onEvents
  })
  useEffect(() => {
    if (!isOn) return undefined
    return feed.listen({ onEvents: (events) => listenerRef.current(events), onState: setState })
  }, [feed, isOn])
  return state
}

/** The present time, again and again. Milliseconds since 1970. */
export function useNow(everyMs: number): number {
  const [nowMs, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return nowMs
}
