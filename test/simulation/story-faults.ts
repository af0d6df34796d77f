/** What goes wrong, and what nodes say of themselves, in the words of a story. */
import type { StoryKind } from './story-lines.ts'

/** By counter: only what is seen in no other way. */
const COUNTERS: Readonly<Record<string, string>> = {
  'fault:store:commit-refused': 'a commit is refused, nothing was applied',
  'fault:store:commit-applied-answer-lost': 'a commit takes effect, and its answer will be lost',
  'fault:store:commit-lost': 'a commit is lost, and its answer with it',
  'fault:store:commit-doubled': 'a commit arrives twice',
  'fault:store:commit-late': 'a commit arrives late',
  'fault:store:commit-stuck': 'a commit is stuck, with its locks held',
  'fault:store:look-up-failed': 'a look-up fails',
  'fault:store:call-lost': 'a call of the store is lost',
  'fault:store:call-answer-lost': 'a call of the store takes effect, and its answer is lost',
  'fault:store:poison': 'a batch has a row that the store cannot take',
  'fault:store:full': 'a commit fails because the disk is full',
  'store:commit-applied-when-ended': 'a commit takes effect though its connection was ended',
  'store:commit-fenced': 'a commit is fenced: the shard is another’s',
  'fault:usurped': 'a node takes a shard from its living owner',
  'fault:restart': 'a node is told to leave',
  'fault:clock': 'a clock runs wrong',
  'fault:cut_from_leases': 'a node is cut from the lease store',
  'fault:message_lost': 'a message is lost',
  'fault:delivery_doubled': 'a message between nodes will come twice',
  'fault:message_duplicated': 'a message comes twice',
  'fault:reply_duplicated': 'a reply comes twice',
  'fault:no_responders_for_living': 'the network says of a living node that nobody is there',
  'fault:sent_into_void': 'a message is sent into a connection that is gone',
  'fault:disconnect': 'a connection breaks',
  'fault:cut_from_store': 'a node is cut from the database',
  'fault:cut_from_store_and_nodes': 'and so are the others from it',
  'store:lock_let_go_of_living': 'the database holds a living node for gone',
  'fault:cut': 'a message is stopped by a cut',
  'fault:failover': 'the database server is lost; its standby, which has all that was answered, takes its place',
  'fault:failover_lossy': 'the database server is lost; a standby that lacks commits takes its place',
  'fault:failover_forgotten': 'and all processes are started anew, so that none remembers what is missing',
}

/** Faults that tell themselves by a line of their own, or that are too many to tell. */
const TOLD_ELSEWHERE = new Set([
  'fault:crash',
  'fault:pause',
  'fault:delivery_lost',
  'fault:control_lost',
  'fault:control_no_responders',
  'fault:store:slow',
  'fault:store:look-up-slow',
  'fault:hint_lost',
  'fault:hint_late',
  'fault:only_kind_or_two',
  'fault:message_split',
  'fault:store:far',
])

/** undefined: it is nothing to tell. */
export function counterWords(name: string): string | undefined {
  const known = COUNTERS[name]
  if (known !== undefined) return known
  return name.startsWith('fault:') && !TOLD_ELSEWHERE.has(name) ? name.slice(6).replaceAll(/[_:-]/g, ' ') : undefined
}

const EVENTS = [
  / is started again$/,
  /^mends /,
  /^reconnects /,
  / sets its clock$/,
  / is gone from /,
  /^a blow$/,
  /^an administrator accepts the server$/,
  /^the server that was lost is back$/,
] as const

/** Labels of events that a story tells. */
export function eventWords(label: string): string | undefined {
  return EVENTS.some((event) => event.test(label)) && !label.endsWith('.deliveries') ? label : undefined
}

/** What the simulation notes in its trace besides the labels of events. */
export function recordWords(line: string): { readonly kind: StoryKind; readonly text: string } | undefined {
  if (line.startsWith('rates ')) return undefined
  if (line === 'heals') return { kind: 'fault', text: 'all faults end' }
  const says = /^(\S+) says (\w+) (.*)$/.exec(line)
  if (says !== null) return { kind: 'log', text: `${says[1]} logs ${says[2]} ${says[3]}` }
  if (line.includes('takes a rare path')) return { kind: 'log', text: line }
  return { kind: 'fault', text: `FAULT: ${line}` }
}
