import { launch, type LaunchOptions } from './child';
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
  /** Asked at each start: other parts may only be known by then. */
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
      const child = await launch(process.execPath, ['--enable-source-maps', script], {
        environment: environment(),
        output,
        channel: true,
      });
      child.process.on('message', (message) => {
        if (message === readyMessage) readyAt = performance.now();
      });
      return { ...child, servingSince: () => readyAt };
    },
  };
}
