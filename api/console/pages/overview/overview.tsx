import { useState } from 'preact/hooks'
import { collected } from '../../../client/collected.ts'
import { Bars } from '../../parts/bars.tsx'
import { durationText, rateText } from '../../parts/figures.ts'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Figure } from '../../parts/figure.tsx'
import { Status } from '../../parts/text.tsx'
import { useFeed, useNow } from '../../parts/use-feed.ts'
import { useLoad } from '../../parts/use-load.ts'
import type { ArrivedEvent } from '../../session/event-feed.ts'
import { hrefOf } from '../../session/place.ts'
import { permits, useSession } from '../../session/session.ts'
import { AuditorSection } from './auditor.tsx'
import { EventList } from './event-list.tsx'
import { countOrders, lastSeconds, meanRate, type OrderCounts, WINDOW_S } from './order-rate.ts'
import { type ShardSummary, summarizeShards } from '../operation/shard-summary.ts'

const RATE_S = 10
const SHOWN_EVENTS = 12

/** The state of the ledger at a glance. */
export function OverviewPage() {
  const session = useSession()
  const { client } = session
  const [counts, setCounts] = useState<OrderCounts>(new Map())
  const [events, setEvents] = useState<readonly ArrivedEvent[]>([])
  const nowMs = useNow(1_000)
  const feedState = useFeed(true, (arrived) => {
    setCounts((before) => countOrders(before, arrived, Date.now()))
    setEvents((before) => [...arrived.toReversed(), ...before].slice(0, SHOWN_EVENTS))
  })
  const shards = useLoad(
    async (signal) =>
      summarizeShards(await collected(client.list('listShards', { query: { page_size: 1_000 }, signal }))),
    [client],
  )
  return (
    <Page title="Overview" intro="The ledger as this client sees it now. Times are in UTC.">
      <LoadedView of={shards.loaded} name="the shards">
        {(summary) => (
          <>
            {summary.transactions === 0 && permits(session, 'transactor') && <FirstTransfer />}
            <div class="figures">
              <Figure
                title="Orders a second"
                value={rateText(meanRate(lastSeconds(counts, nowMs, RATE_S)))}
                note={`final in the last ${RATE_S} s, seen by this page`}
              />
              <Figure
                title="Event delay"
                value={delayText(events[0])}
                note="of the last event, by this machine’s clock"
              />
              <ShardFigures summary={summary} />
            </div>
          </>
        )}
      </LoadedView>
      <div class="columns">
        <Section title="Orders in the last minute">
          <Bars
            values={lastSeconds(counts, nowMs)}
            label={`Orders that became final in each of the last ${WINDOW_S} seconds`}
          />
          <p class="quiet">One bar is one second. Counting began when this page opened.</p>
        </Section>
        <Readiness />
      </div>
      <AuditorSection />
      <EventList events={events} state={feedState} />
    </Page>
  )
}

function delayText(last: ArrivedEvent | undefined): string {
  const time = last?.event.time
  if (last === undefined || time === undefined) return '–'
  return durationText(Math.max(0, last.arrivedAtMs - Date.parse(time)))
}

function FirstTransfer() {
  return (
    <div class="notice good call">
      <p>
        <strong>The ledger is ready, and empty.</strong>
      </p>
      <p>Make two accounts, and a transfer between them whose receipt this browser verifies. It takes a minute.</p>
      <p>
        <a class="button" href={hrefOf(['holder'])}>
          Make your first transfer
        </a>
      </p>
    </div>
  )
}

function ShardFigures({ summary }: { readonly summary: ShardSummary }) {
  const { total, healthy, unowned, nodes, transactions } = summary
  const shardNote =
    unowned > 0 ? `${unowned} without an owner` : healthy === total ? 'all healthy' : `${total - healthy} not healthy`
  return (
    <>
      <Figure title="Transactions" value={transactions.toLocaleString('en-US')} note="processed by all shards" />
      <Figure title="Shards" value={`${healthy} / ${total}`} note={shardNote} href={hrefOf(['shards'])} />
      <Figure title="Nodes" value={String(nodes.length)} note="that own shards" href={hrefOf(['shards'])} />
    </>
  )
}

function Readiness() {
  const { client } = useSession()
  const { loaded } = useLoad((signal) => client.call('getReadiness', { signal }), [client])
  return (
    <Section title="Readiness of this edge">
      <LoadedView of={loaded} name="the readiness">
        {({ status, checks, warnings }) => (
          <>
            <Status value={status} />
            <ul class="checks">
              {Object.entries(checks).map(([name, works]) => (
                <li key={name}>
                  {name} <Status value={works ? 'ready' : 'failed'} />
                </li>
              ))}
            </ul>
            {warnings.map(({ code, detail }) => (
              <p key={code} class="notice warn">
                {detail}
              </p>
            ))}
          </>
        )}
      </LoadedView>
    </Section>
  )
}
