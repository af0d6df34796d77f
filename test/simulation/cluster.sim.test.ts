/**
 * Goal: no seed, however cruel, breaks I1 to I12. A seed that fails says how to run it alone:
 * `SIM_SEED=<seed> npm run sim` shows its whole trace.
 */
import { expect, test } from 'vitest'
import { runCluster } from './cluster.ts'
import { planOf } from './plan.ts'
import { STORE_FAULT_COUNTERS } from './sim-ledger-store-faults.ts'

const SEEDS = 110
const SEEDS_PER_TEST = 10
const firstSeeds = Array.from({ length: SEEDS / SEEDS_PER_TEST }, (_, index) => 1 + index * SEEDS_PER_TEST)

/** What must have happened at least once, or a run without findings would prove nothing. */
const DEMANDED = [
  ...STORE_FAULT_COUNTERS,
  'fault:crash',
  'fault:restart',
  'fault:pause',
  'fault:clock',
  'fault:usurped',
  'fault:message_lost',
  'fault:no_responders_for_living',
  'fault:cut',
  'fault:disconnect',
  'fault:sent_into_void',
  'fault:cut_from_leases',
  'fault:lease_stopped',
  'fault:lease_emptied',
  'fault:lease_rewound',
  'fault:lease_stale',
  'fault:lease_unavailable',
  'fault:lease_ack_lost',
  'fault:hint_lost',
  'cluster:node_stays_dead',
  'log:commit_unknown',
  'log:commit_failed',
  'log:command_refused',
  'log:shard_fenced',
  'log:shards_released',
  'log:look_up_failed',
  'log:recovery_delayed',
  'answer:accepted',
  'answer:rotated',
  'answer:registered',
  'answer:status_changed',
  'answer:signature_mismatch',
  'answer:account_not_found',
  'answer:account_not_active',
  'answer:account_not_empty',
  'answer:public_key_conflict',
  'answer:boundary_not_granted',
  'answer:wrong_ledger',
  'answer:expired',
  'answer:token_not_found',
  'answer:proof_mismatch',
  'answer:rejected',
  'answer:unknown',
  'answer:not_applied',
  'answer:token_registered',
  'answer:token_exists',
  'answer:group_registered',
  'answer:group_exists',
  'answer:group_reverting',
  'answer:group_settled',
  'answer:group_not_found',
  'answer:group_terms_unknown',
  'answer:not_allowed',
  'answer:not_issuer',
  'answer:amount_precision',
  'answer:account_keyless',
  'answer:account_refuses',
  'answer:account_closed',
  'answer:issuer_consent_missing',
  'answer:receiver_not_found',
  'answer:self_transfer',
  // Messages between shards.
  'fault:delivery_lost',
  'fault:delivery_doubled',
  'delivery:doubled',
  'delivery:sent_again',
  'delivery:to_zombie',
  'delivery:from_zombie',
  'delivery:channel_opened_again',
  'answer:deferred_after_move',
  'due:found',
  'due:found_after_move',
  // Ends of what several homes decide.
  'ended:client transfer to another completed',
  'ended:client transfer to another expired',
  'ended:client transfer to another incoming_refused',
  'ended:client transfer to another account_closed',
  'ended:client exchange to another completed',
  'ended:client exchange to another exchange_expired',
  'answer:class_registered',
  'answer:class_exists',
  'answer:class_not_found',
  'answer:minted',
  'answer:instance_exists',
  'ended:client mint of an NFT completed',
  'ended:client mint of an NFT to another completed',
  'ended:client transfer of an NFT to another completed',
  'ended:client transfer of an NFT to another held',
  'ended:client transfer of an NFT to another not_owner',
  'ended:client exchange of an NFT to another completed',
  'ended:client exchange of an NFT to another exchange_expired',
  'ended:client burn of an NFT completed',
  'ended:ledger transfer of an NFT completed',
  'ended:client mint completed',
  'ended:client mint supply_limit',
  'ended:client burn completed',
  'ended:group settled',
  'ended:group reverted',
  'ended:group linked',
  'ended:compensation completed',
  'ended:partial failure insufficient_funds',
  'ended:partial failure already_compensated',
]

const sums = new Map<string, number>()

test.for(firstSeeds)('I1-I12 hold in the ten seeds from %i on', async (first) => {
  for (let seed = first; seed < first + SEEDS_PER_TEST; seed += 1) {
    const { counters, steps } = await runCluster({ plan: planOf(seed) })
    expect(steps).toBeGreaterThan(500)
    for (const [name, count] of counters) sums.set(name, (sums.get(name) ?? 0) + count)
  }
})

/** Each failed once, and says why it is here as long as the run that its seed gives is still the same. */
const FOUND: readonly (readonly [seed: number, why: string])[] = [
  [214, 'N1: what a commit of unknown outcome had refused was accepted later, under an ID from before that commit'],
  [105, 'I12: a mint under way was refused for the signature of the key that it had been accepted under'],
  [272, 'H4: a shard was held for broken that was another node’s by then, and had gone on there'],
]

test.for(FOUND)('seed %i, which once failed, holds: %s', async ([seed]) => {
  await expect(runCluster({ plan: planOf(seed) })).resolves.toMatchObject({ hash: expect.any(String) })
})

test('every fault, every answer and every rare path occurred in those seeds', () => {
  expect(DEMANDED.filter((name) => (sums.get(name) ?? 0) === 0)).toEqual([])
})

test('a seed gives the same trace each time, and another seed another', async () => {
  const hashes = new Set<string>()
  for (const seed of [3, 17, 101]) {
    const first = await runCluster({ plan: planOf(seed) })
    const second = await runCluster({ plan: planOf(seed) })
    expect(second).toEqual(first)
    hashes.add(first.hash)
  }
  expect(hashes.size).toBe(3)
})
