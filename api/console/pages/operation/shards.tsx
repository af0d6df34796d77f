import { useState } from 'preact/hooks'
import type { Shard } from '../../../client/index.ts'
import { collected } from '../../../client/collected.ts'
import { Choice } from '../../parts/field.tsx'
import { Failure, LoadedView } from '../../parts/loaded-view.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Id, Status, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { permits, useSession } from '../../session/session.ts'
import { type NodeSummary, summarizeShards } from './shard-summary.ts'

const NODE_COLUMNS: readonly Column<NodeSummary>[] = [
  { title: 'Node', cell: ({ node }) => <Id value={node} /> },
  { title: 'Shards', isNumber: true, cell: ({ shards }) => shards },
  { title: 'Draining', isNumber: true, cell: ({ draining }) => draining },
  { title: 'Transactions', isNumber: true, cell: ({ transactions }) => transactions.toLocaleString('en-US') },
]

export function ShardsPage() {
  const { client } = useSession()
  const { loaded, reload } = useLoad(
    (signal) => collected(client.list('listShards', { query: { page_size: 1_000 }, signal })),
    [client],
  )
  return (
    <Page
      title="Shards and nodes"
      intro="Each account belongs to a shard, and exactly one node owns a shard at a time."
      actions={
        <button type="button" onClick={reload}>
          Look again
        </button>
      }
    >
      <LoadedView of={loaded} name="the shards">
        {(shards) => <ShardsView shards={shards} onChange={reload} />}
      </LoadedView>
    </Page>
  )
}

interface ShardsViewProps {
  readonly shards: readonly Shard[]
  readonly onChange: () => void
}

function ShardsView({ shards, onChange }: ShardsViewProps) {
  const [node, setNode] = useState('')
  const { nodes, unowned } = summarizeShards(shards)
  const shown = node === '' ? shards : shards.filter(({ owner }) => owner === node)
  return (
    <>
      <Section title="Nodes" intro="Nodes that own shards now. A standby without shards is not in this list.">
        <Table caption="Nodes" columns={NODE_COLUMNS} rows={nodes} keyOf={(one) => one.node} />
        {unowned > 0 && (
          <p class="notice warn">{unowned} shards have no owner: their accounts reply 503 until they do.</p>
        )}
        <DrainCommand node={nodes[0]?.node ?? 'node-1'} />
      </Section>
      <Section
        title="Shards"
        actions={
          <Choice
            label="Owned by"
            value={node}
            onValue={setNode}
            choices={[['', 'any node'], ...nodes.map((one): readonly [string, string] => [one.node, one.node])]}
          />
        }
      >
        <ShardTable shards={shown} onChange={onChange} />
      </Section>
    </>
  )
}

function DrainCommand({ node }: { readonly node: string }) {
  return (
    <details>
      <summary>Drain a node</summary>
      <p>
        Before maintenance, move all shards of a node to the others. The interface drains single shards; a whole node is
        drained with the command line, on a machine with the ledger’s configuration:
      </p>
      <pre>
        npx ledger drain {node}
        {'\n'}npx ledger drain {node} --end
      </pre>
    </details>
  )
}

function ShardTable({ shards, onChange }: ShardsViewProps) {
  const session = useSession()
  const [error, setError] = useState<unknown>()
  const columns: readonly Column<Shard>[] = [
    { title: 'Shard', isNumber: true, cell: ({ shard_id: id }) => id },
    { title: 'Owner', cell: ({ owner }) => (owner === null ? <span class="quiet">none</span> : <Id value={owner} />) },
    { title: 'Health', cell: ({ health_state: health }) => <Status value={health} /> },
    { title: 'Transactions', isNumber: true, cell: ({ txn_count: count }) => count.toLocaleString('en-US') },
    { title: 'Changes of owner', isNumber: true, cell: ({ epoch }) => epoch },
    { title: 'Last change', cell: ({ updated_at: time }) => <Time value={time} /> },
  ]
  const change = ({ shard_id: shardId, health_state: health }: Shard): void => {
    const state = health === 'draining' ? 'healthy' : 'draining'
    setError(undefined)
    session.client
      .call('putShardHealth', { path: { shardId: String(shardId) }, body: { health_state: state } })
      .then(onChange, setError)
  }
  const drain: Column<Shard> = {
    title: 'Action',
    cell: (shard) => (
      <button type="button" class="link" onClick={() => change(shard)}>
        {shard.health_state === 'draining' ? 'End draining' : 'Drain'}
        <span class="unseen"> shard {shard.shard_id}</span>
      </button>
    ),
  }
  return (
    <>
      {error !== undefined && <Failure error={error} action="The change" />}
      <Table
        caption="Shards"
        columns={permits(session, 'admin') ? [...columns, drain] : columns}
        rows={shards}
        keyOf={({ shard_id: id }) => String(id)}
      />
    </>
  )
}
