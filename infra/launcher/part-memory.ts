/** Memory settings of nodes, edges and the auditor. `infra/deploy/Dockerfile` repeats them. */
import { availableParallelism } from 'node:os'

/**
 * The objects of a request die with its reply, so a large young generation copies few of them. V8 would collect the old
 * generation when it has quadrupled; at twice its size, a busy node saves hundreds of megabytes and fragments its heap less.
 */
export const COLLECTOR: readonly string[] = ['--max-semi-space-size=64', '--heap-growing-percent=100']

/**
 * With few processors, parallel scavenging takes them from the parts' main threads. The old generation is still marked
 * concurrently, because marking it in the main thread would pause a part for half a second.
 */
export const COLLECTOR_HERE: readonly string[] =
  availableParallelism() < 4 ? [...COLLECTOR, '--no-parallel-scavenge'] : COLLECTOR

/**
 * Variables of glibc, in bytes. By default, glibc returns a freed large buffer to the system, and the next buffer costs a
 * page fault per page. The driver copies each large statement about five times, so memory up to these bounds is kept.
 */
export const ALLOCATOR: Readonly<Record<string, string>> = {
  MALLOC_MMAP_THRESHOLD_: '33554432',
  MALLOC_TRIM_THRESHOLD_: '67108864',
}
