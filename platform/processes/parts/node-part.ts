import { launch, type LaunchOptions } from '../child';
import { handOver } from '../environment/handed-environment';
import { umaskEnvironment } from '../operator-umask';
import { readyMessage } from './lifecycle';
import type { Part } from './part';

export interface NodePart extends Part {
  /** Whether the process that runs now has called `announceReady()`. */
  isReady(): boolean;
}

export interface NodePartOptions {
  name: string;
  /** Absolute path of the compiled entry point. */
  script: string;
  /**
   * The whole environment of the process, of which `/proc` shows only what is no secret. Read at each start: other parts may be
   * unknown earlier.
   */
  environment: () => NodeJS.ProcessEnv;
  output: LaunchOptions['output'];
}

/**
 * A part that is a Node program of the service. It is connected by a message channel, through which it reports that it is ready
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
        if (message === readyMessage) {
          readyAt = performance.now();
        }
      });
      return { ...child, servingSince: () => readyAt };
    },
  };
}
