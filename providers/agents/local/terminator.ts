import { setTimeout as delay } from 'node:timers/promises';
import type { Detachment } from '../detached/detached-agent';
import type { AgentDispatch } from '../provider';
import { endAttempt } from './end-attempt';
import type { SpawnedAgent } from './spawn-agent';

/**
 * Why a running agent was ended from here. `session-over`: it had reported its end, and stayed.
 */
export type EndReason = 'stopped' | 'timeout' | 'sink-failed' | 'session-over';

/** How long the stores are given before they are asked again, in milliseconds. */
const retryMs = 200;

/** Ends a running agent at most once, for the first reason that comes up while it runs. */
export class Terminator {
  reason: EndReason | undefined;
  /** What is tried before the agent is signalled, to let it end by itself; not waited for longer than the grace. */
  gracefulShutdown: (() => Promise<unknown>) | undefined;
  private exited = false;
  private ending: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dispatch: AgentDispatch,
    private readonly agent: SpawnedAgent & { detachment?: Pick<Detachment, 'disown' | 'detach'> },
  ) {}

  readonly end = (reason: EndReason): void => {
    if (this.reason !== undefined || this.exited) {
      return;
    }
    this.reason = reason;
    this.ending = this.signalled();
    // Awaited, and its failure reported, in `finished`.
    this.ending.catch(() => undefined);
  };

  /** Resolves when the agent has ended and nothing it started is left. */
  async finished(): Promise<{ exitCode: number | null; signal: string | null }> {
    const exit = await this.agent.exited;
    this.exited = true;
    await this.ending;
    await endAttempt(this.dispatch.attemptId, await this.agent.group(), this.dispatch.stopGraceMs);
    return exit;
  }

  private async signalled(): Promise<void> {
    if (await this.isTakenOver()) {
      this.agent.detachment?.detach();
      return;
    }
    try {
      this.agent.detachment?.disown();
    } catch {
      // It is ended all the same; only a worker that finds it while it ends could resume it.
    }
    if (this.gracefulShutdown) {
      await this.orGrace(this.gracefulShutdown().catch(() => undefined));
    }
    await endAttempt(this.dispatch.attemptId, [this.agent.identity], this.dispatch.stopGraceMs);
  }

  /** Whether another worker has resumed the agent; only one that outlives its worker can be resumed. */
  private async isTakenOver(): Promise<boolean> {
    if (!this.agent.detachment || !this.dispatch.isCurrent) {
      return false;
    }
    for (;;) {
      try {
        return !(await this.dispatch.isCurrent());
      } catch {
        // Without the stores its owner is unknown; they are asked again for as long as it runs.
        if (this.exited) {
          return false;
        }
        await delay(retryMs);
      }
    }
  }

  /** An agent that does not listen is not waited for. */
  private async orGrace(shutdown: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.dispatch.stopGraceMs)));
    await Promise.race([shutdown, this.agent.exited, grace]);
    clearTimeout(timer);
  }
}
