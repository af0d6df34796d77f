/**
 * The connections of sessions to the simulated database server.
 *   B3. A session's lock is free only when no commit of it can still take effect.
 */

/** A session's connection. Statements on a connection that the server has ended are never executed. */
export interface Connection {
  readonly session: string
  readonly nodeId: string
  /** The timeline of the server at connection. */
  readonly timeline: number
  /** False once the client has abandoned it. */
  open: boolean
  /** True once the server has ended it: its statements no longer take effect. */
  ended: boolean
  /** Commits that may still take effect. */
  pending: number
  readonly onEnded: Set<() => void>
}

export interface ConnectionsOptions {
  /** Of the server that runs. */
  readonly timeline: () => number
  /** Nodes without any connection to the server. */
  readonly cutOff: ReadonlySet<string>
  /** Whether an abandoned connection is not found when those of its session are ended. */
  readonly escapes: () => boolean
}

export class Connections {
  private readonly options: ConnectionsOptions
  private readonly open = new Map<string, Set<Connection>>()

  constructor(options: ConnectionsOptions) {
    this.options = options
  }

  connect(session: string, nodeId: string): Connection {
    const isCut = this.options.cutOff.has(nodeId)
    const timeline = this.options.timeline()
    const onEnded = new Set<() => void>()
    const connection = { session, nodeId, timeline, open: !isCut, ended: isCut, pending: 0, onEnded }
    if (isCut) return connection
    const all = this.open.get(session) ?? new Set()
    this.open.set(session, all.add(connection))
    return connection
  }

  /** Whether a statement on this connection arrives: statements to one server do not reach another. */
  reaches({ ended, timeline }: Connection): boolean {
    return !ended && timeline === this.options.timeline()
  }

  /** The client abandons this connection; its statements may still take effect. */
  disconnect(connection: Connection): void {
    connection.open = false
    this.forgetIfIdle(connection)
  }

  /** The client abandons all its connections. */
  leave(session: string): void {
    for (const connection of this.open.get(session) ?? []) this.disconnect(connection)
  }

  /** One commit of this connection can no longer take effect. */
  finish(connection: Connection): void {
    connection.pending -= 1
    this.forgetIfIdle(connection)
  }

  /** Ends a connection: its uncommitted statements never take effect. */
  end(connection: Connection): void {
    if (connection.ended) return
    connection.ended = true
    connection.open = false
    for (const hook of connection.onEnded) hook()
    connection.onEnded.clear()
    this.forgetIfIdle(connection)
  }

  endAll(): void {
    for (const connections of this.open.values()) connections.forEach((connection) => this.end(connection))
  }

  /** Ends a session's connections: all, or those that its client has abandoned, as far as they are found. */
  endSession(session: string, which: 'left' | 'all'): void {
    for (const connection of this.open.get(session) ?? []) {
      if (which === 'all' || (!connection.open && !this.options.escapes())) this.end(connection)
    }
  }

  /** Frees the locks of a host's sessions, as a server does after too long a silence. */
  endNode(nodeId: string): void {
    for (const connections of this.open.values()) {
      for (const connection of connections) if (connection.nodeId === nodeId) this.end(connection)
    }
  }

  sessionHeld(session: string): boolean {
    return (this.open.get(session)?.size ?? 0) > 0
  }

  private forgetIfIdle(connection: Connection): void {
    if (connection.open || (!connection.ended && connection.pending > 0)) return
    this.open.get(connection.session)?.delete(connection)
  }
}
