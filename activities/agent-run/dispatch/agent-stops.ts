/** What ends the agents that this process supervises, by attempt. */
export class AgentStops {
  private readonly stops = new Map<string, () => void>();

  /** @returns forgets it */
  add(attemptId: string, stop: () => void): () => void {
    this.stops.set(attemptId, stop);
    return () => {
      if (this.stops.get(attemptId) === stop) {
        this.stops.delete(attemptId);
      }
    };
  }

  /** Has the agent of an attempt ended, if it is supervised here. */
  end(attemptId: string): void {
    this.stops.get(attemptId)?.();
  }
}
