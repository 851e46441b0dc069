import { Context } from '@temporalio/activity';

export const floorActivities = {
  async step(name: string): Promise<string> {
    return name;
  },

  /** Lasts until its worker is killed. @returns when the try behind that began, in milliseconds since the epoch */
  async hold(): Promise<number> {
    const context = Context.current();
    const { info, cancelled } = context;
    if (info.attempt > 1) {
      return Date.now();
    }
    const beat = setInterval(() => context.heartbeat(), 200);
    process.send?.('held');
    return cancelled.finally(() => clearInterval(beat));
  },
};

export type FloorActivities = typeof floorActivities;
