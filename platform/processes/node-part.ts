import { launch, type LaunchOptions } from './child';
import { handOver } from './handed-environment';
import { readyMessage } from './lifecycle';
import { umaskEnvironment } from './operator-umask';
import type { Part } from './part';

export interface NodePart extends Part {
  /** Whether the process that runs now has called `announceReady()`. */
  isReady(): boolean;
}

export interface NodePartOptions {
  name: string;
  /** Absolute path of the compiled entry point. */
  script: string;
  /** The whole environment of the process, of which `/proc` shows only what no secret is. Asked at each start: other parts may only be known by then. */
  environment: () => NodeJS.ProcessEnv;
  output: LaunchOptions['output'];
}

/**
 * A part that is a Node program of ours. It is connected by a message channel, through which it says that it is ready
 * and notices that its supervisor is gone, even one that was killed.
 */
export function nodePart({ name, script, environment, output }: NodePartOptions): NodePart {
  let readyAt: number | undefined;
  return {
    name,
    isReady: () => readyAt !== undefined,
    start: async () => {
      readyAt = undefined;
      const { initial, handed } = handOver(environment());
      const child = await launch(process.execPath, ['--enable-source-maps', script], {
        environment: { ...initial, ...umaskEnvironment() },
        output,
        channel: true,
        handed,
      });
      child.process.on('message', (message) => {
        if (message === readyMessage) readyAt = performance.now();
      });
      return { ...child, servingSince: () => readyAt };
    },
  };
}
