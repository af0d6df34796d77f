/** Ends all that a scene has started, the last first. A failure to end one does not keep the others. */
export class Closing {
  private readonly ends: (() => Promise<unknown> | void)[] = []

  add(end: () => Promise<unknown> | void): void {
    this.ends.push(end)
  }

  /** Each once. Throws what they threw, when all have been tried. */
  async close(): Promise<void> {
    const failed: unknown[] = []
    for (let end = this.ends.pop(); end !== undefined; end = this.ends.pop()) {
      try {
        await end()
      } catch (error) {
        failed.push(error)
      }
    }
    if (failed.length > 0) throw new AggregateError(failed, 'not everything could be ended')
  }

  /** Ends everything if the start fails; what is thrown is why it failed. */
  async unlessStarted<T>(start: () => Promise<T>): Promise<T> {
    try {
      return await start()
    } catch (cause) {
      await this.close().catch(() => undefined)
      throw cause
    }
  }
}
