/** Events by (virtual time, seeded key, number): only the seed decides the order of simultaneous events. */
export interface SimEvent {
  readonly timeMs: number
  readonly key: number
  readonly sequence: number
  readonly label: string
  readonly run: () => void
  cancelled: boolean
}

export interface EventHeap {
  readonly push: (event: SimEvent) => void
  /** The earliest event that is not cancelled, without removing it. */
  readonly peek: () => SimEvent | undefined
  readonly pop: () => SimEvent | undefined
}

export function createEventHeap(): EventHeap {
  const events: SimEvent[] = []
  const pop = (): SimEvent | undefined => {
    const first = events[0]
    const last = events.pop()
    if (first === undefined || last === undefined || first === last) return first
    events[0] = last
    siftDown(events)
    return first
  }
  return {
    push: (event) => {
      events.push(event)
      siftUp(events)
    },
    peek: () => {
      while (events[0]?.cancelled === true) pop()
      return events[0]
    },
    pop,
  }
}

function before(a: SimEvent, b: SimEvent): boolean {
  if (a.timeMs !== b.timeMs) return a.timeMs < b.timeMs
  if (a.key !== b.key) return a.key < b.key
  return a.sequence < b.sequence
}

function siftUp(events: SimEvent[]): void {
  let index = events.length - 1
  while (index > 0) {
    const parent = (index - 1) >> 1
    if (!swapIfBefore(events, index, parent)) return
    index = parent
  }
}

function siftDown(events: SimEvent[]): void {
  let index = 0
  for (;;) {
    const left = 2 * index + 1
    const leftEvent = events[left]
    if (leftEvent === undefined) return
    const rightEvent = events[left + 1]
    const child = rightEvent !== undefined && before(rightEvent, leftEvent) ? left + 1 : left
    if (!swapIfBefore(events, child, index)) return
    index = child
  }
}

function swapIfBefore(events: SimEvent[], child: number, parent: number): boolean {
  const childEvent = events[child]
  const parentEvent = events[parent]
  if (childEvent === undefined || parentEvent === undefined || !before(childEvent, parentEvent)) return false
  events[child] = parentEvent
  events[parent] = childEvent
  return true
}
