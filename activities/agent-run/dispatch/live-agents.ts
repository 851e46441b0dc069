import type { LiveAgent } from '../../../providers/agents/provider';

/** How long a command waits for an agent that is being started, in milliseconds. */
const startWithinMs = 5_000;

interface Entry {
  agent: LiveAgent | undefined;
  /** The deliveries that are under way. */
  inFlight: Set<Promise<unknown>>;
  announced: Promise<void>;
  announce: () => void;
}

/** The agents that run in this worker process and can be spoken to, by attempt. */
export class LiveAgents {
  private readonly entries = new Map<string, Entry>();

  /** Announces that the agent of an attempt is being started here; repeated, it changes nothing. */
  expect(attemptId: string): void {
    if (this.entries.has(attemptId)) {
      return;
    }
    let announce: () => void = () => undefined;
    const announced = new Promise<void>((resolve) => (announce = resolve));
    this.entries.set(attemptId, { agent: undefined, inFlight: new Set(), announced, announce });
  }

  /** Registers the agent as running. */
  add(attemptId: string, agent: LiveAgent): void {
    const entry = this.entries.get(attemptId);
    if (!entry) {
      return;
    }
    entry.agent = agent;
    entry.announce();
  }

  /** Accepts no further commands; resolves when the deliveries under way are settled. */
  async remove(attemptId: string): Promise<void> {
    const entry = this.entries.get(attemptId);
    if (!entry) {
      return;
    }
    this.entries.delete(attemptId);
    entry.announce();
    await Promise.allSettled(entry.inFlight);
  }

  /**
   * Does something with a live agent, which is not removed before that is done.
   *
   * @returns `undefined` when no agent of the attempt runs here
   */
  async with<T>(attemptId: string, work: (agent: LiveAgent) => Promise<T>): Promise<T | undefined> {
    const entry = this.entries.get(attemptId);
    if (!entry) {
      return undefined;
    }
    if (!entry.agent) {
      await within(entry.announced, startWithinMs);
    }
    const { agent } = entry;
    if (!agent || this.entries.get(attemptId) !== entry) {
      return undefined;
    }
    const working = work(agent);
    entry.inFlight.add(working);
    try {
      return await working;
    } finally {
      entry.inFlight.delete(working);
    }
  }
}

async function within(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([promise, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
