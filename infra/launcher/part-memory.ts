/** How the process of a node, an edge or the auditor handles its memory. `infra/deploy/Dockerfile` says the same. */
import { availableParallelism } from 'node:os'

/**
 * What a request allocates is dead once it is answered: with room for many of them, few are copied before they die. What is
 * old is looked through once there is twice as much as last time, where V8 would wait for four times as much: of a busy node
 * that is hundreds of megabytes, in pieces that each collection leaves more of, so that its memory grew for an hour.
 */
export const COLLECTOR: readonly string[] = ['--max-semi-space-size=64', '--heap-growing-percent=100']

/**
 * Where processors are few, helpers that copy what is young only take them from the parts' own threads. What is old is looked
 * through beside the part's thread all the same: in it, that would hold everything up for half a second at a time.
 */
export const COLLECTOR_HERE: readonly string[] =
  availableParallelism() < 4 ? [...COLLECTOR, '--no-parallel-scavenge'] : COLLECTOR

/**
 * Variables of glibc, bytes. What a large buffer took is given back to the system as soon as it is free, and each of its pages
 * costs a fault when the next one needs them: the driver copies each statement of hundreds of kilobytes some five times. So
 * memory up to these bounds is kept, for the next statement.
 */
export const ALLOCATOR: Readonly<Record<string, string>> = {
  MALLOC_MMAP_THRESHOLD_: '33554432',
  MALLOC_TRIM_THRESHOLD_: '67108864',
}
